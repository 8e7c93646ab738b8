#!/usr/bin/env bats
# Daemons that end while a run waits for its witnesses.

load ../support/workspace
load ../support/courier
load ../support/procs

setup() {
	need_root
	courier_setup
}

teardown() { workspace_clean; }

logged() { cat "$WS_STATE"/audit/log/seg-* | grep -F -- "$1" >/dev/null; }

# A run that waits for its witness, which does not answer; its id is in WAITS.  $1...: options of submit
waits_for_witness() {
	courier_mode w1 'sleep 60'
	WAITS=$(propose "$@" -- echo once)
	agent_safe approve "$WAITS" --by tester >/dev/null
	agent_safe run "$WAITS" --execute >/dev/null 2>&1 &
	wait_until 20 logged "\"exec.intent\",\"d\":{\"job\":\"$WAITS\""
}

stop_daemons() {
	local pids
	mapfile -t pids < <(workspace_pids | cut -d' ' -f2)
	kill "-$1" "${pids[@]}"
	wait_gone 100 "${pids[@]}"
	courier_mode w1
}

@test "require exec: daemons that end while a run waits for its witness lose nothing: it goes back to its place, the attempt unspent" {
	local signal
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 60 }'
	courier_start
	for signal in TERM KILL; do
		waits_for_witness
		stop_daemons "$signal"
		agent_safe show "$WAITS" | jq -e '.status == "queued" and .approval_status == "approved" and
		    .error_class == null and .attempts == 0 and
		    (.attempts_log | length == 1 and (.[0] | .outcome == "refused" and .stage == "stopped"))'
		agent_safe run "$WAITS" --execute | jq -e '.status == "succeeded" and .attempts == 1 and
		    .result.stdout == "once\n" and (.attempts_log | length == 2)'
		cat "$WS_STATE"/audit/log/seg-* | jq -es --arg job "$WAITS" '[.[] | select(.d.job == $job)] |
		    [.[] | select(.type | startswith("exec.")).type] ==
		        ["exec.intent", "exec.refused", "exec.intent", "exec.start", "exec.output", "exec.exit"] and
		    ([.[] | select(.type == "job.queued").d.cause] == ["approved", "returned"]) and
		    ([.[] | select(.type == "job.finished").d | [.status, .stage]] == [["queued", "stopped"], ["succeeded", null]])'
	done
	agent_safe audit-verify | jq -e .valid
}

@test "require exec: a job whose run was never begun still expires" {
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 60 }'
	courier_start
	waits_for_witness --expires 3600
	stop_daemons KILL
	agent_safe show "$WAITS" | jq -e '.status == "queued" and .attempts == 0'
	agent_safe serve --stop >/dev/null
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("UPDATE jobs SET expires_us = expires_us - 3600000000")
	db.commit()
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	agent_safe show "$WAITS" | jq -e '.status == "cancelled" and .error_class == "expired"'
}

@test "require exec: one that was cancelled meanwhile is cancelled, and not run again" {
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 60 }'
	courier_start
	waits_for_witness
	agent_safe cancel "$WAITS" >/dev/null 2>&1 &
	wait_until 20 logged '"job.cancel_requested"'
	stop_daemons KILL
	agent_safe show "$WAITS" | jq -e '.status == "cancelled" and .error_class == null'
	refute logged '"exec.start"'
}

@test "require exec: refused, on record, and the daemons die before the broker has heard of it: it stays refused" {
	local broker
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 4 }'
	courier_start
	broker=$(agent_safe status | jq -er .pids.broker)
	mapfile -t pids < <(workspace_pids | cut -d' ' -f2)
	waits_for_witness
	kill -STOP "$broker"
	wait_until 60 logged '"exec.refused"'
	kill -KILL "${pids[@]}"
	wait_gone 100 "${pids[@]}"
	courier_mode w1
	agent_safe show "$WAITS" | jq -e '.status == "failed" and .attempts == 1 and
	    .result.stage == "audit" and .attempts_log[0].stage == "audit"'
}
