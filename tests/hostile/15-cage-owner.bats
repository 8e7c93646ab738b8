#!/usr/bin/env bats
# The attempts of 10-cage where jobs run as the workspace's owner ("run_as": "owner"), on the filesystem that is
# there and on an overlay; and what jobs that share an uid, and the owner's own processes, can do to each other.

load ../support/workspace
load ../support/jobs
load ../support/procs
load ../support/hostile
load ../support/overlay

setup() {
	need_root
	hostile_make
	local policy
	policy=$(jq --arg sh "$(command -v sh)" '.allowed_working_roots = [{path: "proj", run_as: "owner"}] |
	    .rules += [{program: "sh"}]' "$WS/agent-safe-policy.json")
	workspace_policy <<<"$policy"
}

teardown() {
	hostile_host_end
	overlay_remove
	workspace_clean
}

no_attempt_works() {
	workspace_start
	hostile_host
	hostile_attempts
	jq -e '.status == "succeeded" and .result.returncode == 0 and .result.truncated == false' "$JOB"
	jq -e --argjson uid "$WS_UID" '.attempts_log[-1].uid == $uid' "$JOB"
	[ -z "$(find "$WS/proj" -perm /6000 -o -type b -o -type c)" ]
	[ -z "$(find "$WS/proj" ! -uid "$WS_UID")" ]
}

@test "owner: no attack works in the cage, and each is refused the way it should be" { no_attempt_works; }

@test "owner, on an overlay: no attack works in the cage, and each is refused the way it should be" {
	overlay_make
	no_attempt_works
}

# A job that only waits, in the background; its process on the host.
waiting_job() {
	local id mark=$1
	id=$(propose -- sh -c "echo mine >/tmp/mine; : $mark; while :; do sleep 1; done")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/$mark" 3>&- 4>&- &
	WAITERS+=($!)
	wait_until 10 begun "$mark"
}

begun() { [ "$(find_pid "$1" | wc -l)" = 1 ]; }

# Its first process: under the owner's uid, with the mark in its command line.
find_pid() {
	local file
	for file in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$file"; } 2>/dev/null | grep -qF ": $1; while" || continue
		[ "$(stat -c %u "${file%/cmdline}" 2>/dev/null)" = "$WS_UID" ] || continue
		grep -q '^NoNewPrivs:.1' "${file%/cmdline}/status" && basename "${file%/cmdline}"
	done 2>/dev/null || true
}

trace_as_owner() {
	as_uid "$WS_UID" /usr/bin/python3 -c 'import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(16, int(sys.argv[1]), 0, 0) == 0 else ctypes.get_errno())' "$1"
}

@test "owner: two jobs of one uid neither see nor signal each other" {
	local mark="mark$RANDOM" pid
	WAITERS=()
	workspace_start
	waiting_job "$mark"
	pid=$(find_pid "$mark")
	job -- sh -c "ls /tmp; cat /proc/*/cmdline | tr '\\0' ' ' | grep -cF '$mark;'; kill -9 $pid; kill -9 -1; echo \$?"
	kill -0 "$pid"
	[ -z "$(job_text stdout | grep mine)" ]
	kill -9 "$pid"
	wait "${WAITERS[@]}" || true
}

@test "owner: the owner's other processes can end a job, but neither read nor trace it" {
	local mark="mark$RANDOM" pid other status=0
	WAITERS=()
	workspace_start
	waiting_job "$mark"
	pid=$(find_pid "$mark")
	refute as_uid "$WS_UID" cat "/proc/$pid/environ"
	refute as_uid "$WS_UID" ls "/proc/$pid/root/"
	trace_as_owner "$pid" || status=$?
	[ "$status" = 1 ]
	# The same on a process of the owner that is in no cage: else this proves nothing.
	as_uid "$WS_UID" sh -c 'echo $$ >"$1"; exec sleep 60' sh "$WS/proj/other" 3>&- 4>&- &
	WAITERS+=($!)
	wait_until 10 test -s "$WS/proj/other"
	other=$(cat "$WS/proj/other")
	as_uid "$WS_UID" cat "/proc/$other/environ" >/dev/null
	as_uid "$WS_UID" sh -c 'kill -9 "$1"' sh "$other"
	as_uid "$WS_UID" sh -c 'kill -9 "$1"' sh "$pid"
	wait "${WAITERS[@]}" || true
	jq -e '.status == "failed" and .result.signal == 9' "$BATS_TEST_TMPDIR/$mark" || { cat "$BATS_TEST_TMPDIR/$mark"; false; }
}
