#!/usr/bin/env bats
# Workspaces in awkward places, and limits on machines where much else runs.

load ../support/workspace
load ../support/procs
load ../support/hostile
load ../support/jobs

teardown() {
	[ -z "${CROWD:-}" ] || kill "$CROWD" 2>/dev/null || true
	if [ -n "${BOUND:-}" ]; then
		workspace_stop
		umount "$BOUND"
	fi
	workspace_clean
}

# A program of the workspace, started in it: the rest of the host's /tmp is not to be seen.
runs_here() {
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "$WS/proj/bin/prog" } ] }
	END
	mkdir "$WS/proj/bin"
	script bin/prog <<-'END'
	#!/bin/sh
	pwd
	ls -A /tmp | wc -l
	echo kept >made
	END
	! is_root || chown "$WS_UID:$WS_UID" "$WS/proj/bin"
	workspace_start
	job -- "$WS/proj/bin/prog"
	job_is '.status == "succeeded"'
	[ "$(job_text stdout | head -n 1)" = "$WS/proj" ]
	[ "$(job_text stdout | sed -n 2p)" = "$1" ]
	[ "$(cat "$WS/proj/made")" = kept ]
}

@test "a workspace below /tmp: there, and alone in the private /tmp" {
	need_root
	TMPDIR=/tmp workspace_make
	runs_here 1
}

@test "a workspace below /var/tmp" {
	need_root
	TMPDIR=/var/tmp workspace_make
	runs_here 0
}

@test "a workspace below /dev/shm" {
	need_root
	TMPDIR=/dev/shm workspace_make
	runs_here 0
}

@test "a workspace on a mount of its own" {
	need_root
	workspace_make
	BOUND=$WS
	mount -t tmpfs -o size=4m tmpfs "$WS"
	mkdir "$WS/proj"
	chown "$WS_UID:$WS_UID" "$WS" "$WS/proj"
	runs_here 1
}

@test "a workspace below root's home: closed to everybody else outside, and reached by its jobs" {
	need_root
	TMPDIR=${HOME:-/root} workspace_make
	chmod 700 "$WS_TOP"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "sh" } ] }
	END
	workspace_start
	local id
	id=$(propose 0 -- sh -c 'pwd; echo kept >made')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute | jq -e --arg at "$WS/proj" '.status == "succeeded" and .result.stdout == $at + "\n"'
	[ "$(cat "$WS/proj/made")" = kept ]
}

# --- limits -----------------------------------------------------------------------------------------------

# 400 sleeping processes of the workspace's owner.
crowd() {
	as_uid "$WS_UID" sh -c 'trap "kill \$pids; exit" TERM; i=0; pids=
	    while [ $i -lt 400 ]; do sleep 120 & pids="$pids $!"; i=$((i + 1)); done; echo here; wait' \
	    >"$BATS_TEST_TMPDIR/crowd" 2>/dev/null 3>&- 4>&- &
	CROWD=$!
	wait_until 20 grep -q here "$BATS_TEST_TMPDIR/crowd"
}

@test "400 other processes of the same user do not count against a job's limit of 64" {
	workspace_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" }, { "program": "sh" } ],
	  "limits": { "processes": 64 } }
	END
	crowd
	workspace_start
	job -- true
	job_is '.status == "succeeded"'
	job -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait; echo eight'
	job_is '.status == "succeeded" and .result.stdout == "eight\n"'
}

limited() {
	need_root
	workspace_make
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh" }, { "program": "python3" }, { "program": "node" } ], "limits": { $1 } }
	END
	workspace_start
}

@test "a job beyond its file size ends as that: a limit, with the signal's name" {
	limited '"file_bytes": 65536'
	job -- python3 -c '
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
open("large", "wb", 0).write(b"x" * 70000) and open("large", "ab", 0).write(b"x" * 70000)'
	job_is '.status == "failed" and .error_class == "limit" and .attempts_log[-1].signal == 25'
	job -- sh -c 'head -c 60000 /dev/zero >small'
	job_is '.status == "succeeded"'
}

@test "a job beyond its processor time ends as that" {
	limited '"cpu_seconds": 1'
	job --timeout 30 -- sh -c 'while :; do :; done'
	job_is '.status == "failed" and .error_class == "limit" and .attempts_log[-1].signal == 24'
	job_is '.attempts_log[-1].reason == "its limit of CPU time"'
	# KILL, five seconds of CPU time after the XCPU that it ignores
	job --timeout 60 -- sh -c 'trap "" XCPU; while :; do :; done'
	job_is '.status == "failed" and .error_class == "limit" and .attempts_log[-1].signal == 9'
	job_is '.attempts_log[-1].reason == "its limit of CPU time" and .attempts_log[-1].outcome == "limit"'
	job -- sh -c 'kill -KILL $$'
	job_is '.status == "failed" and .error_class == "signal" and .attempts_log[-1].signal == 9'
}

@test "a fork bomb meets its limit, the host goes on, and nothing of it is left" {
	local mark="mark-$RANDOM-$RANDOM"
	limited '"processes": 50, "grace_seconds": 1'
	job --timeout 3 -- python3 -c '
import os, sys, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.1)' "$mark"
	job_is '.error_class == "timeout"'
	[ -z "$(processes_with "$mark")" ]
}

@test "the limits that there are by default let node and python reserve their address space" {
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v node >/dev/null || skip "node is not installed"
	limited ''
	job -- node -e 'console.log(6 * 7)'
	job_is '.status == "succeeded" and .result.stdout == "42\n"'
}
