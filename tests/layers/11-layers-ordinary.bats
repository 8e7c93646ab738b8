#!/usr/bin/env bats
# The same where an ordinary user started everything: what root's launch would have done already is the executor's
# alone here, and init and job have one uid.

load ../support/workspace
load ../support/hostile
load ../support/layers

setup_file() {
	layers_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() {
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
	hostile_host
}

teardown() { hostile_host_end; }

@test "with all layers nothing is noticed" {
	layers_without none
	[ ! -s "$NOTICED" ] || { cat "$NOTICED"; return 1; }
}

@test "an ordinary user's cage: bounding set, capabilities, init's own safety, Landlock, filters" {
	noticed 'start: executor: confine: the bounding set did not become empty' bounding_set
	noticed 'refused: identity' capset
	noticed 'refused: identity' init_capset
	noticed 'refused: identity' dumpable
	noticed 'refused: identity' death_signal
	noticed 'read what no Landlock rule covers' landlock
	noticed 'change the limits of pid 1' filter_arguments
	noticed 'start: executor: template: /usr: Operation not permitted' read_only
	noticed 'refused: namespace' network_namespace
}
