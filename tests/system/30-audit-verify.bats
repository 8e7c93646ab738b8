#!/usr/bin/env bats
# agent-safe-audit-verify from the outside: its exit codes, what it prints, and a second verifier beside it.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	VERIFY=$PWD/${BUILD:-build}/agent-safe-audit-verify
	VECTORS=$PWD/tests/unit/al1-vectors
	FIRST=seg-00000000000000000000.jsonl
	SECOND=seg-00000000000000000010.jsonl
	LOG=$BATS_TEST_TMPDIR/log
	mkdir "$LOG"
	cp "$VECTORS/$FIRST" "$VECTORS/$SECOND" "$VECTORS/trust" "$LOG"
}

@test "a whole log with its key is valid: exit 0" {
	run "$VERIFY" --trust "$VECTORS/trust" "$LOG"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = ok ]
	[[ "$output" == *"key trusted"* ]]
}

@test "without a key it says that the key is not trusted" {
	run "$VERIFY" "$LOG"
	[ "$status" -eq 0 ]
	[[ "$output" == *"not known to be the right one"* ]]
	run "$VERIFY" --json "$LOG"
	[[ "$output" == *'"valid":true'*'"key_trusted":false'* ]]
}

@test "the trust file beside the log is not believed" {
	echo "example.org/host1/audit AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" > "$LOG/trust"
	run "$VERIFY" --json "$LOG"
	[ "$status" -eq 0 ]
	[[ "$output" == *'"key_trusted":false'* ]]
}

@test "another key than the log's is tampering: exit 4" {
	run "$VERIFY" --json --key AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= "$LOG"
	[ "$status" -eq 4 ]
	[[ "$output" == *'"valid":false,"verdict":"tampered"'*'"reason":"genesis: another key"'* ]]
}

@test "JSON is one object with the promised members" {
	run "$VERIFY" --json --trust "$VECTORS/trust" "$LOG"
	python3 - "$output" <<'PY'
import json, sys
told = json.loads(sys.argv[1])
assert told["valid"] is True and told["verdict"] == "ok" and told["entries"] == 14 and told["seq"] == 13, told
assert told["reason"] == "" and told["key_trusted"] is True and told["seals"] == 5 and told["segments"] == 2, told
assert told["head"] == "521fb49ea40638a5abc8683d04150a92fd6ca3001ede5356df30acf3ac54a7f7", told
assert told["root"] == "7v5ekwXLTZeiMmgiIoMFUWDY4VNQgV9j5mlUDg10AZo=" and told["strangers"] == [], told
PY
}

@test "a changed byte is named by segment, line and byte: exit 4" {
	sed -i '4s/"ana"/"eve"/' "$LOG/$FIRST"
	run "$VERIFY" --trust "$VECTORS/trust" "$LOG"
	[ "$status" -eq 4 ]
	[ "${lines[0]}" = "tampered: prev is not the hash of the line before" ]
	[[ "${lines[1]}" == "first bad line: $FIRST line 5 at byte "*" (seq 4)" ]]
}

@test "a cut inside a line is incomplete: exit 6" {
	truncate -s -20 "$LOG/$SECOND"
	run "$VERIFY" --json "$LOG"
	[ "$status" -eq 6 ]
	[[ "$output" == *'"verdict":"incomplete"'* ]]
}

@test "a log shorter than a note that was kept is cut: exit 5" {
	printf 'example.org/host1/audit\n13\n7v5ekwXLTZeiMmgiIoMFUWDY4VNQgV9j5mlUDg10AZo=\nseal 4\n' > "$BATS_TEST_TMPDIR/note"
	run "$VERIFY" --json --note "$BATS_TEST_TMPDIR/note" "$LOG"
	[ "$status" -eq 0 ]
	rm "$LOG/$SECOND"
	run "$VERIFY" --json --note "$BATS_TEST_TMPDIR/note" "$LOG"
	[ "$status" -eq 5 ]
	[[ "$output" == *'"verdict":"truncated"'* ]]
	run "$VERIFY" --note "$BATS_TEST_TMPDIR/note" "$LOG"
	[[ "$output" == *'a remembered head has 13 lines, this log 10'* ]]
}

@test "lines that no seal covers are named: exit 6" {
	sed -i '$d' "$LOG/$SECOND"
	run "$VERIFY" "$LOG"
	[ "$status" -eq 6 ]
	[[ "$output" == *'no seal covers lines 12 to 12'* ]]
}

@test "another root than a note that was kept is a fork: exit 5" {
	printf 'example.org/host1/audit\n9\n7v5ekwXLTZeiMmgiIoMFUWDY4VNQgV9j5mlUDg10AZo=\n' > "$BATS_TEST_TMPDIR/note"
	run "$VERIFY" --json --note "$BATS_TEST_TMPDIR/note" "$LOG"
	[ "$status" -eq 5 ]
	[[ "$output" == *'"verdict":"forked"'* ]]
}

@test "age counts when it is asked for, and for descriptors of a live log: exit 6" {
	last=$(date -u -d 2026-09-21T14:13:22Z +%s)
	now=$(date +%s)
	[ "$now" -gt $((last + 3600)) ] || skip "this machine's clock is not behind the vectors' time"
	run "$VERIFY" --max-age 1800 --json "$LOG"
	[ "$status" -eq 6 ]
	[[ "$output" == *'"verdict":"stale"'* ]]
	run "$VERIFY" --max-age $((now - last + 3600)) "$LOG"
	[ "$status" -eq 0 ]
	run "$VERIFY" --fds 2 3< "$LOG/$FIRST" 4< "$LOG/$SECOND"
	[ "$status" -eq 6 ]
	run "$VERIFY" --fds 2 --max-age 0 3< "$LOG/$FIRST" 4< "$LOG/$SECOND"
	[ "$status" -eq 0 ]
}

@test "descriptors in the wrong order are tampering" {
	run "$VERIFY" --fds 2 --max-age 0 4< "$LOG/$FIRST" 3< "$LOG/$SECOND"
	[ "$status" -eq 4 ]
}

@test "a folder without a log is never valid, one that is not there cannot be read" {
	rm "$LOG"/seg-*
	run "$VERIFY" --json "$LOG"
	[ "$status" -eq 4 ]
	[[ "$output" == *'"reason":"there is no log"'* ]]
	run "$VERIFY" --json "$LOG/none"
	[ "$status" -eq 3 ]
	[[ "$output" == *'"verdict":"unreadable"'* ]]
}

@test "files that are not the log's are named and change nothing" {
	touch "$LOG/seg-7.jsonl" "$LOG/"$'odd"name\n'
	run "$VERIFY" --json "$LOG"
	[ "$status" -eq 0 ]
	[[ "$output" == *'seg-7.jsonl'* ]]
	[[ "$output" == *'odd\"name\u000a'* ]]
}

@test "a segment that is a link or a pipe is not read" {
	mv "$LOG/$SECOND" "$BATS_TEST_TMPDIR/elsewhere"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$LOG/$SECOND"
	run timeout 5 "$VERIFY" "$LOG"
	[ "$status" -eq 3 ]
	[[ $output == *"unreadable: $SECOND: it is a link"* ]]
	rm "$LOG/$SECOND"
	mkfifo "$LOG/$SECOND"
	run timeout 5 "$VERIFY" "$LOG"
	[ "$status" -eq 3 ]
	[[ $output == *"unreadable: $SECOND: it is not a regular file"* ]]
	rm "$LOG/$SECOND"
	mkdir "$LOG/$SECOND"
	run timeout 5 "$VERIFY" "$LOG"
	[ "$status" -eq 3 ]
	[[ $output == *"unreadable: $SECOND: it is not a regular file"* ]]
}

@test "what is asked of a whole log and is not in it: exit 2" {
	run "$VERIFY" --prove 00000000-0000-0000-0000-000000000000 "$LOG"
	[ "$status" -eq 2 ]
	[[ $output == *"no record of this job"* ]]
	run "$VERIFY" --anchors 3 "$LOG"
	[ "$status" -eq 2 ]
	# Of a log that does not hold it is not asked.
	printf x | dd of="$LOG/$SECOND" bs=1 seek=300 conv=notrunc status=none
	run "$VERIFY" --anchors 3 "$LOG"
	[ "$status" -eq 4 ]
}

@test "wrong arguments: exit 2" {
	for arguments in "" "--key x $LOG" "--fds 0" "--fds 1 $LOG" "--max-age -1 $LOG" "--other $LOG" "$LOG $LOG"; do
		run "$VERIFY" $arguments
		[ "$status" -eq 2 ]
	done
}

@test "a second verifier, written from the format alone, agrees on vectors, mutations, bodies and fixtures" {
	# Every log that the tests of the rules build: forgeries, torn tails, removed beginnings, new keys.
	mkdir "$BATS_TEST_TMPDIR/logs"
	for test in al1_rules al1_proof auditor_rekey; do
		[ -x "${BUILD:-build}/unit/$test" ] || skip "${BUILD:-build}/unit/$test is not built: make unit"
		AUDITOR_TEST='*rekey*' AL1_DUMP=$BATS_TEST_TMPDIR/logs "${BUILD:-build}/unit/$test" >/dev/null 2>&1
	done
	[ "$(find "$BATS_TEST_TMPDIR/logs" -name expect | xargs head -qn 1 | sort -u | paste -sd' ')" = "0 4 6" ]
	run env PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 tests/support/agree_al1.py "$VERIFY" "$VECTORS" 13 \
	    "$BATS_TEST_TMPDIR/logs"
	echo "$output"
	[ "$status" -eq 0 ]
}
