#!/usr/bin/env bats
# What went wrong with the first system in the hands of its users, each with the outcome it should have had.
# The numbers are those of the probes; P31 is in 32-first-policy, P36 and P37 in 35-races.

load ../support/workspace
load ../support/procs
load ../support/expect

setup_file() {
	is_root || return 0
	workspace_make
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "limits": { "timeout_seconds": 60, "grace_seconds": 1 },
	  "rules": [ { "program": "true" }, { "program": "echo" }, { "program": "cat" }, { "program": "sh" },
	    { "program": "sleep" }, { "program": "printf" }, { "program": "head" }, { "program": "xzcat" },
	    { "program": "proj/tool" }, { "program": "proj/bin/list" }, { "program": "proj/venv/bin/python" } ] }
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# put FILE < content: an executable of the proposer in the workspace
put() {
	mkdir -p "$(dirname "$WS/proj/$1")"
	cat >"$WS/proj/$1"
	chmod 755 "$WS/proj/$1"
	chown -R "$WS_UID:$WS_UID" "$WS/proj"
}

# raw LINE...: sent as they are to propose.sock by the proposer, with WS/proj as the directory
raw() {
	printf '%s\n' "$@" | as_uid "$WS_UID" python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj"
}

jobs() { agent_safe list --all | jq length; }

alive() { ps -eo args | grep -q "^$1\$"; }

@test "P1: a job that ends with 3: exit 1, and 3 with --exit-status" {
	ends 1 run_job sh -c 'exit 3'
	is "$output" '.status == "failed" and .error_class == "nonzero_exit" and .result.returncode == 3'
	ends 3 agent_safe run "$(approved -- sh -c 'exit 3')" --execute --exit-status
}

@test "P2: what is piped to run does not reach the job; its standard input is empty" {
	local id
	id=$(approved -- cat)
	run agent_safe run "$id" --execute <<<'for the operator alone'
	is "$output" '.status == "succeeded" and .result.stdout == ""'
}

@test "P3: a job has a home, a language and a user, and nothing of the caller's" {
	local id
	id=$(HOME=/nowhere CANARY=1 approved -- sh -c 'echo "$HOME|$LANG|$USER|$CANARY"')
	is "$(agent_safe run "$id" --execute)" '.result.stdout == "/tmp|C.UTF-8|job|\n"'
}

# The first system buried an approved job for a mistyped --policy.
@test "P4: a mistyped, a missing and a broken policy file change no job; later it runs" {
	local id old
	id=$(approved -- true)
	old=$(cat "$WS/agent-safe-policy.json")
	unchanged() { is "$(agent_safe show "$id")" '.status == "queued" and .approval_status == "approved" and .attempts == 0'; }
	refused invalid_input "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --policy "$WS/typo.json" --json run "$id" --execute
	unchanged
	agent_safe serve --stop
	rm "$WS/agent-safe-policy.json"
	refused policy_denied agent_safe run "$id" --execute
	unchanged
	agent_safe serve --stop
	workspace_policy <<<'{ "version": 2,'
	refused policy_denied agent_safe run "$id" --execute
	unchanged
	workspace_policy <<<"$old"
	agent_safe policy reload
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded"'
}

@test "P4: what is loaded is what counts; a file that was changed, moved or removed is pointed out" {
	local id old
	id=$(approved -- true)
	old=$(cat "$WS/agent-safe-policy.json")
	is "$(agent_safe assess "$id")" '.warnings == []'
	workspace_policy <<<'{ broken'
	is "$(agent_safe assess "$id")" '.execution_ready and (.warnings | length == 1)'
	is "$(agent_safe status)" '.policy_changed and .policy_loaded'
	workspace_policy <<<"$old"
	is "$(agent_safe assess "$id")" '.warnings == []'
	mv "$WS/agent-safe-policy.json" "$WS/away"
	is "$(agent_safe assess "$id")" '.execution_ready and (.warnings | length == 1)'
	mv "$WS/away" "$WS/agent-safe-policy.json"
	is "$(agent_safe assess "$id")" '.warnings == []'
	rm "$WS/agent-safe-policy.json"
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded" and (.warnings | length == 1)'
	workspace_policy <<<"$old"
	agent_safe policy reload
}

@test "P5: a timeout ends the whole tree" {
	local id
	id=$(approved --timeout 1 -- sh -c 'sleep 4801 & trap "" TERM; sleep 4802; sleep 4803')
	ends 1 agent_safe run "$id" --execute
	is "$output" '.error_class == "timeout" and .result.error == "timeout" and .attempts_log[0].duration_ms >= 1000'
	refute alive 'sleep 480[123]'
}

@test "P6: a leader that ends well has succeeded, also with a child in the background that holds its output" {
	run run_job sh -c 'sleep 4804 & echo done; exit 0'
	[ "$status" = 0 ]
	is "$output" '.status == "succeeded" and .result.returncode == 0 and .result.stdout == "done\n"'
	is "$output" '.attempts_log[0].reason == "processes outlived the main one and were ended"'
	refute alive 'sleep 4804'
}

@test "P7: reading where there is no workspace creates nothing" {
	local command
	mkdir "$WS_TOP/empty"
	cd "$WS_TOP/empty"
	for command in "show nope" list inbox "assess nope" status check-policy audit-verify; do
		# shellcheck disable=SC2086
		XDG_STATE_HOME=$WS_TOP/xdg refused no_workspace "$WS_BIN/agent-safe" --json $command
	done
	[ -z "$(ls -A "$WS_TOP/empty")" ]
	[ ! -e "$WS_TOP/xdg" ]
}

@test "P7: list, inbox, show, assess, policy explain and check-policy leave every file as it was" {
	local id before command
	id=$(propose -- true)
	state_at_rest
	before=$(state_digest)
	for command in list inbox "show $id" "assess $id" "policy explain" check-policy "show nope" "logs $id"; do
		# shellcheck disable=SC2086
		agent_safe $command >/dev/null 2>&1 || true
	done
	[ "$(state_digest)" = "$before" ]
}

@test "P8: a key that is used again for another command is key_conflict and names what differs" {
	local one
	one=$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key p8 -- echo one | jq -er .id)
	refused key_conflict agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key p8 --timeout 5 -- echo two
	is "$output" --arg id "$one" '.error.fields == ["command", "timeout"] and .error.job_id == $id'
	[ "$(field "$one" '.command[1]')" = one ]
}

@test "P8: a key is its submitter's own: the same key of another account is another job" {
	local one two
	mkdir -p "$WS/proj/theirs"
	chown "$OTHER_UID" "$WS/proj/theirs"
	chmod 755 "$WS/proj"
	one=$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key shared -- true | jq -er .id)
	two=$(agent_safe_as "$OTHER_UID" submit --cwd "$WS/proj/theirs" --key shared -- echo x | jq -er .id)
	[ "$one" != "$two" ]
}

@test "P9: the same command can be proposed again after it ended, and at once with --new" {
	local one two three
	submit() { agent_safe_as "$WS_UID" submit --cwd "$WS/proj" "$@" -- echo p9 | jq -er .id; }
	one=$(submit)
	[ "$(submit)" = "$one" ]
	two=$(submit --new)
	[ "$two" != "$one" ]
	agent_safe approve "$one" --by ana
	agent_safe run "$one" --execute
	agent_safe cancel "$two"
	three=$(submit)
	[ "$three" != "$one" ] && [ "$three" != "$two" ]
}

@test "P14: a NUL in argv, plain or in base64, is refused and nothing is stored" {
	local before
	cp "$ROOT/tests/support/rawclient.py" "$WS_TOP/"
	before=$(jobs)
	run raw '{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{"command":["echo","a\u0000b"]}}' \
	    '{"jsonrpc":"2.0","id":2,"method":"job.submit","params":{"command":["echo",{"b64":"YQBi"}]}}' \
	    '{"jsonrpc":"2.0","id":3,"method":"job.submit","params":{"command":[]}}' \
	    '{"jsonrpc":"2.0","id":4,"method":"job.submit","params":{"command":[""]}}'
	[ "$(jq -r .error.data.code <<<"$output" | sort -u)" = invalid_input ]
	[ "$(wc -l <<<"$output")" = 4 ]
	[ "$(jobs)" = "$before" ]
}

@test "P15: argv that is not UTF-8 is proposed, on record, shown and run byte for byte" {
	local id
	id=$(approved -- printf '%s' $'a\xe9\xff\x01b')
	is "$(agent_safe show "$id")" '.command[2] == {"b64": "Yen/AWI="}'
	agent_safe run "$id" --execute >/dev/null
	agent_safe logs --stream stdout "$id" >"$BATS_TEST_TMPDIR/out"
	printf 'a\xe9\xff\x01b' | cmp - "$BATS_TEST_TMPDIR/out"
	[ "$(records job.proposed "$id")" = 1 ]
}

@test "P16, P49: output comes back byte for byte: NUL, CR LF, no newline at the end, every byte" {
	local id
	id=$(approved -- cat bytes)
	{ printf 'a\r\nb\r\n'; for n in $(seq 0 255); do printf "\\x$(printf %x "$n")"; done; printf end; } | put bytes
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	"$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" logs "$id" >"$BATS_TEST_TMPDIR/out" 3>&- 4>&-
	cmp "$WS/proj/bytes" "$BATS_TEST_TMPDIR/out"
	is "$(cat "$BATS_TEST_TMPDIR/job")" --arg sum "$(sha256sum <"$WS/proj/bytes" | cut -d' ' -f1)" \
	    '.attempts_log[0].stdout_sha256 == $sum and .result.stdout_bytes == 265'
}

@test "P17: too much argv is limit_exceeded, names the bound, and nothing is stored" {
	local before words
	before=$(jobs)
	words=$(printf 'x%.0s' $(seq 1000))
	refused limit_exceeded agent_safe_as "$WS_UID" submit --cwd "$WS/proj" -- echo $(for n in $(seq 600); do echo "$words"; done)
	[[ $output == *524288* ]]
	refused limit_exceeded agent_safe_as "$WS_UID" submit --cwd "$WS/proj" -- echo $(seq 4200)
	[[ $output == *4096* ]]
	# Past our own client: five megabytes on the wire, which may end the connection.
	python3 -c 'print("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.submit\",\"params\":{\"command\":[\"echo\",\"" + "a" * 5000000 + "\"]}}")' |
	    as_uid "$WS_UID" python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/answer" 2>&1 || true
	refute grep -q '"result"' "$BATS_TEST_TMPDIR/answer"
	[ "$(jobs)" = "$before" ]
}

@test "P17: the longest argument that the kernel takes is run" {
	local id
	id=$(approved -- sh -c 'echo "${#1}"' x "$(head -c 131071 /dev/zero | tr '\0' a)")
	is "$(agent_safe run "$id" --execute)" '.result.stdout == "131071\n"'
}

# make check-full: 400 MB, as in the probe
@test "P18: a flood of output: counted whole, kept in part, the keeper's memory small" {
	local id size=60000000 keeper peak
	[ -z "${FULL:-}" ] || size=400000000
	id=$(approved --timeout 60 -- sh -c "echo first; head -c $size /dev/zero; echo last; touch printed; sleep 2")
	rm -f "$WS/proj/printed"
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" &
	wait_until 50 test -e "$WS/proj/printed"
	keeper=$(running "$WS_BIN/agent-safe-keeper")
	peak=$(status_of "$keeper" VmHWM)
	wait $!
	[ "${peak% kB}" -lt 16384 ] || { echo "$peak"; false; }
	is "$(cat "$BATS_TEST_TMPDIR/job")" --argjson size $((size + 11)) '.status == "succeeded" and .result.stdout_bytes == $size and .result.truncated'
	is "$(cat "$BATS_TEST_TMPDIR/job")" '(.result.stdout | startswith("first\n")) and (.result.stdout | endswith("last\n")) and (.result.stdout | length < 200000)'
}

# A multi-call program as busybox is: what it does follows the name it was called by.
make_multicall() {
	mkdir -p "$WS/proj/bin"
	cat >"$BATS_TEST_TMPDIR/multi.c" <<-'END'
	#include <stdio.h>
	#include <string.h>
	int main(int argc, char **argv) {
		const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
		if (strcmp(name, "multi") == 0 && argc > 1)
			name = argv[1];
		puts(strcmp(name, "shell") == 0 ? "PWNED" : name);
		return 0;
	}
	END
	${CC:-cc} -static -o "$WS/proj/bin/multi" "$BATS_TEST_TMPDIR/multi.c"
	ln -sfn multi "$WS/proj/bin/list"
	ln -sfn multi "$WS/proj/bin/shell"
	chown -hR "$WS_UID:$WS_UID" "$WS/proj/bin"
}

@test "P22: a rule for a link into a multi-call program opens none of its other names" {
	make_multicall
	is "$(run_job ./bin/list shell -c x)" '.result.stdout == "list\n"'
	for word in "./bin/shell -c x" "./bin/multi shell" "./bin/multi list"; do
		# shellcheck disable=SC2086
		is "$(agent_safe assess "$(propose -- $word)")" '.allowed == false and .verdict == "no_rule"'
	done
}

@test "P23: xzcat runs as xzcat and is no leave for xz, which deletes" {
	printf 'inside\n' | xz -c | put f.xz
	printf 'precious\n' | put victim.txt
	is "$(run_job xzcat f.xz)" '.status == "succeeded" and .result.stdout == "inside\n"'
	is "$(agent_safe assess "$(propose -- xz victim.txt)")" '.allowed == false'
	[ -e "$WS/proj/victim.txt" ]
}

@test "P24: the python of a virtual environment stays in it" {
	mkdir -p "$WS/proj/venv/bin"
	ln -sfn /usr/bin/python3 "$WS/proj/venv/bin/python"
	echo 'home = /usr/bin' >"$WS/proj/venv/pyvenv.cfg"
	chown -hR "$WS_UID:$WS_UID" "$WS/proj/venv"
	is "$(run_job ./venv/bin/python -c 'import sys; print(sys.prefix)')" --arg prefix "$WS/proj/venv" '.result.stdout == $prefix + "\n"'
	is "$(agent_safe assess "$(propose -- python3 -c 'print(1)')")" '.allowed == false'
}

@test "P25: the operator's PATH does not choose the program, before or after the approval" {
	local id
	printf '#!/bin/sh\necho fake\n' | put fake/echo
	id=$(PATH=$WS/proj/fake:$PATH approved -- echo real)
	is "$(PATH=$WS/proj/fake:$PATH agent_safe run "$id" --execute)" '.result.stdout == "real\n"'
}

@test "P26: a script that was replaced after the approval: approval_stale, says what changed, nothing runs" {
	local id
	printf '#!/bin/sh\necho first\n' | put tool
	id=$(approved -- ./tool)
	printf '#!/bin/sh\ntouch other\n' | put tool
	refused approval_stale agent_safe run "$id" --execute
	is "$output" '.error.changes | index("program: its content") != null'
	[ ! -e "$WS/proj/other" ]
	is "$(agent_safe show "$id")" '.status == "queued" and .approval_status == "pending" and .attempts == 0 and .decided_by == null'
	is "$(agent_safe show "$id")" '.decisions | map(.decision) == ["approved", "stale"]'
	agent_safe approve "$id" --by ana
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded"'
}

@test "P26: approve --digest of what was shown before the script changed: approval_stale, says what changed" {
	local id digest
	printf '#!/bin/sh\necho first\n' | put tool
	id=$(propose -- ./tool)
	digest=$(field "$id" .spec_digest)
	printf '#!/bin/sh\necho second\n' | put tool
	refused approval_stale agent_safe approve "$id" --by ana --digest "$digest"
	is "$output" '.error.changes | index("program: its content") != null'
	ends 2 agent_safe_table approve "$id" --by ana --digest "$digest"
	grep -qx '  changes: program: its content' <<<"$output"
	is "$(agent_safe show "$id")" '.approval_status == "pending"'
	digest=$(agent_safe assess "$id" | jq -er .spec_digest)
	is "$(agent_safe approve "$id" --by ana --digest "$digest")" '.approval_status == "approved"'
}

@test "P27: a relative rule starts at the policy's directory, wherever operator and worker stand" {
	local id
	for id in $(agent_safe list --all --status queued | jq -r '.[].id'); do agent_safe cancel "$id" >/dev/null; done
	printf '#!/bin/sh\necho tool\n' | put tool
	id=$(approved -- ./tool)
	is "$(cd / && agent_safe work --once --execute)" --arg id "$id" '.id == $id and .result.stdout == "tool\n"'
}

@test "P28: a working directory that was replaced by a link after the approval: approval_stale, no attempt spent" {
	local id
	mkdir -p "$WS/proj/dir"
	chown "$WS_UID" "$WS/proj/dir"
	id=$(agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj/dir" -- sh -c 'touch made' | jq -er .id)
	agent_safe approve "$id" --by ana
	rmdir "$WS/proj/dir"
	ln -s /tmp "$WS/proj/dir"
	refused approval_stale agent_safe run "$id" --execute
	is "$output" '.error.changes == ["working directory: it is another directory"]'
	rm "$WS/proj/dir"
	# A new directory under the old name is another one too.
	mkdir "$WS/proj/dir"
	chown "$WS_UID" "$WS/proj/dir"
	refused policy_denied agent_safe approve "$id" --by ana
	is "$(agent_safe show "$id")" '.attempts == 0 and .approval_status == "pending"'
	[ ! -e /tmp/made ] && [ ! -e "$WS/proj/dir/made" ]
}

@test "P29: a missing directory and a file as one are refused at submit; one that goes later spends no attempt" {
	local id
	refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj/nowhere" -- true
	printf x | put file
	refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj/file" -- true
	mkdir -p "$WS/proj/gone"
	chown "$WS_UID" "$WS/proj/gone"
	id=$(agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj/gone" -- true | jq -er .id)
	rmdir "$WS/proj/gone"
	refused policy_denied agent_safe approve "$id" --by ana
	is "$(agent_safe show "$id")" '.attempts == 0 and .approval_status == "pending"'
}

@test "P42: state, queue, log and key are closed to others whatever the operator's umask" {
	local loose
	loose=$(find "$WS_STATE"/audit "$WS_STATE"/broker "$WS_STATE"/trio.log "$WS_STATE"/lock "$WS_STATE"/control.sock -perm /077)
	[ -z "$loose" ] || { echo "$loose"; false; }
	[ "$(stat -c %a "$WS_STATE")" = 711 ]
	# A keeper's socket asks who connects; the folders above it let nobody else there.
	loose=$(find "$WS_STATE/runs" ! -type s -perm /007)
	[ -z "$loose" ] || { echo "$loose"; false; }
}

@test "P46: INT and TERM on work end the job's tree, release it and print it, exit 130" {
	local id signal worker status
	for id in $(agent_safe list --all --status queued | jq -r '.[].id'); do agent_safe cancel "$id" >/dev/null; done
	for signal in INT TERM; do
		id=$(approved -- sh -c 'sleep 4805 & sleep 4806')
		env --default-signal=INT "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --json work --once --execute \
		    >"$BATS_TEST_TMPDIR/job" 2>/dev/null 3>&- 4>&- &
		worker=$!
		wait_until 5 alive 'sleep 4806'
		kill "-$signal" "$worker"
		status=0
		wait "$worker" || status=$?
		[ "$status" = 130 ]
		is "$(cat "$BATS_TEST_TMPDIR/job")" --arg id "$id" '.id == $id and .status == "cancelled" and .lease_owner == null'
		refute alive 'sleep 480[56]'
	done
}

# The first system's approve waited in its database lock for whoever held the log's lock, and a submit
# meanwhile failed.  There is no lock here; a log that does not answer is waited for ten seconds.
@test "P47: an auditor that hangs: reads go on, approve is told that it is busy and takes effect when it can" {
	local id auditor
	id=$(propose -- true)
	auditor=$(workspace_pids | awk '$1 == "auditor" { print $2 }')
	kill -STOP "$auditor"
	agent_safe approve "$id" --by ana >"$BATS_TEST_TMPDIR/answer" 2>&1 &
	is "$(timeout 9 "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --json list 3>&- 4>&-)" 'length > 0'
	wait $! || [ $? = 2 ]
	kill -CONT "$auditor"
	is "$(cat "$BATS_TEST_TMPDIR/answer")" '.error.code == "busy"'
	on_record() { is "$(agent_safe show "$id")" '.approval_status == "approved" and .waiting_for == ["worker"]' >/dev/null; }
	wait_until 5 on_record
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded"'
}

@test "P48: a rule for git is pointed out: it runs what the repository names" {
	echo '{ "version": 2, "rules": [{ "program": "git", "args": { "exact": ["status"] } }] }' >"$WS_TOP/git.json"
	run "$WS_BIN/agent-safe" --json --policy "$WS_TOP/git.json" check-policy
	is "$output" '.warnings | any(test("rule 0: git runs code that files of the workspace name"))'
}

@test "P50: standard output that is full: 3 and output_error, no invalid_input; the job is known" {
	local id status=0
	id=$(approved -- true)
	agent_safe run "$id" --execute >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" = 3 ]
	is "$(cat "$BATS_TEST_TMPDIR/err")" '.error.code == "output_error"'
	is "$(agent_safe show "$id")" '.status == "succeeded" and .attempts == 1'
}

@test "P51: a state folder inside an allowed root is refused; a job cannot reach the one outside" {
	run "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS/proj/state" --json list 3>&- 4>&-
	[ "$status" = 2 ]
	is "$output" '.error.code == "invalid_input" or .error.code == "policy_denied"'
	[[ $(jq -r .error.message <<<"$output") == *root* ]]
	[ ! -e "$WS/proj/state/broker/queue.db" ]
	is "$(run_job sh -c "cat $WS_STATE/broker/queue.db || echo closed")" '.result.stdout == "closed\n"'
	# The policy lies in reach of a workspace that is its own root: it cannot be changed from a job.
	ends 1 run_job sh -c "echo '{}' >$WS/agent-safe-policy.json"
	is "$(cat "$WS/agent-safe-policy.json")" '.version == 2'
}

@test "P52: a lone surrogate is refused before anything is stored, plain JSON and over MCP's socket alike" {
	local before
	before=$(jobs)
	run raw '{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{"command":["echo","\ud800"],"source":"mcp"}}' \
	    '{"jsonrpc":"2.0","id":2,"method":"job.submit","params":{"command":["echo","\udc00\ud800"]}}'
	[ "$(grep -c '"error"' <<<"$output")" = 2 ]
	[ "$(jobs)" = "$before" ]
}

@test "P57: no option has a short form of its name" {
	local id word
	id=$(approved -- true)
	for word in --e --exec --ex --execut; do
		refused invalid_input agent_safe run "$id" "$word"
	done
	refused invalid_input agent_safe list --lim 3
	refused invalid_input agent_safe sho "$id"
	is "$(agent_safe show "$id")" '.status == "queued"'
}

@test "P59: death by signal is a class of its own, with the number; 128 and more with --exit-status" {
	local id
	run run_job sh -c 'kill -SEGV $$'
	[ "$status" = 1 ]
	is "$output" '.error_class == "signal" and .result.returncode == -11 and .result.signal == 11'
	is "$output" '.attempts_log[0] | .outcome == "signalled" and .signal == 11 and .exit_code == null'
	ends 137 agent_safe run "$(approved -- sh -c 'kill -KILL $$')" --execute --exit-status
	run run_job sh -c 'exit 139'
	is "$output" '.error_class == "nonzero_exit" and .result.returncode == 139 and .attempts_log[0].signal == null'
}

@test "P60: no execute bit, a directory, a missing interpreter: unavailable before the approval; no shebang: never a shell" {
	local id
	rm -rf "$WS/proj/tool"
	mkdir "$WS/proj/tool"
	is "$(agent_safe assess "$(propose -- ./tool)")" '.verdict == "program_unavailable"'
	rmdir "$WS/proj/tool"
	printf '#!/no/such/interpreter\n' | put tool
	is "$(agent_safe assess "$(propose -- ./tool)")" '.verdict == "program_unavailable"'
	printf '#!/bin/sh\necho x\n' | put tool
	chmod 644 "$WS/proj/tool"
	is "$(agent_safe assess "$(propose -- ./tool)")" '.verdict == "program_unavailable"'
	printf 'touch PWNED\n' | put tool
	id=$(approved -- ./tool)
	ends 126 agent_safe run "$id" --execute --exit-status
	is "$(agent_safe show "$id")" '.error_class == "spawn_error" and .result.stage == "exec" and .result.errno == 8 and .attempts_log[0].error == "Exec format error"'
	[ ! -e "$WS/proj/PWNED" ]
}

# One order over both streams is not kept: each is whole, and apart.
@test "P61: what goes to the two streams stays apart and in order" {
	is "$(run_job sh -c 'echo o1; echo e1 >&2; echo o2; echo e2 >&2')" '.result.stdout == "o1\no2\n" and .result.stderr == "e1\ne2\n"'
}

@test "P62: own session and process group, no terminal, limits and umask of ours" {
	local id old
	old=$(umask)
	id=$(approved -- sh -c 'set -- $(cut -d" " -f5-8 /proc/self/stat); echo "$2 $3"; ulimit -n; ulimit -c; umask; touch made; (: >/dev/tty) 2>/dev/null || echo none')
	umask 077
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	umask "$old"
	jq -r .result.stdout "$BATS_TEST_TMPDIR/job" >"$BATS_TEST_TMPDIR/said"
	# session 2: its own, that of the second process of its namespace; terminal 0 is none
	[ "$(xargs <"$BATS_TEST_TMPDIR/said")" = '2 0 1024 0 0022 none' ] || { cat "$BATS_TEST_TMPDIR/said"; false; }
	[ "$(stat -c %a "$WS/proj/made")" = 644 ]
}

@test "P64: 1501 jobs: every one is reached, oldest and newest first, page by page" {
	local n
	request() {
		for n in $(seq "$1" "$2"); do
			printf '{"jsonrpc":"2.0","id":%d,"method":"job.submit","params":{"command":["true","p64"],"new":true,"label":"p64-%04d"}}\n' "$n" "$n"
		done
	}
	# At most 1000 unfinished ones of one submitter: two of them.
	request 1 900 | as_uid "$WS_UID" python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/a"
	request 901 1501 | python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/b"
	[ "$(cat "$BATS_TEST_TMPDIR"/[ab] | grep -c '"result"')" = 1501 ]
	agent_safe list --all >"$BATS_TEST_TMPDIR/all"
	[ "$(jq -r '.[] | select(.label // "" | startswith("p64")) | .label' "$BATS_TEST_TMPDIR/all" | sort -u | wc -l)" = 1501 ]
	is "$(agent_safe list --newest --limit 3)" 'map(.label) == ["p64-1501", "p64-1500", "p64-1499"]'
	is "$(agent_safe list --limit 1000)" 'length == 1000'
	[ "$(jq -c 'map(.id) | unique | length' "$BATS_TEST_TMPDIR/all")" = "$(jq length "$BATS_TEST_TMPDIR/all")" ]
}

@test "P17: more unfinished jobs than one submitter may have: limit_exceeded with the bound" {
	for n in $(seq 200); do
		printf '{"jsonrpc":"2.0","id":%d,"method":"job.submit","params":{"command":["true"],"new":true}}\n' "$n"
	done | as_uid "$WS_UID" python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/answers"
	is "$(tail -n 1 "$BATS_TEST_TMPDIR/answers")" '.error.data.code == "limit_exceeded" and (.error.message | test("1000"))'
}

# No lease that could expire: while it runs, its keeper holds it.
@test "P69: run on a running job is invalid_job_state, and so is retry; cancel ends it" {
	local id
	id=$(agent_safe_as 0 submit --new --cwd "$WS/proj" -- sleep 30 | jq -er .id)
	agent_safe approve "$id" --by ana
	agent_safe run "$id" --execute >/dev/null &
	wait_until 5 alive 'sleep 30'
	refused invalid_job_state agent_safe run "$id" --execute
	refused invalid_job_state agent_safe retry "$id"
	is "$(agent_safe cancel "$id")" '.cancel_requested or .status == "cancelled"'
	wait $! || [ $? = 1 ]
	is "$(agent_safe show "$id")" '.status == "cancelled" and .attempts_log[0].outcome == "cancelled"'
}
