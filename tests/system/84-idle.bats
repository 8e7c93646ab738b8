#!/usr/bin/env bats
# A trio that has nothing to do costs nothing: no wake-ups, little memory.

load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() { workspace_clean; }

switches() {
	local pid sum=0
	for pid in $pids; do
		sum=$((sum + $(status_of "$pid" voluntary_ctxt_switches) + $(status_of "$pid" nonvoluntary_ctxt_switches)))
	done
	echo $sum
}

@test "no wake-ups over ten seconds, and the three together below 12 MB of memory of their own" {
	local pids before after pss
	run_job true >/dev/null
	pids=$(workspace_pids | sed 's/.* //')
	sleep 3 # the seal that follows, the database's tidying up
	before=$(switches)
	sleep 10
	after=$(switches)
	echo "switches $before $after"
	[ "$after" = "$before" ]
	pss=$(for pid in $pids; do cat "/proc/$pid/smaps_rollup"; done | awk '$1 == "Pss:" { sum += $2 } END { print sum }')
	echo "Pss $pss kB"
	[ "$pss" -gt 100 ]
	[ "$pss" -lt 12288 ]
}
