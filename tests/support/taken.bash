# A trio in which one program is its test build of tests/hostile/taken.  After workspace.bash and procs.bash.
#
#   taken_make ROOM       workspace_make, with that program in place of the shipped one
#   taken_start           start it in the background; when all three are there: BROKER EXECUTOR AUDITOR (pids),
#                         UID_BROKER UID_EXECUTOR UID_AUDITOR UID_JOB UID_INIT
#   taken_targets         what to try, from standard input: the program waits for it
#   taken_answers         wait for the end; the lines "ANSWER ATTEMPT ARGUMENT"
#   taken_nothing_worked  fails, and shows which, when there was no answer or one was WORKED
#   taken_answered ANSWER... -- ATTEMPT   every line of this attempt has one of these answers, and there is one

taken_make() {
	workspace_make
	[ "$1" = none ] || cp "$BUILD_DIR/taken/agent-safe-$1" "$WS_BIN/agent-safe-$1"
	TAKEN_LOG=$WS_STATE/trio.log
}

taken_all_run() {
	local name
	for name in broker executor auditor; do
		[ "$(running "$WS_BIN/agent-safe-$name" | wc -l)" -ge 1 ] || return 1
	done
}

taken_start() {
	(workspace_start >/dev/null 2>&1 || true) 3>&- 4>&- &
	TAKEN_STARTER=$!
	wait_until 10 taken_all_run
	BROKER=$(running "$WS_BIN/agent-safe-broker" | head -1)
	EXECUTOR=$(running "$WS_BIN/agent-safe-executor" | head -1)
	AUDITOR=$(running "$WS_BIN/agent-safe-auditor" | head -1)
	UID_BROKER=$(stat -c %u "$WS_STATE/broker")
	UID_EXECUTOR=$((UID_BROKER + 1)) UID_AUDITOR=$((UID_BROKER + 2))
	UID_JOB=$((UID_BROKER + 3)) UID_INIT=$((UID_BROKER + 4))
	[ "$WS_OPERATOR" != 0 ] || [ "$(stat -c %u "$WS_STATE/audit")" = $UID_AUDITOR ]
}

taken_targets() {
	cat >"$WS_BIN/targets.new"
	mv "$WS_BIN/targets.new" "$WS_BIN/targets"
}

taken_answers() {
	wait_until 60 grep -q '^taken: done' "$TAKEN_LOG"
	[ -z "${TAKEN_STARTER:-}" ] || wait "$TAKEN_STARTER"
	sed -n 's/^taken: //p' "$TAKEN_LOG" | grep -vx done
}

taken_nothing_worked() {
	local asked
	asked=$(wc -l <"$WS_BIN/targets")
	taken_answers >"$BATS_TEST_TMPDIR/answers"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/answers")" = "$asked" ]
	refute grep -E '^(WORKED|CANNOT) ' "$BATS_TEST_TMPDIR/answers"
}

taken_answered() {
	local answers=
	while [ "$1" != -- ]; do
		answers+="${answers:+|}$1"
		shift
	done
	grep -qE "^[A-Z0-9]+ $2 " "$BATS_TEST_TMPDIR/answers"
	refute grep -E "^[A-Z0-9]+ $2 " <(grep -vE "^($answers) " "$BATS_TEST_TMPDIR/answers")
}
