#!/usr/bin/env bats
# Older kernels, as far as their answers can be stood in for: Landlock ABI 0 to 9 (measures/landlock.c in
# tests/hostile), and calls that a kernel below the floor does not have (measures/fail.c there).
#
# Not stood in for, because a filter sees no pointers and no kernel does less than it can: single flags of clone3
# and mount_setattr, filesystems without idmapped mounts before 6.3 (05-launch has one that never has them),
# cgroup files that came later (memory.peak: a run says 0 then, unit/keeper_outcome).

load ../support/workspace
load ../support/procs
load ../support/jobs
load ../support/hostile
load ../support/measures

setup() { need_root; }

teardown() {
	hostile_host_end
	workspace_clean
}

kernel() {
	workspace_stop
	echo "$1" >"$WS_BIN/abi"
}

old_programs() { cp "$BUILD_DIR"/kernels/agent-safe* "$WS_BIN/"; }

make_with_profiles() {
	workspace_make
	old_programs
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "true" },
	      { "program": "echo", "cage": { "profile": "compat" } },
	      { "program": "cat", "cage": { "profile": "strict" } } ] }
	END
}

explain() { agent_safe policy explain --cwd "$WS/proj" -- "$@"; }

@test "Landlock missing: nothing starts, the error says so, doctor too, with exit status 2" {
	make_with_profiles
	kernel 0
	run agent_safe status
	[ "$status" = 2 ] || [ "$status" = 3 ]
	jq -e '.error.message | test("Landlock")' <<<"$output"
	run agent_safe doctor
	[ "$status" = 2 ]
	jq -e '.ok == false and (.checks[] | select(.name == "landlock") | .state == "missing" and (.remedy | test("lsm=")))' <<<"$output"
}

@test "ABI 1 (5.14): compat runs, default and strict are refused with doctor's name" {
	make_with_profiles
	kernel 1
	workspace_start
	job -- echo hello
	job_is '.status == "succeeded" and .result.stdout == "hello\n"'
	explain true | jq -e '.allowed == false and (.reason | test("default .*needs Landlock ABI 2, this kernel has 1.*doctor"))'
	explain cat | jq -e '.allowed == false and (.reason | test("strict .*needs Landlock ABI 6, this kernel has 1"))'
	run agent_safe doctor
	[ "$status" = 0 ]
	jq -e '.ok and (.checks[] | select(.name == "landlock") | .state == "less" and
	    (.found | test("refused profiles: strict default agent")))' <<<"$output"
	[ "$(jq .landlock_abi <<<"$(agent_safe status)")" = 1 ]
	grep -h '"exec.start"' "$WS_STATE"/audit/log/seg-* | command jq -se 'all(.d.landlock_abi == 1)'
}

# What the cage in words says that this ABI does not limit.
unlimited() { explain true | jq -er .cage | sed -n 's/.*not limited by it on this kernel://p'; }

# A later one than this kernel's own is asked for rights that it does not have: what is said of those is
# unit/doctor_probe's.
@test "ABI 2 to this kernel's: default runs, says what is not limited, and the record has the number" {
	local row abi own
	make_with_profiles
	own=$(agent_safe doctor | command jq -r '.checks[] | select(.name == "landlock") | .found | match("[0-9]+").string')
	for row in '2: truncate tcp ioctl-dev signals,sockets' '3: tcp ioctl-dev signals,sockets' \
	    '4: ioctl-dev signals,sockets' '5: signals,sockets' '6: nothing of what the profile wants' \
	    '7: nothing of what the profile wants' '8: nothing of what the profile wants' '9: nothing of what the profile wants'; do
		abi=${row%%:*}
		[ "$abi" -le "$own" ] || continue
		kernel "$abi"
		workspace_start
		job -- true
		job_is '.status == "succeeded"'
		[ "$(unlimited | xargs)" = "${row#*: }" ] || { echo "$abi: $(unlimited)"; return 1; }
		[ "$(explain cat | jq .allowed)" = "$([ "$abi" -ge 6 ] && echo true || echo false)" ]
		[ "$(grep -h '"exec.start"' "$WS_STATE"/audit/log/seg-* | tail -n 1 | command jq .d.landlock_abi)" = "$abi" ]
	done
}

@test "the hostile attempts are contained with what ABI 2 (5.19, 6.1) and ABI 5 (6.10) give" {
	local abi
	hostile_make
	old_programs
	for abi in 2 5; do
		kernel $abi
		workspace_start
		hostile_host
		hostile_attempts
		hostile_host_end
	done
}

# --- calls that older kernels do not have ------------------------------------------------------------------

NO_CALL=38

@test "no mount_setattr (before 5.12), no close_range (5.9): nothing starts, and the error names the call" {
	workspace_make
	measures_wrap executor
	measures_fail "mount_setattr - 0 $NO_CALL" && start_fails_with "executor: .*Function not implemented"
	measures_fail "close_range - 0 $NO_CALL" && start_fails_with "executor: close_range: Function not implemented"
}

# A job that was approved on a kernel that has the call.
refused_without() {
	local id
	measures_fail
	workspace_start
	id=$(propose -- sh -c 'echo ran >ran')
	agent_safe approve "$id" --by tester >/dev/null
	workspace_stop
	measures_fail "$1 - 0 $NO_CALL"
	workspace_start
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" 2>&1 || true
	[ ! -e "$WS/proj/ran" ]
	refute grep -q '"status": *"succeeded"' "$BATS_TEST_TMPDIR/job"
	workspace_stop
}

@test "no clone3 (before 5.3), no openat2 (5.6): a job is refused, not run with less" {
	workspace_make
	measures_wrap executor
	refused_without clone3
	cat "$BATS_TEST_TMPDIR/job"
	refused_without openat2
	cat "$BATS_TEST_TMPDIR/job"
}
