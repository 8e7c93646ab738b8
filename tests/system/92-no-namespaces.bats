#!/usr/bin/env bats
# An ordinary account that the kernel gives no user namespace, in each of the ways in which kernels refuse one: the
# start is refused by name, and no policy makes a smaller cage of it.  doctor names who forbids it and what to do.
#
# For real: user.max_user_namespaces of a namespace around everything.  Stood in for by a system call filter
# (tests/hostile/measures/fail.c), since these switches hold for a whole host: the answers of Debian's sysctl, of an
# LSM, of Ubuntu's AppArmor, which gives a namespace without capabilities, and of a container's filter that kills.

load ../support/workspace
load ../support/procs
load ../support/measures

EPERM=1 EACCES=13 ENOSPC=28 CLAIM=0

setup() {
	workspace_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace: nothing to compare with"
}

teardown() { workspace_clean; }

# Everything that the command line tool starts, and itself, is under the filter.
wrap_all() {
	measures_own_programs
	mkdir -p "$WS_BIN/real"
	cp "$WS_BIN"/agent-safe* "$WS_BIN/real/"
	cp "$BUILD_DIR/measures/fail" "$WS_BIN/agent-safe"
	measures_fail
}

# within LIMIT CMD...: as root of a user namespace with this max_user_namespaces (or KIND=LIMIT: of another kind);
# uids are those of the host.
within() {
	local limit=${1#*=} kind=user pipes=$BATS_TEST_TMPDIR/pipes pid status=0
	[ "$limit" = "$1" ] || kind=${1%=*}
	shift
	mkdir "$pipes"
	mkfifo "$pipes/ready" "$pipes/go"
	# Once more by exec when the maps are there: only then it has its capabilities.
	unshare -U bash -c 'echo >"$1/ready"; read -r <"$1/go"; shift; exec bash -c "$@"' bash "$pipes" \
	    'echo "${0#*=}" >"/proc/sys/user/max_${0%=*}_namespaces" && exec "$@"' "$kind=$limit" "$@" &
	pid=$!
	read -r <"$pipes/ready"
	echo 0 0 200000 >"/proc/$pid/uid_map"
	echo 0 0 200000 >"/proc/$pid/gid_map"
	echo >"$pipes/go"
	rm -r "$pipes"
	wait "$pid" || status=$?
	return "$status"
}

# The tool as the ordinary user in there.
tool_within() {
	local limit=$1
	shift
	export -f as_uid agent_safe_as agent_safe
	export WS WS_TOP WS_BIN WS_STATE WS_OPERATOR
	within "$limit" bash -c 'agent_safe "$@"' bash "$@"
}

# refused PATTERN: what $output and $status are of a start.
refused() {
	[ "$status" = 2 ]
	jq -e --arg p "$1" '.error.code == "cage_unavailable" and (.error.message | test($p) and test("agent-safe doctor"))' \
	    <<<"$output"
	wait_until 3 measures_nothing_left
}

# doctor_says PATTERN: of the line user_namespace in $output; every missing line has a remedy.
doctor_says() {
	[ "$status" = 2 ]
	jq -e --arg p "$1" '.ok == false and
	    (.checks[] | select(.name == "user_namespace") | .state == "missing" and (.found + .remedy | test($p)))' <<<"$output"
	jq -e 'all(.checks[] | select(.state == "missing"); .remedy | length > 0)' <<<"$output"
}

# What a policy could say to have the smaller cage, were there one.
bare_minimum() {
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ],
	  "cage": { "minimum": ["landlock", "seccomp", "rlimits", "no_new_privs", "no_capabilities"] } }
	END
}

@test "each way to be refused one: nothing starts, the error and doctor say how and what to do, nothing stays" {
	local row answer said
	wrap_all
	for row in "$EPERM Operation not permitted" "$EACCES Permission denied" "$ENOSPC No space left on device" \
	    "$CLAIM no capability in it" "kill killed"; do
		answer=${row%% *} said=${row#* }
		measures_fail "unshare - 0 $answer"
		run agent_safe status
		refused "user namespace: .*$said"
		run agent_safe doctor
		doctor_says "^$said|$said"
	done
	measures_fail
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
}

@test "a minimum without namespaces changes nothing: refused like every other policy" {
	wrap_all
	bare_minimum
	measures_fail "unshare - 0 $EPERM"
	run agent_safe status
	refused 'no job can be confined: a user namespace: Operation not permitted'
	run agent_safe check-policy
	[ "$status" = 0 ]
}

@test "where there are user namespaces such a minimum takes no layer away" {
	local all
	workspace_start
	all=$(agent_safe status | jq -ec .layers)
	workspace_stop
	bare_minimum
	workspace_start
	[ "$(agent_safe status | jq -ec .layers)" = "$all" ]
	run_job true | jq -e --argjson all "$all" '.status == "succeeded" and .attempts_log[0].layers == $all'
}

@test "user.max_user_namespaces is 0, for real: refused, doctor names the number" {
	need_root
	run tool_within 0 status
	refused 'user namespace: No space left on device'
	run tool_within 0 doctor
	doctor_says 'max_user_namespaces'
	jq -e '.checks[] | select(.name == "max_user_namespaces") | .found == "0" and (.remedy | test("max_user_namespaces=64"))' \
	    <<<"$output"
}

@test "fewer than are needed, for real: whoever gets none ends the start, with the same code" {
	local limit
	need_root
	for limit in 1 2; do
		run tool_within $limit status
		refused 'of our own.*: No space left on device'
	done
	tool_within 5 status >/dev/null
	run_job true | jq -e '.status == "succeeded"'
}

@test "all of them in use: doctor does not say ok to a number that is not zero" {
	need_root
	# One is allowed, and this takes it: in it the number is the kernel's own, and the limit that of the outer one.
	run within 1 unshare -U --map-root-user "$WS_BIN/agent-safe" doctor
	doctor_says 'No space left'
	jq -e '.checks[] | select(.name == "max_user_namespaces") | .state == "missing" and
	    (.found | test("^[1-9][0-9]* here, and all of them are in use"))' <<<"$output"
}

@test "no room for another kind, for real: doctor names the kind, and nothing runs with less" {
	local kind
	need_root
	for kind in mnt net ipc uts; do
		run tool_within "$kind=0" status
		refused 'namespaces of our own'
	done
	for kind in mnt pid net ipc uts cgroup; do
		run tool_within "$kind=0" doctor
		[ "$status" = 2 ]
		jq -e --arg k "$kind" '[.checks[] | select(.state == "missing")] | length == 1 and .[0].name == "other_namespaces" and
		    .[0].found == "\($k): No space left on device" and (.[0].remedy | test("user.max_KIND_namespaces"))' <<<"$output"
	done
	for kind in pid cgroup; do
		tool_within "$kind=0" status >/dev/null
		run run_job true
		jq -e '.status == "failed" and (.attempts_log[0] | .outcome == "refused" and .stage == "namespace")' <<<"$output"
		workspace_stop
	done
}
