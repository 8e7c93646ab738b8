#!/usr/bin/env bats
# doctor beside a running trio: what is not in force, what is lost by that, what to change.

load ../support/workspace

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

doctor() { agent_safe doctor || [ $? = 2 ]; }

@test "each layer that jobs do not get is named, with what is lost and a remedy" {
	local report layer
	report=$(doctor)
	for layer in own_uid idmap no_groups cgroup cgroup_memory cgroup_pids cgroup_cpu; do
		jq -e --arg l "$layer" '(.layers | index($l) != null) != any(.checks[]; .name == "layer " + $l and
		    .state == "less" and (.found | length) > 0 and (.remedy | length) > 0)' <<<"$report" >/dev/null ||
		    { echo "$layer"; false; }
	done
}

@test "a controller is ok when version 2 lists it, and else says by name who has it" {
	local report name list
	report=$(doctor)
	list=$(cat /sys/fs/cgroup/cgroup.controllers /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null || true)
	for name in memory pids cpu; do
		if grep -qw "$name" <<<"$list"; then
			jq -e --arg n "cgroup_$name" '.checks[] | select(.name == $n) | .state == "ok"' <<<"$report"
		else
			jq -e --arg n "$name" '.checks[] | select(.name == "cgroup_" + $n) |
			    .state == "less" and (.remedy | test($n))' <<<"$report"
		fi
	done
}
