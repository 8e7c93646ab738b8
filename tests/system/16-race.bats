#!/usr/bin/env bats
# Many who start a workspace at once end up with one trio.

load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
}

teardown() { workspace_clean; }

@test "six command lines at once, one trio" {
	local n
	for n in 1 2 3 4 5 6; do
		agent_safe status >"$BATS_TEST_TMPDIR/$n" 2>"$BATS_TEST_TMPDIR/$n.err" &
	done
	wait
	for n in 1 2 3 4 5 6; do
		jq -e .pids "$BATS_TEST_TMPDIR/$n" || { cat "$BATS_TEST_TMPDIR/$n.err"; false; }
	done
	[ "$(jq -c .pids "$BATS_TEST_TMPDIR"/[1-6] | sort -u | wc -l)" = 1 ]
	for program in broker auditor executor; do
		[ "$(running "$WS_BIN/agent-safe-$program" | wc -l)" = 1 ]
	done
	[ -z "$(running "$WS_BIN/agent-safe-launch")" ]
}

@test "forty proposals of one key at once are one job" {
	local n
	workspace_start
	for n in $(seq 40); do
		agent_safe_as "$WS_UID" submit --key same --cwd "$WS/proj" -- true >"$BATS_TEST_TMPDIR/$n" 2>/dev/null &
	done
	wait
	[ "$(jq -r .id "$BATS_TEST_TMPDIR"/[0-9]* | sort -u | wc -l)" = 1 ]
	[ "$(jq -r 'select(.created) | .id' "$BATS_TEST_TMPDIR"/[0-9]* | wc -l)" = 1 ]
}

@test "one running trio keeps the state: a second launch says so and starts nothing" {
	local before
	before=$(workspace_pids)
	"$WS_BIN/agent-safe-launch" --workspace "$WS" --state "$WS_STATE" 3>&- 4>&-
	[ "$(workspace_pids)" = "$before" ]
}
