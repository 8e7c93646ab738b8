# Programs whose measures fail.  After workspace.bash, taken.bash (for procs) and workspace_make.
#
#   measures_wrap ROOM...     these programs are started through tests/hostile/measures/fail.c; launch only alone,
#                             for it looks for the others beside itself
#   measures_fail LINE...     what fails from now on; none: nothing
#   start_fails_with PATTERN  the CLI refuses with a JSON error whose message has it; no process stays behind

# Without root the programs are those of the build: they stay as they are.
measures_own_programs() {
	[ "$WS_BIN" = "$BUILD_DIR" ] || return 0
	WS_BIN=$WS_TOP/bin
	mkdir "$WS_BIN"
	cp "$BUILD_DIR"/agent-safe* "$WS_BIN/"
}

measures_wrap() {
	local room
	measures_own_programs
	mkdir -p "$WS_BIN/real"
	[ "$1" != launch ] || cp "$WS_BIN"/agent-safe-* "$WS_BIN/real/"
	for room in "$@"; do
		mv "$WS_BIN/agent-safe-$room" "$WS_BIN/real/"
		cp "$BUILD_DIR/measures/fail" "$WS_BIN/agent-safe-$room"
	done
	measures_fail
}

measures_fail() { printf '%s\n' "$@" >"$WS_BIN/fail"; }

measures_left() {
	local name
	for name in launch broker executor auditor keeper; do
		running "$WS_BIN/real/agent-safe-$name"
		running "$WS_BIN/agent-safe-$name"
	done
}

measures_nothing_left() { [ -z "$(measures_left)" ]; }

start_fails_with() {
	local status=0
	agent_safe status >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/complaint" || status=$?
	[ "$status" = 2 ] || [ "$status" = 3 ] || { echo "started, although: $(cat "$WS_BIN/fail")"; return 1; }
	jq -e '.error.code == "internal_error" or .error.code == "cage_unavailable"' "$BATS_TEST_TMPDIR/complaint"
	command jq -r .error.message "$BATS_TEST_TMPDIR/complaint" >"$BATS_TEST_TMPDIR/message"
	grep -qE "$1" "$BATS_TEST_TMPDIR/message" || {
		echo "not \"$1\" but: $(cat "$BATS_TEST_TMPDIR/message")"
		return 1
	}
	wait_until 3 measures_nothing_left
}
