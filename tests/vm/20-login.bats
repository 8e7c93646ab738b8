#!/usr/bin/env bats
# Workspaces as people have them, out of login sessions of systemd: nobody gave these a cgroup, so the trio asks for one.

load ../support/vm
bats_require_minimum_version 1.5.0

setup() {
	workspace_make "$(id -u ana)"
	WS_STATE=
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "true" }, { "program": "cat" },
	      { "program": "python3", "limits": { "memory_bytes": 67108864, "processes": 16, "cpu_percent": 50 } } ] }
	END
}

teardown() {
	session "$WS_OPERATOR" agent-safe serve --stop >/dev/null 2>&1 || true
	workspace_clean
}

# session UID CMD...: in a login session of that account, in the workspace.
session() {
	local uid=$1 program=$WS_BIN/$2
	shift 2
	systemd-run --quiet --pipe --wait --collect -p PAMName=login -p "User=$uid" -p "WorkingDirectory=$WS/proj" \
	    "$program" "$@" 3>&- 4>&- </dev/null
}

session_job() {
	local id
	id=$(session "$(id -u ana)" agent-safe submit --new -- "$@" | jq -er .id)
	session "$WS_OPERATOR" agent-safe approve "$id" --by tester >/dev/null
	JOB=$(session "$WS_OPERATOR" agent-safe run "$id" --execute) || [ $? = 1 ]
}

# What a memory limit that holds looks like, in a session of WS_OPERATOR.
limits_hold() {
	session "$WS_OPERATOR" agent-safe status | jq -e '.layers | contains(["cgroup", "cgroup_memory", "cgroup_pids"])'
	session_job python3 -c 'b = bytearray(300 << 20); print(len(b))'
	jq -e '.status == "failed" and .error_class == "oom" and (.attempts_log[0].layers | index("cgroup_memory"))' <<<"$JOB"
	session_job python3 -c 'import os
n = 0
try:
    while n < 64:
        if os.fork() == 0: __import__("signal").pause()
        n += 1
except OSError:
    print("refused", n < 16)'
	jq -e '.result.stdout == "refused True\n" and (.attempts_log[0].layers | index("cgroup_pids"))' <<<"$JOB"
}

@test "root's workspace: limits hold in the cgroup that systemd gives" { limits_hold; }

@test "an ordinary account's workspace: limits hold in the cgroup that its own manager gives" {
	WS_OPERATOR=$(id -u ana)
	chown ana:ana "$WS"
	limits_hold
}

@test "an account without a manager: jobs run, and the result says that no cgroup holds their limits" {
	WS_OPERATOR=$(id -u ana)
	chown ana:ana "$WS"
	systemctl stop "user@$WS_OPERATOR"
	run -0 as_uid "$WS_OPERATOR" env "HOME=$WS_TOP/home-$WS_OPERATOR" "$WS_BIN/agent-safe" --workspace "$WS" status
	jq -e '.layers | (index("cgroup_memory") or index("cgroup")) | not' <<<"$output"
	as_uid "$WS_OPERATOR" "$WS_BIN/agent-safe" --workspace "$WS" serve --stop
}
