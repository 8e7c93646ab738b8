#!/usr/bin/env bats
# Each measure of each process failing: it ends rather than serve with less, and the CLI says why.
#
# What fails is made to by a system call filter around the shipped programs (measures/fail.c): the call
# answers an errno, or claims success without effect, where the effect can be read back.  Not tried like
# this, because a filter cannot see it: calls told apart only by what their pointers lead to.

load ../support/workspace
load ../support/procs
load ../support/measures

# The numbers of prctl's options (linux/prctl.h), of limits and of errnos.
SET_DUMPABLE=4 GET_DUMPABLE=3 SET_SECUREBITS=28 GET_SECUREBITS=27 SET_PDEATHSIG=1 SET_NNP=38 GET_NNP=39
AMBIENT=47 BSET_DROP=24 BSET_READ=23 GET_SECCOMP=21
CORE=4 FILES=7 PROCESSES=6 FILE_SIZE=1
EPERM=1 NO_CALL=38 CLAIM=0

setup() {
	workspace_make
}

teardown() { workspace_clean; }

# What broker, auditor and executor have in common; $1: how it names itself.
common_measures() {
	measures_fail "prctl 0 $SET_NNP $EPERM" && start_fails_with "$1: .*(PR_SET_NO_NEW_PRIVS|no_new_privs)"
	measures_fail "prctl 0 $GET_NNP $CLAIM" && start_fails_with "$1: .*no_new_privs did not hold"
	measures_fail "prctl 0 $SET_DUMPABLE $EPERM" && start_fails_with "$1: .*PR_SET_DUMPABLE"
	measures_fail "prctl 0 $SET_DUMPABLE $CLAIM" && start_fails_with "$1: .*still dumpable"
	measures_fail "prctl 0 $AMBIENT $EPERM" && start_fails_with "$1: .*PR_CAP_AMBIENT_CLEAR_ALL"
	measures_fail "prctl 0 $BSET_READ $EPERM" && start_fails_with "$1: .*PR_CAPBSET_READ"
	measures_fail "capget - 0 $EPERM" && start_fails_with "$1: .*capget"
	measures_fail "capset - 0 $EPERM" && start_fails_with "$1: .*capset"
	measures_fail "prlimit64 1 $CORE $EPERM" && start_fails_with "$1: .*(setrlimit|getrlimit) $CORE"
	measures_fail "prlimit64 1 $CORE $CLAIM" && start_fails_with "$1: .*limit $CORE did not hold"
}

# Those who are behind Landlock and a filter from seal.c.
closed_measures() {
	measures_fail "landlock_create_ruleset - 0 $NO_CALL" && start_fails_with "$1: .*Landlock ABI is (-1|0),"
	measures_fail "landlock_create_ruleset 1 8 $EPERM" "landlock_create_ruleset 1 16 $EPERM" \
	    "landlock_create_ruleset 1 24 $EPERM" && start_fails_with "$1: .*landlock_create_ruleset"
	measures_fail "landlock_add_rule - 0 $EPERM" && start_fails_with "$1: .*landlock_add_rule"
	measures_fail "landlock_restrict_self - 0 $EPERM" && start_fails_with "$1: .*landlock_restrict_self"
	measures_fail "landlock_restrict_self - 0 $CLAIM" && start_fails_with "$1: .*Landlock did not hold"
	measures_fail "seccomp - 0 $NO_CALL" && start_fails_with "$1: .*seccomp"
	measures_fail "seccomp - 0 $CLAIM" && start_fails_with "$1: .*filter in force is not ours"
	measures_fail "prctl 0 $GET_SECCOMP $CLAIM" && start_fails_with "$1: .*no filter is in force"
}

@test "with the same programs and nothing failing the trio starts" {
	measures_wrap broker executor auditor
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
}

@test "broker: each measure failing ends it before it serves, and the error names the measure" {
	measures_wrap broker
	common_measures broker
	closed_measures broker
}

@test "auditor: each measure failing ends it before it serves, and the error names the measure" {
	measures_wrap auditor
	common_measures auditor
	closed_measures auditor
	measures_fail "prlimit64 1 $PROCESSES $CLAIM" && start_fails_with "auditor: .*limit $PROCESSES did not hold"
	measures_fail "prlimit64 1 $FILES $CLAIM" && start_fails_with "auditor: .*limit $FILES did not hold"
}

@test "executor: each measure failing ends it before it serves, and the error names the measure" {
	measures_wrap executor
	common_measures executor
	measures_fail "landlock_create_ruleset - 0 $NO_CALL" && start_fails_with "executor: .*Landlock ABI (-1|0):"
	measures_fail "seccomp - 0 $NO_CALL" && start_fails_with "executor: .*filter"
	measures_fail "seccomp - 0 $CLAIM" && start_fails_with "executor: .*filter"
	measures_fail "open_tree - 0 $EPERM" && start_fails_with "executor"
	measures_fail "mount_setattr - 0 $EPERM" && start_fails_with "executor"
	measures_fail "mount_setattr - 0 $CLAIM" && start_fails_with "executor: .*(template|attach)"
	measures_fail "move_mount - 0 $EPERM" && start_fails_with "executor"
	measures_fail "mount - 0 $EPERM" && start_fails_with "executor"
}

@test "launch, as root: each step failing refuses the start" {
	need_root
	measures_wrap launch
	local call
	for call in setgroups setresuid setresgid; do
		measures_fail "$call - 0 $EPERM" && start_fails_with "(change the uid|change to the executor's uid)"
	done
	measures_fail "setresuid - 0 $CLAIM" && start_fails_with "uid"
	measures_fail "prctl 0 $BSET_DROP $EPERM" && start_fails_with "bounding set"
	measures_fail "unshare - 0 $EPERM" && start_fails_with "executor cannot start: (mount|user) namespace"
	measures_fail "mount - 0 $EPERM" && start_fails_with "executor cannot start"
	measures_fail "mount_setattr - 0 $NO_CALL" && start_fails_with "."
}

# --- an ordinary user: the measures that root's launch has already taken --------------------------------

as_ordinary_user() {
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
}

@test "an ordinary user's trio: no user namespace, bounding or capability set that does not go is refused" {
	local room
	as_ordinary_user
	measures_wrap broker executor auditor
	for room in broker auditor executor; do
		# The other two are not wrapped in anything that fails.
		for other in broker executor auditor; do
			cp "$BUILD_DIR/agent-safe-$other" "$WS_BIN/agent-safe-$other"
		done
		cp "$BUILD_DIR/measures/fail" "$WS_BIN/agent-safe-$room"
		measures_fail "unshare - 0 $EPERM" && start_fails_with "$room: .*namespace"
		measures_fail "prctl 0 $BSET_DROP $EPERM" && start_fails_with "$room: .*PR_CAPBSET_DROP"
		measures_fail "prctl 0 $BSET_DROP $CLAIM" && start_fails_with "$room: .*bounding set did not become empty"
		measures_fail "capset - 0 $CLAIM" && start_fails_with "$room: .*capabilities are"
	done
}

# --- the cage ------------------------------------------------------------------------------------------

# run_marker: a job that would leave a file behind; the job is in $BATS_TEST_TMPDIR/job.
run_marker() {
	local id
	rm -f "$WS/proj/ran"
	id=$(propose -- sh -c 'echo ran >ran')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" || [ $? = 1 ]
}

# refused STAGE LINE...: the job is refused there, and nothing ran.
refused() {
	local stage=$1
	shift
	measures_fail "$@"
	workspace_start
	run_marker
	jq -e --arg stage "$stage" '.attempts_log[-1] | .outcome == "refused" and .stage == $stage and .error != null' \
	    "$BATS_TEST_TMPDIR/job" || {
		echo "not $stage: $* gave: $(command jq -c '.attempts_log[-1] | [.outcome, .stage, .error]' "$BATS_TEST_TMPDIR/job")"
		return 1
	}
	jq -e '.status == "failed" and .error_class == "spawn_error"' "$BATS_TEST_TMPDIR/job"
	[ ! -e "$WS/proj/ran" ]
	workspace_stop
}

find_slot() {
	workspace_start
	INIT=$(stat -c %u "$WS_STATE/runs/0")
	JOB=$((INIT - 1))
	workspace_stop
}

@test "a cage that cannot be built runs nothing: refused, with the stage and the errno" {
	need_root
	measures_wrap executor
	find_slot
	refused mount "pivot_root - 0 $EPERM"
	refused mount "pivot_root - 0 $CLAIM"
	refused mount "umount2 - 0 $EPERM"
	refused mount "umount2 - 0 $CLAIM"
	refused namespace "sethostname - 0 $EPERM"
	refused namespace "keyctl - 0 $EPERM"
	refused namespace "setsid - 0 $EPERM"
	refused identity "prctl 0 $SET_PDEATHSIG $EPERM"
	refused identity "setresuid 0 $INIT $EPERM"
	refused identity "setresuid 0 $INIT $CLAIM"
}

@test "a job that cannot give up its privileges does not run: refused, with the stage and the errno" {
	need_root
	measures_wrap executor
	find_slot
	refused identity "setresuid 0 $JOB $EPERM"
	refused identity "setresuid 0 $JOB $CLAIM"
	refused identity "setresgid 0 $JOB $EPERM"
	refused identity "setresgid 0 $JOB $CLAIM"
	refused identity "setgroups - 0 $EPERM"
	refused identity "prctl 0 $SET_SECUREBITS $EPERM"
	refused identity "prctl 0 $SET_SECUREBITS $CLAIM"
	refused identity "prctl 0 $GET_SECUREBITS $CLAIM"
	refused limits "prlimit64 1 $PROCESSES $EPERM"
	refused limits "prlimit64 1 $PROCESSES $CLAIM"
}

@test "a job without Landlock or its filters does not run, also when the calls only claim to have worked" {
	local call
	need_root
	cp "$BUILD_DIR/measures/agent-safe-executor" "$WS_BIN/"
	# the number of the call, which time, the answer
	for answer in $EPERM $CLAIM; do
		refused landlock "$(number_of landlock_restrict_self) 1 $answer"
		refused seccomp "$(number_of seccomp) 1 $answer"
		refused seccomp "$(number_of seccomp) 2 $answer"
	done
	refused landlock "$(number_of landlock_create_ruleset) 1 $EPERM"
	refused landlock "$(number_of landlock_add_rule) 1 $EPERM"
	# A domain without its part of the network, or without its scopes, is told from a whole one.
	refused landlock "$(number_of landlock_create_ruleset) 1 -1"
	refused landlock "$(number_of landlock_create_ruleset) 1 -2"
	refused identity "$(number_of capset) 1 $EPERM"
	refused identity "$(number_of getresuid) 1 $EPERM"
	measures_fail
	workspace_start
	run_marker
	jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/job"
}

@test "in profile debug neither, when the filter that tells the keeper fails or only claims to have worked" {
	local policy
	need_root
	cp "$BUILD_DIR/measures/agent-safe-executor" "$WS_BIN/"
	policy=$(jq '.cage = {"profile": "debug"}' "$WS/agent-safe-policy.json")
	workspace_policy <<<"$policy"
	refused seccomp "$(number_of seccomp) 1 $EPERM"
	refused seccomp "$(number_of seccomp) 1 $CLAIM"
	refused landlock "$(number_of landlock_restrict_self) 1 $CLAIM"
	measures_fail
	workspace_start
	run_marker
	jq -e '.status == "succeeded" and .result.denied_calls >= 0' "$BATS_TEST_TMPDIR/job"
}

number_of() { echo "#include <sys/syscall.h>
	SYS_$1" | cc -E -x c - | tail -1 | tr -d '[:space:]'; }

# --- the keeper ----------------------------------------------------------------------------------------

# Init waits for the keeper's word, so nothing runs; nobody but the keeper could have told so: lost.
@test "keeper: each measure failing ends it and its job, which does not run, is lost and on record" {
	local spec
	measures_wrap keeper
	for spec in "prctl 0 $GET_NNP $CLAIM|no_new_privs" "prctl 0 $SET_DUMPABLE $EPERM|PR_SET_DUMPABLE" \
	    "prctl 0 $SET_DUMPABLE $CLAIM|still dumpable" "capset - 0 $EPERM|capset" "capget - 0 $EPERM|capget" \
	    "prlimit64 1 $FILES $CLAIM|limit $FILES" "landlock_restrict_self - 0 $EPERM|landlock_restrict_self" \
	    "landlock_restrict_self - 0 $CLAIM|Landlock did not hold" "seccomp - 0 $NO_CALL|seccomp" \
	    "seccomp - 0 $CLAIM|not ours"; do
		measures_fail "${spec%|*}"
		workspace_start
		run_marker
		jq -e '.status == "lost" and .error_class == "unknown_outcome"' "$BATS_TEST_TMPDIR/job"
		[ ! -e "$WS/proj/ran" ]
		grep -q "<2>keeper: .*${spec#*|}" "$WS_STATE/trio.log"
		: >"$WS_STATE/trio.log"
	done
	agent_safe audit-verify | jq -e .valid
}
