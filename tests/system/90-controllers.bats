#!/usr/bin/env bats
# What rests on the controllers of cgroup v2.  Where they are missing rlimits stand in and the result
# says so; these tests then skip, each with the controller that it misses.
load ../support/workspace
load ../support/procs
bats_require_minimum_version 1.5.0

setup() {
	need_root
	workspace_make
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [
	    { "program": "python3", "limits": { "memory_bytes": 67108864, "processes": 16, "cpu_percent": 50 } }
	  ]
	}
	END
	workspace_start
}
teardown() { workspace_clean; }

# A job's layers are what the executor found at its start.
need_layer() {
	agent_safe status | jq -e --arg layer "$1" '.layers | index($layer)' >/dev/null ||
	    skip "no controller $2 in cgroup v2 on this machine"
}

@test "more memory than the limit: oom, and the whole job is dead" {
	need_layer cgroup_memory memory
	run -1 run_job python3 -c 'b = bytearray(300 << 20); print(len(b))'
	jq -e '.status == "failed" and .error_class == "oom"' <<<"$output"
}

@test "more processes than the limit: fork is refused, the job goes on" {
	need_layer cgroup_pids pids
	run -0 run_job python3 -c '
import os
n = 0
try:
    while n < 64:
        if os.fork() == 0: __import__("signal").pause()
        n += 1
except OSError:
    print("refused", n < 16)
'
	jq -e '.result.stdout == "refused True\n"' <<<"$output"
}

# What the kernel counts in the cgroup of the only job.
throttled() {
	find /sys/fs/cgroup -path "*${WS_TOP##*/}*/jobs/*/cpu.stat" -exec cat {} + | awk '$1 == "nr_throttled" { n += $2 } END { exit n == 0 }'
}

@test "more of a processor than its part: the kernel holds the job back, and it can still be cancelled" {
	local id
	need_layer cgroup_cpu cpu
	id=$(propose -- python3 -c 'while True: pass')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/run" 2>&1 3>&- 4>&- &
	wait_until 50 throttled
	agent_safe cancel "$id" >/dev/null
	wait
	agent_safe show "$id" | jq -e '.attempts_log[0] | .outcome == "cancelled" and (.layers | index("cgroup_cpu"))'
}

@test "all memory of a temporary folder counts as the job's" {
	need_layer cgroup_memory memory
	run -1 run_job python3 -c '
with open("/tmp/x", "wb") as f:
    while True: f.write(bytes(1 << 20))
'
	jq -e '.error_class == "oom" or (.result.stderr | test("No space left"))' <<<"$output"
}
