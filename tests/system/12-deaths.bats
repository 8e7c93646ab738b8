#!/usr/bin/env bats
# When one of the trio dies the others end within a second; the next command starts again; jobs live on.

load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}

teardown() { workspace_clean; }

kill_one_and_see() {
	local victim=$1 name pid others= now
	while read -r name pid; do
		[ "$name" = "$victim" ] && dead=$pid || others+=" $pid"
	done < <(workspace_pids)
	kill -KILL "$dead"
	wait_gone 10 $others
	now=$(workspace_pids)
	refute grep -qw "$dead" <<<"$now"
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "broker killed: executor and auditor end within a second, the next command starts three new ones" {
	kill_one_and_see broker
}

@test "auditor killed: broker and executor end within a second, the next command starts three new ones" {
	kill_one_and_see auditor
}

@test "executor killed: broker and auditor end within a second, the next command starts three new ones" {
	kill_one_and_see executor
}

status_of_job() { agent_safe show "$1" | jq -r .status; }
job_is() { [ "$(status_of_job "$1")" = "$2" ]; }
keeper_runs() { [ -n "$(running "$WS_BIN/agent-safe-keeper")" ]; }

start_job() {
	id=$(propose -- "$@")
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 &
	wait_until 5 keeper_runs
}

@test "all three killed: the running job ends by itself, its result is collected by the next trio" {
	start_job sh -c 'sleep 2; echo survived; echo written >written'
	kill -KILL $(workspace_pids | cut -d' ' -f2)
	wait || true
	workspace_start
	job_is "$id" running
	wait_until 10 job_is "$id" succeeded
	agent_safe show "$id" | jq -e '.result.stdout == "survived\n" and .attempts == 1'
	[ "$(cat "$WS/proj/written")" = written ]
	agent_safe audit-verify | jq -e .valid
}

@test "keeper killed: the job is dead within a second, and recorded as lost" {
	local keeper job
	start_job sleep 4713
	keeper=$(running "$WS_BIN/agent-safe-keeper" | head -1)
	sleep 0.3
	job=$(descendants_of "$keeper")
	[ -n "$job" ]
	kill -KILL "$keeper"
	wait_gone 10 $job
	wait_until 5 job_is "$id" lost
	agent_safe show "$id" | jq -e '.error_class == "unknown_outcome"'
}

@test "a lost job is not run again by itself" {
	local keeper
	start_job sh -c 'echo once >>count; sleep 4714'
	keeper=$(running "$WS_BIN/agent-safe-keeper" | head -1)
	wait_until 3 test -s "$WS/proj/count"
	kill -KILL "$keeper"
	wait_until 5 job_is "$id" lost
	run agent_safe run "$id" --execute
	[ "$status" = 2 ]
	[ "$(cat "$WS/proj/count")" = once ]
}

@test "TERM to the broker is an orderly end: all three gone, the log ends with a seal" {
	local pids
	pids=$(workspace_pids | cut -d' ' -f2)
	kill -TERM "$(workspace_pids | awk '$1 == "broker" { print $2 }')"
	wait_gone 20 $pids
	cat "$WS_STATE"/audit/log/seg-* | tail -n 1 | jq -e '.type == "log.seal"'
}
