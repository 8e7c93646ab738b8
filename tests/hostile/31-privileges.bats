#!/usr/bin/env bats
# The executor with one capability less than it keeps (measures/less.c): what fails then.

load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
	cp "$BUILD_DIR/measures/less" "$WS_BIN/agent-safe-executor"
}

teardown() { workspace_clean; }

# A job that is ended by TERM, and says so: it needs all of them.
run_without() {
	local id
	echo "$1" >"$WS_BIN/less"
	workspace_start
	id=$(propose --timeout 1 -- sh -c 'trap "echo bye >bye; exit 0" TERM; sleep 20')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" || [ $? = 1 ]
}

refused_at() {
	jq -e --arg stage "$1" '.attempts_log[-1] | .outcome == "refused" and .stage == $stage and
	    .error == "Operation not permitted"' "$BATS_TEST_TMPDIR/job"
}

@test "with all five a job is started, hears TERM and is ended" {
	run_without -1
	jq -e '.error_class == "timeout"' "$BATS_TEST_TMPDIR/job"
	[ -e "$WS/proj/bye" ]
}

@test "without SYS_ADMIN no cage is built" {
	run_without 21
	refused_at mount
}

@test "without SETPCAP no job's securebits are locked" {
	run_without 8
	refused_at identity
}

@test "without KILL there is no init that could forward a signal to its job" {
	run_without 5
	refused_at identity
}

# Only where the policy gives somebody a network is it kept at all.
@test "without NET_ADMIN no job has a loopback" {
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh", "cage": { "network": "loopback" } }, { "program": "true" } ] }
	END
	run_without 12
	refused_at namespace
	run_job true | jq -e '.status == "succeeded"'
	workspace_stop
	run_without -1
	jq -e '.error_class == "timeout"' "$BATS_TEST_TMPDIR/job"
}

# These two fail before a job can: the executor opens each slot's run folder under that slot's uid.
without_at_start() {
	echo "$1" >"$WS_BIN/less"
	run agent_safe status
	[ "$status" = 2 ]
	jq -e '.error.code == "cage_unavailable" and (.error.message | test("runs of slot 0: Operation not permitted"))' \
	    <<<"$output"
}

@test "without SETUID no slot's files are reached" { without_at_start 7; }

@test "without SETGID no slot's files are reached" { without_at_start 6; }
