#!/usr/bin/env bats
# The same attempts as in 10-cage where an ordinary user started everything: one uid, no registry, no root.

load ../support/workspace
load ../support/hostile

setup_file() {
	hostile_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
	user_namespaces_work && workspace_start
}

teardown_file() { workspace_clean; }

user_namespaces_work() { as_uid "$WS_UID" unshare -Ur true 2>/dev/null; }

setup() {
	user_namespaces_work || skip "this kernel gives ordinary users no user namespace"
}

teardown() { hostile_host_end; }

@test "no attempt works in an ordinary user's cage" {
	hostile_host
	hostile_attempts
	jq -e '.status == "succeeded" and .result.returncode == 0 and .result.truncated == false' "$JOB"
}

@test "kill -9 -1 reaches nothing but the job's own processes, though all have one uid" {
	local before
	before=$(workspace_pids)
	hostile_run -- kill-all
	jq -e '.status == "succeeded" and .result.stdout == "alone\n"' "$JOB"
	[ "$before" = "$(workspace_pids)" ]
}

@test "a daemon that hides in another session is dead when the job has ended" {
	local mark="mark-$RANDOM-$RANDOM"
	hostile_run -- daemon "$mark"
	jq -e '.status == "succeeded"' "$JOB"
	[ -z "$(processes_with "$mark")" ]
}

@test "a job that stops itself is ended at its timeout" {
	hostile_run --timeout 2 -- stop
	jq -e '.status == "failed" and .error_class == "timeout"' "$JOB"
}

@test "no file with a set-id bit and no device is left in the workspace" {
	[ -z "$(find "$WS/proj" -perm /6000 -o -type b -o -type c)" ]
	[ -z "$(find "$WS/proj" ! -uid "$WS_UID")" ]
}
