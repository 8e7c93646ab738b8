#!/usr/bin/env bats
# AppArmor as Debian 12 has it: on, with a parser of 3.0, which knows no rule "userns" and no abi 4.0.

load ../support/vm
bats_require_minimum_version 1.5.0

# The profile without the two lines that only a parser from 4.0 on knows.
older_profile() { sed '/^abi <abi/d; /^	userns,/d' "$ROOT/packaging/apparmor/agent-safe"; }

label_of() { cat "/proc/$1/attr/apparmor/current" 2>/dev/null || cat "/proc/$1/attr/current"; }

setup() {
	[ "$(cat /sys/module/apparmor/parameters/enabled)" = Y ] || skip "AppArmor is not in force"
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/profile" ] || apparmor_parser -R "$BATS_TEST_TMPDIR/profile" || true
	[ ! -e "$BATS_TEST_TMPDIR/installed" ] || service_clean
	workspace_clean
}

@test "what is installed does no harm to the profiles of this host" {
	service_make
	touch "$BATS_TEST_TMPDIR/installed"
	systemctl restart apparmor
	systemctl is-active apparmor
}

@test "confined by it everything works, as a service" {
	service_make
	touch "$BATS_TEST_TMPDIR/installed"
	systemctl stop agent-safe
	older_profile >"$BATS_TEST_TMPDIR/profile"
	apparmor_parser -r "$BATS_TEST_TMPDIR/profile"
	systemctl start agent-safe
	for pid in $(as_root status | jq -er '.pids | .broker, .executor, .auditor'); do
		[ "$(label_of "$pid")" = 'agent-safe (unconfined)' ]
	done
	service_job sh -c 'cat /proc/self/attr/current'
	jq -e '.status == "succeeded"' <<<"$JOB"
}

@test "confined by it everything works, as an ordinary account's workspace" {
	workspace_make "$(id -u ana)"
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	older_profile | sed "s|^@{AGENT_SAFE} = .*|@{AGENT_SAFE} = $WS_BIN/agent-safe*|" >"$BATS_TEST_TMPDIR/profile"
	apparmor_parser -r "$BATS_TEST_TMPDIR/profile"
	workspace_start
	for pid in $(agent_safe status | jq -er '.pids | .broker, .executor, .auditor'); do
		[ "$(label_of "$pid")" = 'agent-safe (unconfined)' ]
	done
	run_job true | jq -e '.status == "succeeded"'
}
