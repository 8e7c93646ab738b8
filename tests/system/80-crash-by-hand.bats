#!/usr/bin/env bats
# The trio, keepers and clients die at random and at named points; nothing is lost and nothing runs twice.
# Here clients run what is approved, and die too.
load ../support/workspace
load ../support/procs
load ../support/crash

setup() {
	need_root
	workspace_make
}
teardown() {
	workspace_clean
}

# With the other file 200 rounds; a busy machine does what fits into the time and says how many.
@test "nor is it where clients run what is approved, and die while they wait" {
	crash_rounds 100 110
}
