#!/usr/bin/env bats
# What a job sees, compared exactly: environment, status, descriptors, mounts.

load ../support/workspace

setup_file() {
	is_root || return 0
	# Canaries that must not cross.
	export CANARY_TOKEN=canary-1 LD_PRELOAD= AWS_SECRET_ACCESS_KEY=canary-2
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# view CMD...: its standard output
view() { run_job "$@" | jq -er .result.stdout; }

@test "the environment is exactly the documented one" {
	view env | sort >"$BATS_TEST_TMPDIR/got"
	cat >"$BATS_TEST_TMPDIR/wanted" <<-'END'
	GIT_PAGER=cat
	HOME=/tmp
	LANG=C.UTF-8
	PAGER=cat
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	SHELL=/bin/sh
	TERM=dumb
	TMPDIR=/tmp
	USER=job
	END
	diff "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/got"
	# As agent-safe-policy(5) has it.
	sed -n '/^\.Ss The environment of a job/,/^\.Ed/p' "$ROOT/packaging/man/agent-safe-policy.5" | grep = | sort |
	    diff - "$BATS_TEST_TMPDIR/got"
}

@test "its status: no capability, no group, no_new_privs, two filters at least, pid 2 of its namespace" {
	view cat /proc/self/status >"$BATS_TEST_TMPDIR/status"
	cat "$BATS_TEST_TMPDIR/status"
	grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' "$BATS_TEST_TMPDIR/status" | awk '$2 != "0000000000000000" { exit 1 }'
	[ "$(awk '/^NoNewPrivs:/ { print $2 }' "$BATS_TEST_TMPDIR/status")" = 1 ]
	[ "$(awk '/^Seccomp:/ { print $2 }' "$BATS_TEST_TMPDIR/status")" = 2 ]
	[ "$(awk '/^Groups:/ { print NF }' "$BATS_TEST_TMPDIR/status")" = 1 ]
	[ "$(awk '/^NStgid:/ { print $2 }' "$BATS_TEST_TMPDIR/status")" = 2 ]
	[ "$(awk '/^PPid:/ { print $2 }' "$BATS_TEST_TMPDIR/status")" = 1 ]
	[ "$(awk '/^Uid:/ { print ($2 == $3 && $3 == $4 && $4 == $5 && $2 != 0) }' "$BATS_TEST_TMPDIR/status")" = 1 ]
}

@test "descriptors: 0 empty, 1 and 2 pipes, nothing else" {
	view sh -c 'for fd in /proc/self/fd/*; do echo "${fd##*/} $(readlink "$fd")"; done; cat | wc -c' >"$BATS_TEST_TMPDIR/fds"
	# The glob is made by the shell, whose own descriptors are looked at; one is its script's, none.
	sed -E 's/pipe:\[[0-9]+\]/pipe/' "$BATS_TEST_TMPDIR/fds" >"$BATS_TEST_TMPDIR/got"
	grep -qx '0 /dev/null' "$BATS_TEST_TMPDIR/got"
	grep -qx '1 pipe' "$BATS_TEST_TMPDIR/got"
	grep -qx '2 pipe' "$BATS_TEST_TMPDIR/got"
	grep -qx '0' "$BATS_TEST_TMPDIR/got"
	refute grep -E '^([4-9]|[1-9][0-9]+) ' "$BATS_TEST_TMPDIR/got"
}

@test "mounts: what is writable is the workspace, /tmp and /dev/shm; nothing of the host's own places" {
	view cat /proc/self/mounts >"$BATS_TEST_TMPDIR/mounts"
	cat "$BATS_TEST_TMPDIR/mounts"
	awk '$4 ~ /^rw(,|$)/ { print $2 }' "$BATS_TEST_TMPDIR/mounts" | sort >"$BATS_TEST_TMPDIR/writable"
	refute grep -vxE "/tmp|/dev/shm|/dev|/dev/pts|/dev/[a-z]+|/proc|$WS/proj" "$BATS_TEST_TMPDIR/writable"
	grep -qx "$WS/proj" "$BATS_TEST_TMPDIR/writable"
	awk '$4 !~ /nosuid/ { print $2 }' "$BATS_TEST_TMPDIR/mounts" >"$BATS_TEST_TMPDIR/suid"
	refute grep . "$BATS_TEST_TMPDIR/suid"
	for place in "$WS_STATE" /root /home /var /boot /sys; do
		refute grep -qE "^[^ ]+ $place(/| )" "$BATS_TEST_TMPDIR/mounts"
	done
}

@test "it sees its own processes only" {
	[ "$(view sh -c 'echo /proc/[0-9]*' | wc -w)" -le 2 ]
}

@test "no canary of the operator's environment reaches the job or any file of the state" {
	view env >"$BATS_TEST_TMPDIR/env"
	refute grep -q canary "$BATS_TEST_TMPDIR/env"
	refute grep -rq 'canary-[12]' "$WS_STATE"
}

@test "the network is the loopback device of nobody else, down" {
	view cat /proc/net/dev >"$BATS_TEST_TMPDIR/net"
	[ "$(tail -n +3 "$BATS_TEST_TMPDIR/net" | cut -d: -f1 | xargs)" = lo ]
}
