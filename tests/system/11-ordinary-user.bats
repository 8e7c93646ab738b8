#!/usr/bin/env bats
# The main job where an ordinary user did everything: no set-up, one uid, state below its own home.

load ../support/workspace
load ../support/procs

setup_file() {
	workspace_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
	user_namespaces_work && workspace_start
}

teardown_file() { workspace_clean; }

user_namespaces_work() { as_uid "$WS_UID" unshare -Ur true 2>/dev/null; }

setup() {
	user_namespaces_work || skip "this kernel gives ordinary users no user namespace"
}

@test "proposed, approved and run by one ordinary uid, and the log verifies" {
	run run_job echo hello
	[ "$status" = 0 ]
	jq -e '.status == "succeeded" and .result.stdout == "hello\n" and .self_approved == true' <<<"$output"
	agent_safe audit-verify | jq -e .valid
}

@test "status says that it is a user's workspace, and where its state lies" {
	agent_safe status | jq -e --arg state "$XDG_STATE_HOME/agent-safe/" \
	    '.mode == "workspace" and (.state_dir | startswith($state))'
}

@test "the state is closed to everybody else" {
	local state
	state=$(agent_safe status | jq -er .state_dir)
	[ "$(stat -c %a "$state")" = 700 ]
	[ -z "$(find "$state" -perm /o+rwx ! -type l -not -path "$state/runs/*")" ]
}

@test "every process: that uid, no_new_privs, a filter, no capability outside a namespace of its own" {
	local name pid
	while read -r name pid; do
		[ "$(status_of "$pid" Uid)" = "$WS_UID $WS_UID $WS_UID $WS_UID" ]
		[ "$(status_of "$pid" NoNewPrivs)" = 1 ]
		[ "$(status_of "$pid" Seccomp)" = 2 ]
		[ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]
		[ "$name" = executor ] || [ "$(caps_of "$pid")" = "$NO_CAPS" ]
	done < <(workspace_pids)
}

@test "the layers of a run say what an ordinary user does not get" {
	run run_job true
	jq -e '.attempts_log[0].layers | index("seccomp") and index("landlock") and index("no_capabilities") and
	    (index("own_uid") | not)' <<<"$output"
}

@test "a second start finds the first" {
	local before after
	before=$(workspace_pids)
	after=$(workspace_pids)
	[ "$before" = "$after" ]
}

@test "an ordinary user compresses and prunes its own log" {
	agent_safe audit rotate >/dev/null
	run_job echo again >/dev/null
	agent_safe audit rotate >/dev/null
	run_job echo more >/dev/null
	agent_safe audit compress | jq -e '.segments == 2 and .bytes_after < .bytes_before'
	agent_safe audit-verify | jq -e '.valid and .segments == 3'
	agent_safe audit prune --before 99999999 | jq -e '.segments == 2'
	agent_safe audit-verify | jq -e '.valid and .key_trusted'
}

# What every account of a desktop has; nobody can leave a group in a namespace that an ordinary user made.
@test "with supplementary groups it works like without, the job has none by name, and the layers say so" {
	need_root
	agent_safe serve --stop >/dev/null
	export WS_GROUPS=$WS_UID,100
	workspace_start
	[ "$(status_of "$(agent_safe status | jq -er .pids.executor)" Groups)" = "100 $WS_UID" ]
	run -0 run_job id -G
	jq -e --arg uid "$WS_UID" '.result.stdout == "\($uid) 65534\n" and (.attempts_log[0].layers | index("no_groups") | not)' \
	    <<<"$output"
	agent_safe serve --stop >/dev/null
	unset WS_GROUPS
	workspace_start
}
