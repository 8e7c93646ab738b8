#!/usr/bin/env bats
# The shipped auditor, confined, between two peers that a test program plays as broker and executor.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	BUILD=${BUILD:-build}
	[ -x "$BUILD/unit/auditor_process" ] || skip "$BUILD/unit/auditor_process is not built: make unit"
	export AUDITOR_BINARY=$PWD/$BUILD/agent-safe-auditor
}

teardown() {
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

@test "records, intents, breaches, memories, kills and low space: all as with the sanitized code" {
	run timeout 120 "$BUILD/unit/auditor_process"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the auditor of an ordinary user does the same under its own uid" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user true 2>/dev/null ||
		skip "an ordinary user gets no user namespace here"
	# Where nobody else may pass, the programs could not be started: they go to a place of their own.
	PLACE=$(mktemp -d /tmp/auditor-programs-XXXXXX)
	cp "$AUDITOR_BINARY" "$BUILD/unit/auditor_process" "$PLACE"
	chmod 755 "$PLACE" "$PLACE"/*
	for test in 'an_intent_is*' 'the_head*' 'a_large*' 'killed*'; do
		run env AUDITOR_TEST="$test" AUDITOR_BINARY="$PLACE/agent-safe-auditor" timeout 60 \
			setpriv --reuid 65534 --regid 65534 --clear-groups "$PLACE/auditor_process"
		echo "$output"
		[ "$status" -eq 0 ]
		[[ "$output" == *"1 test(s) run"* ]]
	done
}
