#!/usr/bin/env bats
# What happened to other people's audit logs: cut tails, mixed writers, injected lines, rotators.

load ../support/workspace

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	# Files: a NUL cannot stand in an argument, everything else can.
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# The last job.proposed on record.
proposed() { agent_safe audit export | jq -c 'select(.type == "job.proposed")' | tail -n 1; }

# $1: an argument; it must come back from the log and be one line there
inject() {
	local before after
	before=$(agent_safe audit head | jq -r .size)
	agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- echo "$1" >/dev/null
	after=$(agent_safe audit export --from "$before" | jq -r .type | grep -c '^job.proposed$')
	[ "$after" = 1 ]
	proposed | jq -j '.d.command[1] | if type == "object" then .b64 else @base64 end' | base64 -d >"$BATS_TEST_TMPDIR/back"
	printf '%s' "$1" | cmp - "$BATS_TEST_TMPDIR/back"
	# No byte of it that a terminal or a line reader would act on.
	refute grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$(find "$WS_STATE/audit/log" -name 'seg-*' | sort | tail -n 1)"
}

@test "a newline with a forged record behind it stays inside one record" {
	inject $'a\n{"v":1,"seq":99,"type":"job.approved"}'
}

@test "carriage return, escape sequences, C1, DEL, tabs: one record each, and every byte comes back" {
	inject $'a\rb'
	inject $'\e[2Jx'
	inject $'\x7f\xc2\x9b0m'
	inject "$(printf '\t%.0s' $(seq 4096))"
	inject '\x0a\n'
}

@test "unicode line ends and bytes that are not UTF-8: one record each, and every byte comes back" {
	inject $'\xe2\x80\xa8x\xc2\x85y'
	inject $'\xff'
	inject $'\x80'
}

@test "what a person is shown has no control byte of it" {
	inject $'\e[2Jx\xe2\x80\xae'
	agent_safe -o table audit show >"$BATS_TEST_TMPDIR/shown"
	refute grep -qP '\x1b|\xe2\x80\xae' "$BATS_TEST_TMPDIR/shown"
}

@test "eight writers at once: one line of succession, each record whole, up to the largest" {
	local sizes=(100 5000 30000 70000) i pids= each=12
	[ -z "${FULL:-}" ] || each=500
	from=$(agent_safe audit head | jq -r .size)
	for i in 0 1 2 3 4 5 6 7; do
		(
			text=$(printf '%*s' "${sizes[$((i % 4))]}" '' | tr ' ' x)
			for _ in $(seq $each); do
				agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- echo "$text" >/dev/null || exit 1
			done
		) &
		pids+=" $!"
	done
	for i in $pids; do wait "$i"; done
	agent_safe audit-verify | jq -e .valid
	agent_safe audit export --from "$from" >"$BATS_TEST_TMPDIR/lines"
	jq -s 'map(select(.type == "job.proposed")) | length' "$BATS_TEST_TMPDIR/lines" | grep -qx $((8 * each))
	jq -es '[range(1; length) as $i | .[$i].seq - .[$i - 1].seq] | all(. == 1)' "$BATS_TEST_TMPDIR/lines"
	# A command of 70 kB is on record by its digest.
	jq -s 'map(select(.type == "job.proposed" and (.d.command | type) == "object")) | length' "$BATS_TEST_TMPDIR/lines" |
	    grep -qx $((2 * each))
}

@test "a proposal of a mebibyte is refused, and there is no record of it" {
	before=$(agent_safe audit export | grep -c '"job.proposed"')
	head -c 1100000 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/big"
	run python3 -c '
import array, json, os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
fd = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECTORY)
line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "job.submit", "params": {"command": ["echo", open(sys.argv[3]).read()]}})
try:
    s.sendmsg([line[:1000].encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    s.sendall(line[1000:].encode() + b"\n")
    print(s.recv(65536)[:300])
except OSError as error:
    print(error)' "$WS_STATE/propose.sock" "$WS/proj" "$BATS_TEST_TMPDIR/big"
	echo "$output"
	[[ $output != *'"result"'* ]]
	[ "$(agent_safe audit export | grep -c '"job.proposed"')" = "$before" ]
}

@test "a directory with a newline and an escape in its name: one record, and its name comes back" {
	dir=$WS/proj/$'a\n{"seq":1}\e[2J'
	mkdir "$dir"
	chown "$WS_UID:$WS_UID" "$dir"
	agent_safe_as "$WS_UID" submit --new --cwd "$dir" -- true >/dev/null
	proposed | jq -j '.d.cwd | if type == "object" then .b64 else @base64 end' | base64 -d >"$BATS_TEST_TMPDIR/back"
	printf '%s' "$dir" | cmp - "$BATS_TEST_TMPDIR/back"
	refute grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$(find "$WS_STATE/audit/log" -name 'seg-*' | sort | tail -n 1)"
}

@test "a log that is verified while others write is whole each time" {
	local i
	(for _ in $(seq 40); do agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- true >/dev/null; done) &
	for i in 1 2 3 4 5 6; do agent_safe audit-verify | jq -e .valid; done
	wait
}

@test "without a remembered head the verdict says how far it goes; with one a cut tail is found" {
	run_job true >/dev/null
	agent_safe audit note >"$WS_TOP/note" 2>/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	cp -r "$WS_STATE/audit/log" "$BATS_TEST_TMPDIR/log"
	local log=$BATS_TEST_TMPDIR/log last keep
	run "$WS_BIN/agent-safe-audit-verify" "$log"
	[ "$status" = 0 ]
	[[ $output == *"whole as far as it goes"* ]]
	"$WS_BIN/agent-safe-audit-verify" --note "$WS_TOP/note" "$log"
	last=$(find "$log" -name "seg-*" | sort | tail -n 1)
	keep=$(grep -n '"type":"log.seal"' "$last" | tail -n 8 | head -n 1 | cut -d: -f1)
	chmod u+w "$last"
	head -n "$keep" "$last" >"$last.new"
	mv "$last.new" "$last"
	run "$WS_BIN/agent-safe-audit-verify" "$log"
	[ "$status" = 0 ]
	run "$WS_BIN/agent-safe-audit-verify" --note "$WS_TOP/note" "$log"
	[ "$status" = 5 ]
	workspace_start
}

# With the flag cleared, as a rotator with root's rights may: the trio stops, and nothing runs until $2 puts it back.
outside() {
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	segment=$(find "$WS_STATE/audit/log" -name "seg-*.jsonl" | sort | tail -n 1)
	chattr -R -a "$WS_STATE/audit/log"
	cp -a "$segment" "$WS_TOP/kept"
	"$1"
	run run_job sh -c 'echo ran >marker'
	[ "$status" -ne 0 ]
	[ ! -e "$WS/proj/marker" ]
	run agent_safe status
	[ "$status" -ne 0 ]
	[[ $output == *audit_integrity_error* ]]
	grep -q 'changed from outside' "$WS_STATE/trio.log"
	: >"$WS_STATE/trio.log"
	rm -rf "$segment" "$segment.1"
	cp -a "$WS_TOP/kept" "$segment"
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

way_truncate() { truncate -s 0 "$segment"; }
way_copytruncate() { cp "$segment" "$segment.1" && truncate -s 0 "$segment"; }
way_shorten() { truncate -s 100 "$segment"; }
way_rename() { mv "$segment" "$segment.1"; }
way_delete() { rm "$segment"; }
way_link() { mv "$segment" "$segment.1" && ln -s "${segment##*/}.1" "$segment"; }
way_replace() { cp -a "$segment" "$segment.1" && mv "$segment.1" "$segment"; }

@test "where root has set the flag a rotator can do nothing to the open segment" {
	segment=$(find "$WS_STATE/audit/log" -name "seg-*.jsonl" | sort | tail -n 1)
	for way in 'truncate -s 0' 'mv -t /tmp' 'rm'; do
		run $way "$segment"
		[ "$status" -ne 0 ] || skip "this filesystem has no append-only flag"
	done
	run_job true | jq -e '.status == "succeeded"'
}

@test "a rotator that truncates the open segment: the trio stops, nothing runs until it is put back" { outside way_truncate; }
@test "a rotator that copies and truncates: the same" { outside way_copytruncate; }
@test "one that shortens it: the same" { outside way_shorten; }
@test "one that renames it: the same" { outside way_rename; }
@test "one that deletes it: the same" { outside way_delete; }
@test "one that puts a link in its place: the same" { outside way_link; }
@test "one that puts a copy in its place: what is written is not written into nowhere" {
	workspace_start
	segment=$(find "$WS_STATE/audit/log" -name "seg-*.jsonl" | sort | tail -n 1)
	chattr -R -a "$WS_STATE/audit/log"
	way_replace
	run run_job sh -c 'echo ran >marker'
	[ "$status" -ne 0 ]
	[ ! -e "$WS/proj/marker" ]
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "a folder that was made read-only: what is open is written on, a new start is refused with the reason" {
	workspace_start
	log=$WS_STATE/audit/log
	chattr -R -a "$log"
	mode=$(stat -c %a "$log")
	chmod 000 "$log"
	agent_safe list | jq -e 'length > 0'
	agent_safe serve --stop >/dev/null || true
	run agent_safe status
	echo "$output"
	[ "$status" -ne 0 ]
	chmod "$mode" "$log"
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}
