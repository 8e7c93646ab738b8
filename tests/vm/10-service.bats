#!/usr/bin/env bats
# The system service as a package installs it, under systemd as process 1, in the machine of check.sh: what no scratch
# folder shows.  It is installed into that machine itself, which nobody keeps.

load ../support/vm
bats_require_minimum_version 1.5.0

setup_file() { service_make; }
teardown_file() { service_clean; }
teardown() { [ -n "${BATS_TEST_COMPLETED:-}" ] || service_words; }

cgroup_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

@test "it runs, none of it is root, and all of it is in one cgroup of its own" {
	local pids pid
	systemctl is-active agent-safe
	pids=$(as_root status | jq -er '.pids | .broker, .executor, .auditor')
	for pid in $pids; do
		[ "$(ps -o uid= "$pid")" != 0 ]
		[[ $(cgroup_of "$pid") == /*agent-safe*/daemons ]]
	done
}

@test "every layer that this kernel has is there: memory, pids and cpu too" {
	as_root status | jq -e '.layers | contains(["cgroup", "cgroup_memory", "cgroup_pids", "cgroup_cpu", "own_uid", "idmap"])'
}

@test "a job runs, and its agent may not decide" {
	service_job echo hello
	jq -e '.status == "succeeded" and .result.stdout == "hello\n" and (.attempts_log[0].layers | index("cgroup_memory"))' \
	    <<<"$JOB"
	run as_ana approve "$(service_propose true)" --by ana
	[ "$status" = 2 ]
	jq -e '.error.code == "not_permitted"' <<<"$output"
}

@test "out of memory: the job is dead, the service is not" {
	service_job python3 -c 'b = bytearray(300 << 20); print(len(b))'
	jq -e '.status == "failed" and .error_class == "oom"' <<<"$JOB"
	systemctl is-active agent-safe
	service_job true
	jq -e '.status == "succeeded"' <<<"$JOB"
}

@test "out of processes: fork is refused, the job goes on" {
	service_job python3 -c '
import os
n = 0
try:
    while n < 64:
        if os.fork() == 0: __import__("signal").pause()
        n += 1
except OSError:
    print("refused", n < 16)
'
	jq -e '.result.stdout == "refused True\n"' <<<"$JOB"
}

# The job waits for a file in its working directory.
@test "a running job outlives a restart of the service, and is found again" {
	local id
	id=$(service_propose sh -c ': >begun; until [ -e go ]; do sleep 0.2; done; echo went')
	as_root approve "$id" --by root >/dev/null
	as_root run "$id" --execute >"$BATS_TEST_TMPDIR/run" 2>&1 &
	wait_until 60 test -e /srv/proj/begun
	systemctl restart agent-safe
	systemctl is-active agent-safe
	as_root show "$id" | jq -e '.status == "running"'
	service_job true
	jq -e '.status == "succeeded" and (.attempts_log[0].layers | index("cgroup_memory"))' <<<"$JOB"
	sudo_ana touch /srv/proj/go
	as_root wait "$id" >/dev/null
	as_root show "$id" | jq -e '.status == "succeeded" and .result.stdout == "went\n"'
	rm -f /srv/proj/go /srv/proj/begun
}

@test "one of the three dies while a job runs: systemd starts them again, the job goes on" {
	local id old
	id=$(service_propose sh -c ': >begun; until [ -e go ]; do sleep 0.2; done; echo went')
	as_root approve "$id" --by root >/dev/null
	as_root run "$id" --execute >"$BATS_TEST_TMPDIR/run" 2>&1 &
	wait_until 60 test -e /srv/proj/begun
	old=$(as_root status | jq -er .pids.broker)
	kill -KILL "$(as_root status | jq -er .pids.executor)"
	wait_until 60 another_broker "$old"
	as_root show "$id" | jq -e '.status == "running"'
	sudo_ana touch /srv/proj/go
	as_root wait "$id" >/dev/null
	as_root show "$id" | jq -e '.status == "succeeded"'
	rm -f /srv/proj/go /srv/proj/begun
}

another_broker() { as_root status 2>/dev/null | jq -e --argjson old "$1" '.pids.broker != $old' >/dev/null; }

@test "reload takes a new policy; stop seals the log, and it verifies" {
	systemctl reload agent-safe
	as_root audit-verify | jq -e '.valid'
	systemctl stop agent-safe
	[ "$(systemctl is-active agent-safe)" = inactive ]
	agent-safe-audit-verify --json /var/lib/agent-safe/audit/log | jq -e .valid
	systemctl start agent-safe
}

@test "doctor finds nothing missing, and no controller lacking" {
	as_root doctor >"$BATS_TEST_TMPDIR/doctor"
	jq -e '.ok and ([.checks[] | select(.name | startswith("layer ")) | .name] == [])' "$BATS_TEST_TMPDIR/doctor"
}
