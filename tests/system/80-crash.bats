#!/usr/bin/env bats
# The trio, keepers and clients die at random and at named points; nothing is lost and nothing runs twice.
# Here the broker's own workers run what is approved.
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
@test "no acknowledged job or decision is lost and no run happens twice, whoever dies when" {
	sed -i 's/"version": 2,/"version": 2, "queue": { "workers": 4 },/' "$WS/agent-safe-policy.json"
	crash_rounds 100 110 --workers
}
