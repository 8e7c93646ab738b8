#!/usr/bin/env bats
# The tools of 40-tools where an ordinary user started everything.

load ../support/workspace

@test "every tool works in an ordinary user's cage as it does in root's" {
	if is_root; then
		setpriv --reuid $TEST_UID --regid $TEST_UID --clear-groups unshare -Ur true 2>/dev/null ||
		    skip "this kernel gives ordinary users no user namespace"
	fi
	ORDINARY=1 bats --tap "$ROOT/tests/hostile/40-tools.bats" >"$BATS_TEST_TMPDIR/tap" 2>&1 3>&- || true
	grep -E '^(not ok|# \(|# )' "$BATS_TEST_TMPDIR/tap" || true
	refute grep -q '^not ok' "$BATS_TEST_TMPDIR/tap"
	[ "$(grep -c '^ok' "$BATS_TEST_TMPDIR/tap")" -ge 15 ]
}
