#!/usr/bin/env bats
# The same attempts as in 12-cage-debug where an ordinary user started everything: the job has the uid of its init and of
# its keeper, and may trace.

load ../support/workspace
load ../support/hostile

setup_file() {
	hostile_make
	hostile_debug
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

@test "a job may trace its own processes and choose a personality, and no attempt more works than that" {
	hostile_host
	hostile_try
	diff - <(grep UNEXPECTED "$ATTEMPTS") <<-END
	38 personality READ_IMPLIES_EXEC: WORKED UNEXPECTED
	40 ask to be traced: WORKED UNEXPECTED
	END
	grep -x '15 find a descriptor that was left open: held' "$ATTEMPTS"
	jq -e '.error_class == "nonzero_exit" and .result.returncode == 2 and .result.truncated == false' "$JOB"
	agent_safe show "$(jq -er .id "$JOB")" >"$JOB.shown"
	jq -e '.denial_report.profile == "debug" and .denial_report.refused > 50' "$JOB.shown"
	for call in mount umount2 pivot_root chroot unshare setns open_by_handle_at io_uring_setup socket ioctl; do
		jq -e --arg call $call 'any(.denials[]; .call == $call and .count > 0 and .errno != null)' "$JOB.shown"
	done
}

@test "kill -9 -1 reaches nothing but the job's own processes" {
	local before
	before=$(workspace_pids)
	hostile_run -- kill-all
	jq -e '.status == "succeeded" and .result.stdout == "alone\n"' "$JOB"
	[ "$before" = "$(workspace_pids)" ]
}
