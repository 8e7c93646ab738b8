#!/usr/bin/env bats
# A program in the cage that does what it can: see probe.h and errand.c beside this file.

load ../support/workspace
load ../support/procs
load ../support/hostile

setup_file() {
	is_root || return 0
	hostile_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

teardown() { hostile_host_end; }

@test "each attack works where it must work, or it proves nothing in the cage" {
	run timeout 60 "$WS/proj/probe" control
	grep 'PROVES NOTHING' <<<"$output" || true
	[ "$status" = 0 ]
}

@test "no attack works in the cage, and each is refused the way it should be" {
	hostile_host
	hostile_attempts
	jq -e '.status == "succeeded" and .result.returncode == 0 and .result.truncated == false' "$JOB"
}

@test "the host's listeners are reached from the host by the same program" {
	hostile_host
	run timeout 60 "$WS/proj/probe" reach "${LISTENERS[@]}" --path "$WS/agent-safe-policy.json"
	for attempt in 'connect to an abstract socket of the host' "connect to the host's loopback" \
	    'find shared memory of the host' 'find a message queue of the host' 'open what belongs to the daemons'; do
		grep -F "$attempt: WORKED" <<<"$output"
	done
}

@test "no file with a set-id bit and no device is left in the workspace" {
	hostile_run -- run --path "$WS/agent-safe-policy.json"
	[ -z "$(find "$WS/proj" -perm /6000 -o -type b -o -type c)" ]
	[ -z "$(find "$WS/proj" ! -uid "$WS_UID")" ]
}

@test "a daemon that hides in another session is dead when the job has ended" {
	local mark="mark-$RANDOM-$RANDOM"
	hostile_run -- daemon "$mark"
	jq -e '.status == "succeeded"' "$JOB"
	[ -z "$(processes_with "$mark")" ]
}

@test "a process that holds the output does not hold the end" {
	local mark="mark-$RANDOM-$RANDOM"
	hostile_run -- hold "$mark"
	jq -e '.status == "succeeded"' "$JOB"
	[ -z "$(processes_with "$mark")" ]
}

@test "kill -9 -1 reaches nothing but the job's own processes" {
	local before after
	before=$(workspace_pids)
	hostile_run -- kill-all
	jq -e '.status == "succeeded" and .result.stdout == "alone\n"' "$JOB"
	after=$(workspace_pids)
	[ "$before" = "$after" ]
}

@test "a job that stops itself is ended at its timeout" {
	hostile_run --timeout 2 -- stop
	jq -e '.status == "failed" and .error_class == "timeout"' "$JOB"
}

@test "exit codes and signals are told as they are" {
	local code
	for code in 0 1 2 77 126 127 128 137 255; do
		hostile_run -- exit $code
		[ "$(jq .result.returncode "$JOB")" = $code ]
	done
	for code in 1 2 6 9 11 13 15; do
		hostile_run -- signal $code
		jq -e --argjson number $code '.error_class == "signal" and .result.signal == $number' "$JOB"
	done
}

@test "output without end is counted whole and kept in part" {
	hostile_run --timeout 120 -- flood 50
	jq -e '.status == "succeeded" and .result.truncated and .result.stdout_bytes == 52428800' "$JOB"
	[ "$(jq -r .result.stdout "$JOB" | wc -c)" -lt 1000000 ]
}

@test "escapes in output reach no reader as they are" {
	local id esc=$'\033'
	hostile_run -- paint
	id=$(jq -er .id "$JOB")
	refute grep -q "$esc" "$JOB"
	agent_safe_table show "$id" >"$BATS_TEST_TMPDIR/shown"
	refute grep -q "$esc" "$BATS_TEST_TMPDIR/shown"
	refute grep -q $'\xe2\x80\xae' "$BATS_TEST_TMPDIR/shown"
}

@test "names that are hard to print or to remove hurt nobody" {
	hostile_run -- litter
	# What nobody can look into, or so deep, is put away.
	jq -e '.attempts_log[-1] | .outcome == "violated" and .exit_code == 0' "$JOB"
	jq -e '.result.violations | test("closed") and test("a-directory-in-a-directory")' "$JOB"
	agent_safe list >/dev/null
	hostile_run -- exit 0
	jq -e '.status == "succeeded"' "$JOB"
}

@test "nothing on the host runs what a job planted in a repository" {
	local marker="$WS_TOP/planted" id
	hostile_run -- hooks "$marker"
	jq -e '.status == "failed" and .attempts_log[-1].outcome == "violated"' "$JOB"
	[ ! -e "$WS/proj/.git" ]
	id=$(jq -er .id "$JOB")
	agent_safe show "$id" >/dev/null
	(cd "$WS/proj" && agent_safe list >/dev/null && agent_safe status >/dev/null)
	hostile_run -- exit 0
	[ ! -e "$marker" ]
}

# --- listeners inside, the workspace changed outside ------------------------------------------------------

can_connect() { /usr/bin/python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)' "$1" 2>/dev/null; }
port_is_there() { [ -s "$1/port" ]; }

@test "a job that listens without bind is not reached from the host, and the same program outside is" {
	mkdir "$WS_TOP/outside"
	(cd "$WS_TOP/outside" && exec timeout 20 "$WS/proj/probe" listen-unbound 10 >said 3>&- 4>&-) &
	wait_until 5 port_is_there "$WS_TOP/outside"
	can_connect "$(cat "$WS_TOP/outside/port")"
	wait $!
	grep -qx 'somebody came' "$WS_TOP/outside/said"

	rm -f "$WS/proj/port"
	hostile_run -- listen-unbound 3 &
	wait_until 10 port_is_there "$WS/proj"
	refute can_connect "$(cat "$WS/proj/port")"
	wait $!
	jq -e '.status == "succeeded" and .result.stdout == "nobody came\n"' "$BATS_TEST_TMPDIR/job.json"
}

@test "a workspace that was replaced by a link while the trio runs: a job sees the one that was opened, or none" {
	local id
	mkdir "$WS_TOP/elsewhere"
	chown "$WS_UID:$WS_UID" "$WS_TOP/elsewhere"
	rm -f "$WS/proj/port"
	id=$(propose -- "$WS/proj/probe" listen-unbound 1)
	agent_safe approve "$id" --by tester >/dev/null
	mv "$WS/proj" "$WS/away"
	ln -s "$WS_TOP/elsewhere" "$WS/proj"
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran" 2>&1 || true
	rm "$WS/proj"
	mv "$WS/away" "$WS/proj"
	[ -z "$(ls -A "$WS_TOP/elsewhere")" ]
	if jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/ran"; then [ -s "$WS/proj/port" ]; fi
}
