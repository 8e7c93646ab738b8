#!/usr/bin/env bats
# Why was it denied?  In profile debug the keeper counts what is refused; `policy learn` makes a rule of it.

load ../support/workspace
load ../support/procs

setup_file() {
	workspace_make
	mkdir "$WS_TOP/data"
	echo 'of the host' >"$WS_TOP/data/settings"
	! is_root || chown -R "$WS_UID:$WS_UID" "$WS_TOP/data"
	cat >"$WS/proj/wants.py" <<-END
	import ctypes, errno, socket, sys
	call = ctypes.CDLL(None, use_errno=True)
	def refused(result, error):
	    if result != -1 or ctypes.get_errno() != error: sys.exit(9)
	for i in range(3): refused(call.mount(None, None, None, 0, None), errno.EPERM)
	refused(call.unshare(0x10000000), errno.EPERM)
	try: socket.socket(38)
	except OSError as e: refused(-1 if e.errno == errno.EAFNOSUPPORT else 0, ctypes.get_errno())
	try: open("/root/x")
	except OSError: pass
	s = socket.socket()
	s.settimeout(5)
	try: s.connect(("127.0.0.1", 8099))
	except OSError: pass
	END
	cat >"$WS/proj/reads.py" <<-END
	print(open("$WS_TOP/data/settings").read(), end="")
	END
	policy debug
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

# Everything under this profile.
policy() {
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "python3" }, { "program": "strace" }, { "program": "gdb" }, { "program": "sleep" },
	      { "program": "sh" }, { "program": "true" } ],
	  "cage": { "profile": "$1" }
	}
	END
}

under() {
	policy "$1"
	agent_safe policy reload >/dev/null
}

# Runs it and prints the job as `show` has it.
shown() {
	local id
	id=$(propose -- "$@")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null || true
	agent_safe show "$id"
}

job_is() { [ "$(agent_safe show "$1" 2>/dev/null | jq -r .status)" = "$2" ]; }

sleeper_runs() {
	local keeper
	keeper=$(running "$WS_BIN/agent-safe-keeper")
	[ -n "$keeper" ] && descendants_of "$keeper" | while read -r pid; do cat "/proc/$pid/comm"; done | grep -qx sleep
}

# How many listeners of filters a process holds.
listeners_of() {
	local link count=0
	for link in /proc/"$1"/fd/*; do
		if [ "$(readlink "$link")" = 'anon_inode:seccomp notify' ]; then count=$((count + 1)); fi
	done
	echo $count
}

@test "what a job was refused is listed, call by call, with its errno and how often" {
	shown python3 wants.py >"$BATS_TEST_TMPDIR/job"
	jq -e '.status == "succeeded" and .result.denied_calls == 5' "$BATS_TEST_TMPDIR/job"
	jq -e '[.denials[] | [.kind, .call, .value, .errno, .count]] == [
	    ["call", "mount", 0, "EPERM", 3], ["call", "unshare", 268435456, "EPERM", 1],
	    ["call", "socket", 38, "EAFNOSUPPORT", 1]]' "$BATS_TEST_TMPDIR/job"
	jq -e '.denial_report | .profile == "debug" and .refused == 5 and .unlisted == 0' "$BATS_TEST_TMPDIR/job"
	# What passed here and a stronger profile refuses.
	jq -e '[.denial_report.would_refuse[] | select(.call == "socket" and .value == 2)]
	    | length == 1 and (.[0] | .count == 1 and .errno == null and .refused_by == ["strict"])' "$BATS_TEST_TMPDIR/job"
}

@test "a person reads the same in show" {
	local id
	id=$(shown python3 wants.py | jq -er .id)
	agent_safe_table show "$id" >"$BATS_TEST_TMPDIR/text"
	grep -x 'denied calls     5' "$BATS_TEST_TMPDIR/text"
	grep -x '  mount: EPERM, 3 times' "$BATS_TEST_TMPDIR/text"
	grep -x '  unshare(0x10000000): EPERM, once' "$BATS_TEST_TMPDIR/text"
	grep -x '  socket(0x2): not by strict, once' "$BATS_TEST_TMPDIR/text"
}

@test "count and digest of the list are on record, and the file is the one" {
	local id runs
	need_root
	id=$(shown python3 wants.py | jq -er .id)
	runs=$(agent_safe status | jq -er .runs_dir)
	agent_safe audit show "$id" >"$BATS_TEST_TMPDIR/log"
	grep -q '"denied":5,' "$BATS_TEST_TMPDIR/log"
	grep -q "\"denied_sha256\":\"$(sha256sum "$runs"/*/"$id".1/denied | cut -d' ' -f1)\"" "$BATS_TEST_TMPDIR/log"
}

@test "many threads that call what is refused: each call counted, no output lost" {
	shown python3 -c '
import ctypes, threading
call = ctypes.CDLL(None)
def flood():
    for i in range(2500): call.mount(None, None, None, 0, None)
threads = [threading.Thread(target=flood) for i in range(8)]
for t in threads: t.start()
for i in range(64): print("x" * 65535)
for t in threads: t.join()' >"$BATS_TEST_TMPDIR/job"
	jq -e '.status == "succeeded" and .result.stdout_bytes == 64 * 65536 and .denial_report.unlisted == 0' \
	    "$BATS_TEST_TMPDIR/job"
	jq -e '[.denials[] | select(.call == "mount") | .count] == [20000]' "$BATS_TEST_TMPDIR/job"
}

@test "strace and gdb work in debug, and strace does not in default" {
	shown strace -o trace.txt -e trace=execve true >"$BATS_TEST_TMPDIR/job"
	jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/job"
	grep -q '^execve("/usr/bin/true"' "$WS/proj/trace.txt"
	if [ -x /usr/bin/gdb ]; then
		shown gdb -q -batch -ex 'break exit' -ex run -ex bt /usr/bin/true >"$BATS_TEST_TMPDIR/job"
		jq -e '.result.stdout | contains("exited normally") or contains("#0")' "$BATS_TEST_TMPDIR/job"
	fi
	under default
	shown strace -o trace.txt -e trace=execve true >"$BATS_TEST_TMPDIR/job"
	under debug
	jq -e '.status == "failed" and .denials == null and .denial_report == null' "$BATS_TEST_TMPDIR/job"
}

@test "one listener, held by the keeper and not by the job; none where nothing is reported" {
	local id job keeper init profile
	need_root
	for profile in debug default; do
		under $profile
		id=$(propose -- sleep 30)
		agent_safe approve "$id" --by tester >/dev/null
		agent_safe run "$id" --execute >/dev/null &
		wait_until 10 sleeper_runs
		keeper=$(running "$WS_BIN/agent-safe-keeper")
		init=$(children_of "$keeper")
		job=$(children_of "$init")
		echo "# $profile: keeper $(listeners_of "$keeper"), init $(listeners_of "$init"), job $(listeners_of "$job")"
		[ "$(listeners_of "$keeper")" = "$([ $profile = debug ] && echo 1 || echo 0)" ]
		[ "$(listeners_of "$init")" = 0 ]
		[ "$(listeners_of "$job")" = 0 ]
		[ "$(ls "/proc/$job/fd" | tr '\n' ' ')" = '0 1 2 ' ]
		# The keeper's own measures hold as ever.
		[ "$(status_of "$keeper" Seccomp)" = 2 ]
		[ "$(status_of "$keeper" NoNewPrivs)" = 1 ]
		[ "$(caps_of "$keeper")" = "$NO_CAPS" ]
		agent_safe cancel "$id" >/dev/null
		wait
	done
	under debug
}

@test "denied calls are answered and counted also while there is no executor" {
	local id
	id=$(propose -- python3 -c '
import ctypes, time
call = ctypes.CDLL(None, use_errno=True)
for i in range(30):
    if call.mount(None, None, None, 0, None) != -1 or ctypes.get_errno() != 1: raise SystemExit(9)
    time.sleep(0.1)')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 &
	wait_until 10 job_is "$id" running
	kill -KILL "$(agent_safe status | jq -er .pids.executor)"
	wait
	wait_until 20 job_is "$id" succeeded
	agent_safe show "$id" >"$BATS_TEST_TMPDIR/job"
	jq -e '[.denials[] | select(.call == "mount") | .count] == [30]' "$BATS_TEST_TMPDIR/job"
}

@test "learn refuses a run that was no debug run, one that has not ended, and one that is not there" {
	local id
	under default
	id=$(shown true | jq -er .id)
	under debug
	run agent_safe policy learn "$id"
	[ "$status" = 2 ]
	grep -q '"code":"invalid_job_state"' <<<"$output"
	grep -q 'is no debug run' <<<"$output"
	id=$(propose -- true)
	run agent_safe policy learn "$id"
	[ "$status" = 2 ]
	grep -q 'has not run' <<<"$output"
	run agent_safe policy learn 00000000-0000-4000-8000-000000000000
	[ "$status" = 2 ]
	grep -q '"code":"job_not_found"' <<<"$output"
}

@test "learn changes nothing and says what each line rests on" {
	local id before
	before=$(sha256sum "$WS/agent-safe-policy.json")
	id=$(shown python3 wants.py | jq -er .id)
	agent_safe policy learn "$id" >"$BATS_TEST_TMPDIR/rule" 2>"$BATS_TEST_TMPDIR/why"
	jq -e '.program == "python3" and .args.exact == ["wants.py"] and .cage.profile == "default"
	    and (.limits | .timeout_seconds >= 10 and .memory_bytes >= 67108864)' "$BATS_TEST_TMPDIR/rule"
	# Where its sockets went only a trace tells: nothing is made up.
	jq -e '.cage.network == null' "$BATS_TEST_TMPDIR/rule"
	grep -q 'refused: mount, EPERM (3x); no profile allows it' "$BATS_TEST_TMPDIR/why"
	grep -q 'strict refuses socket(0x2)' "$BATS_TEST_TMPDIR/why"
	grep -q 'nothing was changed' "$BATS_TEST_TMPDIR/why"
	[ "$before" = "$(sha256sum "$WS/agent-safe-policy.json")" ]
}

@test "with a trace learn proposes network and paths, and not what holds keys" {
	local plain traced
	mkdir -p "$WS_TOP/data/.ssh"
	echo key >"$WS_TOP/data/.ssh/id"
	cat >"$WS/proj/paths.py" <<-END
	for path in ("$WS_TOP/data/settings", "$WS_TOP/data/.ssh/id", "/not/on/this/host", "wants.py"):
	    try: open(path)
	    except OSError: pass
	import socket
	for address in (("10.1.2.3", 443), ("10.1.2.3", 80)):
	    s = socket.socket()
	    try: s.connect(address)
	    except OSError: pass
	END
	plain=$(shown python3 paths.py | jq -er .id)
	traced=$(shown strace -f -qq -o learn.trace -e trace=%file,connect,bind -- python3 paths.py | jq -er .id)
	agent_safe policy learn "$plain" "$traced" --trace "$WS/proj/learn.trace" >"$BATS_TEST_TMPDIR/rule" \
	    2>"$BATS_TEST_TMPDIR/why"
	jq -e --arg data "$WS_TOP/data" '.program == "python3" and .args.exact == ["paths.py"]
	    and .cage == {"network": {"tcp_ports": [443, 80]}, "read_paths": [$data + "/settings"], "profile": "default"}' \
	    "$BATS_TEST_TMPDIR/rule"
	grep -q "read $WS_TOP/data/.ssh/id .* is not proposed" "$BATS_TEST_TMPDIR/why"
}

@test "a rule that was learned is taken by the policy, and the program then gets what it wants" {
	local traced
	traced=$(shown strace -f -qq -o learn.trace -e trace=%file,connect,bind -- python3 reads.py | jq -er .id)
	agent_safe policy learn "$traced" --trace "$WS/proj/learn.trace" >"$BATS_TEST_TMPDIR/rule" 2>/dev/null
	jq '{version: 2, allowed_working_roots: ["proj"], rules: [.]}' "$BATS_TEST_TMPDIR/rule" >"$BATS_TEST_TMPDIR/policy"
	workspace_policy <"$BATS_TEST_TMPDIR/policy"
	agent_safe policy reload >/dev/null
	shown python3 reads.py >"$BATS_TEST_TMPDIR/job"
	under debug
	jq -e '.status == "succeeded" and .result.stdout == "of the host\n"' "$BATS_TEST_TMPDIR/job"
}

@test "a trace that is no file, or a link, is not read" {
	local id
	id=$(shown true | jq -er .id)
	ln -sf /etc/passwd "$WS/proj/link.trace"
	for trace in "$WS/proj/link.trace" "$WS/proj" /dev/null "$WS/proj/none"; do
		run agent_safe policy learn "$id" --trace "$trace"
		[ "$status" = 2 ]
		grep -q '"code":"invalid_input"' <<<"$output"
	done
}

@test "names of a job's own making reach no terminal as they are" {
	local id esc=$'\033'
	printf '7 openat(AT_FDCWD, "%s", O_RDONLY) = -1 ENOENT (No such file or directory)\n' \
	    "$WS_TOP/data/\\33[31mred" >"$WS_TOP/evil.trace"
	touch "$WS_TOP/data/$esc[31mred"
	id=$(shown true | jq -er .id)
	agent_safe policy learn "$id" --trace "$WS_TOP/evil.trace" >"$BATS_TEST_TMPDIR/all" 2>&1
	grep -q 'red' "$BATS_TEST_TMPDIR/all"
	refute grep -q "$esc" "$BATS_TEST_TMPDIR/all"
}

@test "learn of a command says how to make the runs" {
	agent_safe policy learn -- make 'a b' >"$BATS_TEST_TMPDIR/how"
	jq -e '.commands[0] == ["make", "a b"] and .commands[1][0] == "strace" and .commands[1][-2:] == ["make", "a b"]
	    and .rules[0] == {"program": "make", "cage": {"profile": "debug"}}' "$BATS_TEST_TMPDIR/how"
	agent_safe_table policy learn -- make 'a b' >"$BATS_TEST_TMPDIR/how"
	grep -q "submit -- make 'a b'" "$BATS_TEST_TMPDIR/how"
}

@test "where nobody counts, an end that a refusal often leads to comes with the way to find out" {
	local id
	under default
	id=$(shown sh -c 'exit 126' | jq -er .id)
	agent_safe_table show "$id" >"$BATS_TEST_TMPDIR/text"
	id=$(shown sh -c 'exit 1' | jq -er .id)
	agent_safe_table show "$id" >"$BATS_TEST_TMPDIR/other"
	under debug
	grep -q 'not counted outside of profile debug' "$BATS_TEST_TMPDIR/text"
	refute grep -q 'not counted outside of profile debug' "$BATS_TEST_TMPDIR/other"
}
