#!/usr/bin/env bats
# The attempts of 10-cage in the other profiles, as root has started the daemons and as an ordinary user has.

load ../support/workspace
load ../support/hostile

setup() {
	need_root
	hostile_make
}

teardown() {
	hostile_host_end
	workspace_clean
}

as_ordinary_user() {
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
}

# What came of the attempts in this profile and not as in `default`, in $ATTEMPTS.unexpected.
attempts_in() {
	local policy
	workspace_stop
	policy=$(jq --arg profile "$1" '.cage = {"profile": $profile}' "$WS/agent-safe-policy.json")
	workspace_policy <<<"$policy"
	workspace_start
	hostile_host
	hostile_try
	hostile_host_end
	grep UNEXPECTED "$ATTEMPTS" >"$ATTEMPTS.unexpected" || true
}

need_landlock_6() {
	local abi
	abi=$(agent_safe status | jq -er .landlock_abi)
	[ "$abi" -ge 6 ] || skip "profile strict needs Landlock ABI 6, this kernel has $abi"
}

# Nothing more works than in `default`: what is answered otherwise is a call, a family or a file that is not there.
strict_holds() {
	need_landlock_6
	attempts_in strict
	refute grep -vE ': (ENOSYS|EAFNOSUPPORT|ENOENT|cannot be tried here) UNEXPECTED$' "$ATTEMPTS.unexpected"
	grep -x '52 raw IP: EAFNOSUPPORT UNEXPECTED' "$ATTEMPTS.unexpected"
	grep -x '54 find shared memory of the host: ENOSYS UNEXPECTED' "$ATTEMPTS.unexpected"
}

# A loopback of its own is up, and nothing of the host's is on it.
agent_holds() {
	attempts_in agent
	diff - "$ATTEMPTS.unexpected" <<-END
	50 connect to another network: ECONNREFUSED UNEXPECTED
	50 send a datagram to another network: WORKED UNEXPECTED
	50 send a datagram to loopback: WORKED UNEXPECTED
	50 find a network that is up: WORKED UNEXPECTED
	END
}

compat_holds() {
	attempts_in compat
	[ ! -s "$ATTEMPTS.unexpected" ]
}

@test "strict: nothing works that default refuses" { strict_holds; }

@test "agent: a loopback of its own works, nothing else that default refuses" { agent_holds; }

@test "compat: the same as in default" { compat_holds; }

@test "an ordinary user's strict, agent and compat" {
	as_ordinary_user
	strict_holds
	agent_holds
	compat_holds
}
