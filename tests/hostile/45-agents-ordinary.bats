#!/usr/bin/env bats
# The agents of 44-agents where an ordinary user started everything.

load ../support/workspace
load ../support/agents

@test "every agent works in an ordinary user's cage as it does in root's" {
	local agent installed=0
	for agent in $AGENT_CLIS; do
		[ ! -f "$NPM/node_modules/$(agent_program "$agent")" ] || installed=$((installed + 1))
	done
	[ $installed -gt 0 ] || skip "no agent is installed in $NPM; make check-agents installs them"
	if is_root; then
		setpriv --reuid $TEST_UID --regid $TEST_UID --clear-groups unshare -Ur true 2>/dev/null ||
		    skip "this kernel gives ordinary users no user namespace"
	fi
	ORDINARY=1 bats --tap "$ROOT/tests/hostile/44-agents.bats" >"$BATS_TEST_TMPDIR/tap" 2>&1 3>&- || true
	grep -E '^(not ok|# \(|# )' "$BATS_TEST_TMPDIR/tap" || true
	refute grep -q '^not ok' "$BATS_TEST_TMPDIR/tap"
	[ "$(grep '^ok' "$BATS_TEST_TMPDIR/tap" | grep -vc '# skip')" = $installed ]
}
