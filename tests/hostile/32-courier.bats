#!/usr/bin/env bats
# The courier: what somebody can do who has taken it over, and what it is without one of its measures.

load ../support/workspace
load ../support/courier
load ../support/procs
load ../support/taken
load ../support/measures

setup() {
	need_root
	courier_setup
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 1 }'
}

teardown() { workspace_clean; }

@test "a taken courier: not the state, the log, the key, another uid or process; no namespace, no capability" {
	mkdir -m 700 "$WS_TOP/home-$TEST_UID/closed"
	courier_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe serve --stop >/dev/null
	rm "$WS_BIN/agent-safe-courier" # one that is just ending still runs it
	cp "$BUILD_DIR/taken/agent-safe-courier" "$WS_BIN/agent-safe-courier"
	TAKEN_LOG=$WS_STATE/trio.log
	taken_start
	{
		printf 'read %s\n' /etc/shadow /root "$WS_TOP/home-$TEST_UID/closed" "$WS_STATE" "$WS_STATE/audit/key/key.state" \
		    "$WS_STATE/audit/key/log.key" "$WS_STATE"/audit/log/seg-* "$WS_STATE/broker/queue.db" "$WS_STATE/runs"
		printf 'write %s\n' "$WS_STATE"/audit/log/seg-* "$WS/agent-safe-policy.json"
		printf 'empty %s\n' "$WS_STATE"/audit/log/seg-*
		printf 'make %s\n' "$WS/proj" "$WS_STATE"
		printf 'connect %s\n' "$WS_STATE/control.sock"
		for uid in 0 "$UID_BROKER" "$UID_EXECUTOR" "$UID_AUDITOR" $TEST_UID; do
			printf 'become %s\njoin %s\n' "$uid" "$uid"
		done
		for pid in 1 "$BROKER" "$EXECUTOR" "$AUDITOR"; do
			printf '%s '"$pid"'\n' signal trace memory descriptor enter
		done
		printf 'gain %s\n' 19 1 16
		printf 'userns x\ndevices /tmp\nuncover /tmp\n'
	} | taken_targets
	taken_nothing_worked
	taken_answered EPERM -- userns
	# The trio goes on without it, and permits nothing.
	courier_await '.witnesses[0].state == "courier_gone"'
	refute run_job true
}

# The measure named fails: the courier is not there, the trio is, and no run is permitted.
without() {
	local words=$1
	shift
	measures_fail "$@"
	courier_start
	courier_await '.witnesses[0].state == "courier_gone"'
	grep -qE "courier: .*($words)" "$WS_STATE/trio.log"
	agent_safe serve --stop >/dev/null
	: >"$WS_STATE/trio.log"
}

@test "courier: each measure failing ends it, and with it what needs it" {
	courier_start
	courier_await '.witnesses[0].state == "good"'
	agent_safe serve --stop >/dev/null
	measures_wrap courier
	courier_start
	courier_await '.witnesses[0].state == "good"'
	agent_safe serve --stop >/dev/null
	without 'no_new_privs did not hold' 'prctl 0 39 0'
	without 'still dumpable' 'prctl 0 4 0'
	without 'capset' 'capset - 0 1'
	without 'Landlock ABI is' 'landlock_create_ruleset - 0 38'
	without 'Landlock did not hold' 'landlock_restrict_self - 0 0'
	without 'filter in force is not ours' 'seccomp - 0 0'
	without 'no filter is in force' 'prctl 0 21 0'
	without 'limit 6 did not hold' 'prlimit64 1 6 0'
	measures_fail 'seccomp - 0 0'
	courier_start
	refute run_job true
}

@test "a courier that breaks the contract is not heard any more, and stops nothing" {
	local lie
	courier_policy '{ witnesses: [$w1], require: "report", deadline_seconds: 1 }'
	cp "$BUILD_DIR/taken/liar" "$WS_BIN/agent-safe-courier"
	for lie in garbage sender errand target outcome twice unsealed long; do
		echo $lie >"$WS_BIN/lie"
		courier_start
		courier_await '.witnesses[0].state == "courier_gone"'
		run_job true | jq -e '.status == "succeeded"'
		grep -q 'breach by courier' "$WS_STATE/trio.log"
		agent_safe audit-verify | jq -e .valid
		pid=$(agent_safe status | jq -er .pids.courier)
		agent_safe serve --stop >/dev/null
		kill -KILL "$pid"
		: >"$WS_STATE/trio.log"
	done
}
