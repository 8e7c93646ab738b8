#!/usr/bin/env bats
# Workspaces in places that a cage has as something else.

load ../support/workspace

teardown() { workspace_clean; }

@test "a workspace below /var/tmp, which a cage has as a link, runs its jobs there" {
	need_root
	TMPDIR=/var/tmp workspace_make
	workspace_start
	run_job sh -c 'pwd; echo here >made' | jq -e --arg at "$WS/proj" '.status == "succeeded" and .result.stdout == $at + "\n"'
	[ "$(cat "$WS/proj/made")" = here ]
}
