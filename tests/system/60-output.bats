#!/usr/bin/env bats
# What jobs write: all of it is counted, a bounded part is kept, nobody is hurt by it.

load ../support/workspace
load ../support/procs
load ../support/jobs

setup_file() {
	workspace_make
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh" }, { "program": "python3" }, { "program": "printf" }, { "program": "true" },
	      { "program": "echo" } ],
	  "limits": { "timeout_seconds": 600, "keep_bytes": 1048576 }
	}
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# Also when the test of the full disk failed.
teardown() {
	if mountpoint -q "$WS_STATE/runs"; then
		workspace_stop
		umount "$WS_STATE/runs"
		workspace_start
	fi
}

resident_kb() { sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }

@test "gigabytes on both streams: the exit code, head and tail, exact counts; the keeper and the trio stay small" {
	local out err id keeper before after pid
	out=$(full 3072 384) err=$(full 1024 128)
	script flood <<-'END'
	#!/usr/bin/python3
	import os, sys
	block = (b"0123456789abcde\n" * 4096) * 16
	def put(fd, count):
	    for _ in range(count):
	        view = memoryview(block)
	        while view:
	            view = view[os.write(fd, view):]
	put(1, int(sys.argv[1]))
	put(2, int(sys.argv[2]))
	os.write(1, b"THE-END\n")
	while os.path.exists("hold"): pass
	os._exit(7)
	END
	touch "$WS/proj/hold"
	before=0
	for pid in $(workspace_pids | cut -d' ' -f2); do before=$((before + $(resident_kb "$pid"))); done
	id=$(propose --timeout 500 -- python3 flood "$out" "$err")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job.json" 3>&- 4>&- &
	wait_until 10 keeper_is_there
	keeper=$(running "$WS_BIN/agent-safe-keeper")
	wait_until "$(full 400 100)" output_has_come "$keeper" $((out * 1048576 + err * 1048576))
	[ "$(resident_kb "$keeper")" -lt 16384 ]
	rm "$WS/proj/hold"
	wait $! || [ $? = 1 ]
	after=0
	for pid in $(workspace_pids | cut -d' ' -f2); do after=$((after + $(resident_kb "$pid"))); done
	# The broker holds the kept parts and their JSON for a moment; what was printed it never sees.
	[ $((after - before)) -lt 32768 ]
	JOB=$BATS_TEST_TMPDIR/job.json
	job_is ".status == \"failed\" and .result.returncode == 7 and .result.truncated == true and
	    .result.stdout_bytes == $((out * 1048576 + 8)) and .result.stderr_bytes == $((err * 1048576))"
	job_is '.result.stdout | startswith("0123456789abcde\n") and endswith("THE-END\n")'
	[ "$(job_text stdout | wc -c)" -lt 1200000 ]
}

keeper_is_there() { [ -n "$(running "$WS_BIN/agent-safe-keeper")" ]; }

# read(2)'s sum, as the kernel counts it for this process
output_has_come() {
	[ "$(sed -n 's/^rchar: //p' "/proc/$1/io" 2>/dev/null)" -ge "$2" ]
}

@test "a line rewritten forty thousand times is cut by bytes, and CR LF stays CR LF" {
	script progress <<-'END'
	#!/usr/bin/python3
	import sys
	for i in range(40000):
	    sys.stdout.write("\rstep %6d/40000 [%-20s] it/s 12.5" % (i, "#" * (i // 2000)))
	sys.stdout.write("\nline two\r\nline three\nline four\n")
	END
	job -- python3 progress
	job_is '.status == "succeeded" and .result.truncated == true'
	job_is '.result.stdout | endswith("[################### ] it/s 12.5\nline two\r\nline three\nline four\n")'
	[ "$(job_text stdout | wc -c)" -lt 1200000 ]
}

@test "characters that come byte by byte stay whole; what is no character becomes one mark each" {
	script bytes <<-'END'
	#!/usr/bin/python3
	import os, sys, time
	fd = int(sys.argv[1])
	for char in "\u00e9\u20ac\U0001f600\u65e5\u672c":
	    for byte in char.encode():
	        os.write(fd, bytes([byte]))
	        time.sleep(.01)
	    os.write(fd, b"\n")
	os.write(fd, b"bad:\xff\xfe\xc0\x80\xed\xa0\x80\xf5|\n")
	os.write(fd, b"cut:\xe2\x82")
	END
	local stream id
	for stream in 1:stdout 2:stderr; do
		job -- python3 bytes "${stream%:*}"
		iconv -f UTF-8 -t UTF-8 "$JOB" >/dev/null
		[ "$(job_text "${stream#*:}" | head -5)" = $'é\n€\n😀\n日\n本' ]
		[[ $(job_text "${stream#*:}" | sed -n 6p) == bad:*'|' ]]
		[ "$(job_text "${stream#*:}" | sed -n 6p | grep -o $'\ufffd' | wc -l)" = 8 ]
		[ "$(job_text "${stream#*:}" | tail -n 1)" = $'cut:\ufffd' ]
		job_is ".result.${stream#*:}_bytes == 40"
		# The stored bytes are the written ones.
		id=$(command jq -r .id "$JOB")
		cmp <(cat "$WS_STATE"/runs/*/"$id".1/"$([ "${stream%:*}" = 1 ] && echo out || echo err)") \
		    <(as_uid "$WS_UID" python3 "$WS/proj/bytes" "${stream%:*}" 2>&1)
	done
}

@test "the last piece without a newline is never lost, however short the run" {
	local i
	for i in $(seq "$(full 100 15)"); do
		job -- printf done
		[ "$(command jq -c .result.stdout "$JOB")" = '"done"' ]
		job -- python3 -c 'import os; os.write(1, b"a"); os._exit(0)'
		[ "$(command jq -c '[.result.stdout, .result.returncode]' "$JOB")" = '["a",0]' ]
	done
}

@test "a full disk below the output: exit codes stay true, the result says what is missing, later runs are whole" {
	local owner
	workspace_stop
	owner=$(stat -c %u:%g "$WS_STATE/runs")
	mount -t tmpfs -o size=256k,mode=755 tmpfs "$WS_STATE/runs"
	chown "$owner" "$WS_STATE/runs"
	chmod 711 "$WS_STATE/runs"
	workspace_start
	fill_runs
	job -- echo hi
	job_is '.status == "succeeded" and .result.returncode == 0'
	fill_runs
	job -- true
	job_is '.status == "succeeded" and .result.returncode == 0'
	fill_runs
	job -- sh -c 'echo x; exit 3'
	job_is '.result.returncode == 3'
	fill_runs
	job -- python3 -c 'print("y" * 999999)'
	job_is '.result.returncode == 0 and .result.stdout_bytes == 1000000 and .result.truncated == true'
	job_is '.attempts_log[-1].reason == "its output could not be stored whole"'
	rm -f "$WS_STATE/runs/fill"
	job -- echo again
	job_is '.status == "succeeded" and .result.stdout == "again\n" and .attempts_log[-1].reason == null'
	workspace_stop
	umount "$WS_STATE/runs"
	workspace_start
}

# All but what the small files of one run need: ten pages.
fill_runs() {
	head -c 1000000 /dev/zero 2>/dev/null >"$WS_STATE/runs/fill" || true
	truncate -s -40960 "$WS_STATE/runs/fill"
}

@test "escapes, C1 bytes, bidi and a faked line reach no reader of show, logs and list as they are" {
	local id esc=$'\033' view
	script paint <<-'END'
	#!/bin/sh
	printf 'A\033[2J\033[HB\033]0;title\007C\033]52;c;aGk=\007D\033]8;;x\033\\link\033]8;;\033\\E\2332JF\177G\010H\n'
	printf '\342\200\256abc\342\200\254 bidi\nreal line\rFAKE line\n'
	END
	job -- sh paint $'arg\033[2J\u202e\u200b\rfake'
	id=$(command jq -r .id "$JOB")
	refute grep -q "$esc" "$JOB"
	for view in "show $id" "logs $id" list; do
		# shellcheck disable=SC2086
		agent_safe_table $view >"$BATS_TEST_TMPDIR/seen"
		refute grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$BATS_TEST_TMPDIR/seen"
		refute grep -q $'\u202e' "$BATS_TEST_TMPDIR/seen"
		refute grep -q $'\u200b' "$BATS_TEST_TMPDIR/seen"
		refute grep -qaP '(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]' "$BATS_TEST_TMPDIR/seen"
	done
}

@test "a NUL in output is one byte like others; in anything that is proposed it is refused" {
	local text
	job -- sh -c "printf 'a\\0b'; printf 'c\\0d' >&2"
	# In the result's text a NUL is shown as a replacement mark; job.output and the file have the byte.
	job_is '.result.stdout_bytes == 3 and .result.stderr_bytes == 3 and .result.stdout == "a\ufffdb" and
	    .result.stderr == "c\ufffdd"'
	cmp <(printf 'a\0b') <(cat "$WS_STATE"/runs/*/"$(command jq -r .id "$JOB")".1/out)
	for text in '"command":["echo","ok\u0000--evil"]' '"command":["ec\u0000ho"]' \
	    '"command":["echo"],"label":"a\u0000b"' '"command":["echo"],"environment":{"A":"x\u0000LD_PRELOAD=y"}' \
	    '"command":["echo",{"b64":"YQBi"}]'; do
		run propose_raw "{$text}"
		jq -e '.error.data.code == "invalid_input"' <<<"$output"
	done
	[ "$(agent_safe list | jq 'map(select(.command | tostring | test("evil|ec.ho"))) | length')" = 0 ]
}

# One job.submit with these parameters on the socket, as the workspace's owner, with WS/proj as directory.
propose_raw() {
	as_uid "$WS_UID" /usr/bin/python3 -c '
import array, os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
fd = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECTORY)
line = ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.submit\",\"params\":%s}\n" % sys.argv[3]).encode()
s.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
s.settimeout(10)
print(s.makefile().readline())' "$WS_STATE/propose.sock" "$WS/proj" "$1"
}
