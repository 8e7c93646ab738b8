#!/usr/bin/env bats
# This host's own switches against user namespaces, thrown for real: doctor names the one, and what it says to do helps.

load ../support/vm
bats_require_minimum_version 1.5.0

CLONE=kernel.unprivileged_userns_clone MOST=user.max_user_namespaces

setup() {
	most=$(sysctl -n $MOST)
	workspace_make "$(id -u ana)"
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
}

teardown() {
	sysctl -q $CLONE=1 $MOST="$most"
	workspace_clean
}

# Exactly one line says why, and it is this one.
doctor_names() {
	run -2 agent_safe doctor
	jq -e --arg n "$1" '.ok == false and ([.checks[] | select(.state == "missing") | .name] |
	    index("user_namespace") != null and index($n) != null and
	    all(. == "user_namespace" or . == "other_namespaces" or . == $n))' <<<"$output"
	jq -er --arg n "$1" '.checks[] | select(.name == $n) | .found + " -> " + .remedy' <<<"$output"
}

@test "$CLONE=0: an ordinary account is refused, doctor names it, and a workspace that root starts is the remedy" {
	sysctl -q $CLONE=0
	run -2 agent_safe status
	jq -e '.error.code == "cage_unavailable"' <<<"$output"
	[[ $(doctor_names unprivileged_userns_clone) == *'a workspace that root starts'* ]]
	unset XDG_STATE_HOME
	WS_OPERATOR=0
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
}

@test "$CLONE=0: the system service is the other remedy" {
	sysctl -q $CLONE=0
	service_make
	service_job true
	jq -e '.status == "succeeded"' <<<"$JOB"
	as_root doctor | jq -e .ok
	service_clean
}

@test "$MOST=0: everybody is refused, doctor names it, and the number that it says is enough" {
	sysctl -q $MOST=0
	run -2 agent_safe status
	jq -e '.error.code == "cage_unavailable"' <<<"$output"
	[[ $(doctor_names max_user_namespaces) == *'sysctl user.max_user_namespaces=64'* ]]
	sysctl -q $MOST=64
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
}

@test "$MOST=0: root is refused too, with the same words" {
	sysctl -q $MOST=0
	unset XDG_STATE_HOME
	WS_OPERATOR=0
	run -2 agent_safe status
	jq -e '.error.code == "cage_unavailable"' <<<"$output"
	run -2 agent_safe doctor
	jq -e '.checks[] | select(.name == "max_user_namespaces") | .state == "missing" and .found == "0"' <<<"$output"
	sysctl -q $MOST=64
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
}
