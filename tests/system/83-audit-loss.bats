#!/usr/bin/env bats
# The auditor is gone and a job runs: queue.on_audit_loss says what happens to it.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
}
teardown() { workspace_clean; }

# A job that writes a line every tenth of a second, $2 lines in all; then the trio is killed.
begin() {
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh" } ],
	  "limits": { "timeout_seconds": 60 },
	  "queue": { $1 }
	}
	END
	workspace_start
	id=$(propose --timeout "$3" -- sh -c "i=0; while [ \$i -lt $2 ]; do i=\$((i+1)); echo \$i >>ticks; sleep 0.1; done")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- &
	wait_until 5 ticks_more_than 2
	kill -KILL $(workspace_pids | sed 's/.* //')
	wait || true
}
ticks() { cat "$WS/proj/ticks" 2>/dev/null | wc -l; }
ticks_more_than() { [ "$(ticks)" -gt "$1" ]; }
stands_still() {
	local before
	sleep 0.3
	before=$(ticks)
	sleep 0.7
	[ "$(ticks)" = "$before" ]
}
is() { [ "$(agent_safe show "$id" | jq -r .status)" = "$1" ]; }

@test "freeze: the job stands still at once, its time too, and it goes on with the next trio" {
	begin '"on_audit_loss": "freeze"' 20 4
	stands_still
	sleep 3
	stands_still
	workspace_start
	wait_until 8 is succeeded
	[ "$(ticks)" = 20 ]
	agent_safe audit-verify | jq -e .valid
}

@test "by default it goes on for ten seconds, then stands still, then goes on with the next trio" {
	begin '' 150 50
	sleep 6
	ticks_more_than 40
	sleep 6
	stands_still
	[ "$(ticks)" -lt 140 ]
	workspace_start
	wait_until 15 is succeeded
	[ "$(ticks)" = 150 ]
}

@test "continue: it goes on, and its end is collected" {
	begin '"on_audit_loss": "continue"' 20 30
	wait_until 8 ticks_more_than 19
	workspace_start
	wait_until 5 is succeeded
}

@test "kill: it is ended, and recorded as cancelled" {
	begin '"on_audit_loss": "kill"' 200 30
	no_keeper() { [ -z "$(running "$WS_BIN/agent-safe-keeper")" ]; }
	wait_until 8 no_keeper
	workspace_start
	wait_until 5 is cancelled
	[ "$(ticks)" -lt 100 ]
}

@test "a frozen job can be cancelled by the next trio" {
	begin '"on_audit_loss": "freeze"' 200 30
	stands_still
	workspace_start
	agent_safe cancel "$id" | jq -e '.status == "cancelled"'
}
