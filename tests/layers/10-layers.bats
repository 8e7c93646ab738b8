#!/usr/bin/env bats
# Each layer of the cage taken away (layers.c beside this file): somebody must notice.
#
# Who notices is either a read-back, and then the job is refused ("refused: STAGE"), or an attempt of the probe
# in the cage, by its name, that is then not refused as it should be.  A layer that something else covers up is
# uncovered first: "plant_..." puts there what only that layer removes, "check_..." takes its read-back away.

load ../support/workspace
load ../support/procs
load ../support/hostile
load ../support/layers
load ../support/jobs

setup_file() {
	is_root || return 0
	layers_make
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() {
	need_root
	hostile_host
}

teardown() { hostile_host_end; }

unnoticed() {
	layers_without "$@"
	[ ! -s "$NOTICED" ] || { cat "$NOTICED"; return 1; }
}

@test "with all layers, and with what is planted, nothing is noticed" {
	unnoticed none
	unnoticed plant_descriptor plant_sharing plant_group
}

@test "namespaces: each one missing is read back, and two of them are seen from inside too" {
	noticed 'refused: proc' pid_namespace
	noticed 'refused: namespace' mount_namespace
	noticed 'refused: namespace' network_namespace
	noticed 'refused: namespace' ipc_namespace
	noticed 'refused: namespace' uts_namespace
	noticed 'refused: namespace' cgroup_namespace
	noticed 'see where the cgroup lies' cgroup_namespace check_namespaces
}

@test "the cgroup: a job beside it is refused" {
	[ -n "$(find /sys/fs/cgroup -maxdepth 2 -name cgroup.kill -o -maxdepth 2 -name cgroup.subtree_control | head -n 1)" ] ||
	    skip "no cgroup of version 2 here"
	noticed 'refused: cgroup' into_cgroup
}

@test "mounts: read-only, nosuid, nodev, noexec, private, the masks of proc, the new root" {
	noticed 'start: executor: template: /usr: Operation not permitted' read_only
	noticed 'start: executor: template: /usr: Operation not permitted' nosuid
	noticed 'start: executor: template: /usr: Operation not permitted' nodev
	noticed 'start: executor: template: /dev/null: Operation not permitted' noexec
	noticed 'refused: mount' private plant_sharing
	noticed 'read what is of the host' proc_masks
	noticed 'find /proc/sys writable' proc_sys
	noticed 'refused: mount' pivot
}

@test "descriptors, session, keyring, signals" {
	noticed 'find a descriptor that was left open' worker_descriptors plant_descriptor
	noticed 'refused: namespace' init_session
	noticed 'be in a session of somebody else' session
	noticed 'refused: namespace' keyring
	noticed 'inherit a signal that is ignored or blocked' signals
}

@test "uids, groups, capabilities, securebits, no_new_privs" {
	noticed 'refused: identity' uid
	noticed 'refused: identity' gid
	noticed 'refused: identity' init_uid
	noticed 'refused: identity' groups plant_group
	noticed 'refused: identity' capset
	noticed 'refused: identity' init_capset
	noticed 'refused: identity' securebits
	noticed 'refused: identity' dumpable
	noticed 'refused: identity' death_signal
	cp "$BUILD_DIR"/layers/agent-safe "$BUILD_DIR"/layers/agent-safe-launch "$WS_BIN/"
	noticed 'start: executor: confine: no_new_privs did not hold' no_new_privs
	cp "$BUILD_DIR"/agent-safe "$BUILD_DIR"/agent-safe-launch "$WS_BIN/"
}

@test "Landlock: the whole layer, and the call alone" {
	noticed 'read what no Landlock rule covers' landlock
	noticed 'refused: landlock' landlock_call
}

@test "system call filters: both programs, and each alone" {
	noticed 'fsopen' filters
	noticed 'set-uid by chmod' filters
	noticed 'clone a user namespace' filter_arguments
	noticed 'set-uid by openat2' filter_numbers
}

@test "limits" {
	noticed 'make processes without end' rlimits
}

@test "protected paths: what exists is covered, what does not is looked for" {
	noticed 'write a protected file' protect_cover
	local marker="$WS_TOP/planted"
	echo protect_inspect >"$WS_BIN/layer"
	workspace_stop
	layers_refresh
	workspace_start
	hostile_run -- hooks "$marker"
	jq -e '.status == "succeeded"' "$JOB"
	layers_row protect_inspect "a job that made .git/hooks has succeeded"
}

# The probe's errand writes .git/config and .git/hooks in a directory below its own.
planted_below() {
	echo "$1" >"$WS_BIN/layer"
	workspace_stop
	layers_refresh
	workspace_start
	hostile_run -- hooks-below "$WS_TOP/planted"
}

@test "protected paths in the depths: what exists is covered, what does not is looked for" {
	planted_below none
	jq -e '.attempts_log[-1].outcome == "violated"' "$JOB"
	planted_below nested_inspect
	jq -e '.status == "succeeded"' "$JOB"
	layers_row nested_inspect "a job that made below/.git/hooks has succeeded"
	# now it is there
	planted_below none
	jq -e '.attempts_log[-1].outcome == "exited"' "$JOB"
	planted_below nested_cover
	jq -e '.status == "succeeded"' "$JOB"
	layers_row nested_cover "a job that wrote to below/.git/hooks has succeeded"
}

# --- what only somebody outside can see ------------------------------------------------------------------

# While a job runs: sets init and executor.
while_running() {
	local id
	workspace_stop
	layers_refresh
	workspace_start
	id=$(propose -- "$WS/proj/probe" sleep here)
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 3>&- 4>&- &
	RUN=$!
	wait_until 10 init_has_a_job
	executor=$(workspace_pids | sed -n 's/^executor //p')
	STOP="agent_safe cancel $id"
}

init_has_a_job() {
	local keeper
	for keeper in $(running "$WS_BIN/agent-safe-keeper"); do
		init=$(children_of "$keeper" | head -n 1)
		[ -n "$init" ] && [ -n "$(children_of "$init")" ] || continue
		[ "$(readlink "/proc/$(children_of "$init" | head -n 1)/exe")" != "$WS/proj/probe" ] || return 0
	done
	return 1
}

end_running() {
	$STOP >/dev/null
	wait "$RUN" || true
}

# What is to be seen of them; the same question with the layer and without it.
filters_of() { sed -n 's/^Seccomp_filters:[[:space:]]*//p' "/proc/$1/status"; }
directories_of() { find "/proc/$1/fd" -lname '/' | wc -l; }

outside() {
	echo "$1" >"$WS_BIN/layer"
	while_running
	SEEN="$(status_of "$executor" Seccomp) $(($(filters_of "$init") - $(filters_of "$executor"))) $(directories_of "$init")"
	end_running
}

@test "the executor's and init's own filters, and init's descriptors, are seen from outside" {
	[ -n "$(filters_of self)" ] || skip "this kernel does not count filters in /proc"
	outside none
	[ "$SEEN" = '2 1 0' ]
	outside init_descriptors
	[ "$SEEN" = '2 1 1' ]
	layers_row init_descriptors "seen from outside: a directory among init's descriptors"
	outside init_filter
	[ "$SEEN" = '2 0 0' ]
	layers_row init_filter "seen from outside: init has one filter less"
	outside own_filter
	[[ $SEEN == '0 1 0' ]]
	layers_row own_filter "seen from outside: the executor has none (system/10-spine)"
}

# What launch makes for the executor, as root sees it from outside.
covered() { [ -z "$(ls -A "/proc/$1/root$WS_STATE" 2>/dev/null)" ]; }

@test "launch: the executor's user namespace, and the covers over state and sockets" {
	cp "$BUILD_DIR"/layers/agent-safe-launch "$WS_BIN/"
	layers_without user_namespace
	grep -q '^start: ' "$NOTICED" || { cat "$NOTICED"; return 1; }
	layers_row user_namespace "$(cat "$NOTICED")"
	echo none >"$WS_BIN/layer"
	workspace_stop
	workspace_start
	covered "$(workspace_pids | sed -n 's/^executor //p')"
	echo state_covers >"$WS_BIN/layer"
	workspace_stop
	workspace_start
	refute covered "$(workspace_pids | sed -n 's/^executor //p')"
	layers_row state_covers 'seen from outside: the state is in the executor'"'"'s sight (system/05-launch)'
	workspace_stop
	cp "$BUILD_DIR"/agent-safe-launch "$WS_BIN/"
}

# --- what was approved -----------------------------------------------------------------------------------

# contract/cage_ends, which knows the executor alone, with the one in WS_BIN.
contract_says() {
	workspace_stop
	cp "$BUILD_DIR/agent-safe-keeper" "$WS_BIN/"
	echo "$2" >"$WS_BIN/layer"
	BUILD_DIR=$WS_BIN CMOCKA_MESSAGE_OUTPUT=TAP timeout 100 "$BUILD_DIR/contract/cage_ends" \
	    >"$BATS_TEST_TMPDIR/tap" 2>/dev/null 3>&- 4>&- </dev/null || true
	grep -q "^$1 [0-9]* - $3\$" "$BATS_TEST_TMPDIR/tap" || { cat "$BATS_TEST_TMPDIR/tap"; return 1; }
}

@test "another program or directory than the approved one is noticed by the executor alone" {
	contract_says ok none a_changed_program_is_refused
	contract_says ok none a_changed_directory_is_refused
	contract_says 'not ok' digest a_changed_program_is_refused
	layers_row digest 'contract/cage_ends: a_changed_program_is_refused'
	contract_says ok workdir a_changed_directory_is_refused
	layers_row workdir 'the worker, which compares the directory once more (refused: workdir)'
}
