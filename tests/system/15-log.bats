#!/usr/bin/env bats
# A log that was tampered with, cut or left open: the verifier's exit codes 4, 5 and 6 (0 when all is well).

load ../support/workspace

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	run_job echo one >/dev/null
	run_job false >/dev/null || true
	KEY=$(agent_safe status | jq -er .public_key)
	# A checkpoint that somebody kept: what the log must still contain later.
	# The root is over the lines before the seal; the size that audit head tells counts the seal too.
	agent_safe audit head | jq -r '.origin, .size - 1, .root' | {
		read -r origin
		read -r size
		read -r root
		printf '%s\n%s\n%s\n' "$origin" "$size" "$(python3 -c 'import sys, base64
print(base64.b64encode(bytes.fromhex(sys.argv[1])).decode())' "$root")"
	} >"$WS_TOP/note"
	agent_safe serve --stop >/dev/null
	cp -r "$WS_STATE/audit/log" "$WS_TOP/whole"
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR KEY
}

teardown_file() { workspace_clean; }

setup() {
	need_root
	COPY=$BATS_TEST_TMPDIR/log
	cp -r "$WS_TOP/whole" "$COPY"
	chmod -R u+w "$COPY"
	FIRST=$(find "$COPY" -name "seg-*" | sort | head -1)
	LAST=$(find "$COPY" -name "seg-*" | sort | tail -1)
}

verify() { "$WS_BIN/agent-safe-audit-verify" --json --key "$KEY" "$COPY"; }

# says VERDICT STATUS
says() {
	run verify
	echo "$output"
	[ "$status" = "$2" ]
	[ "$(jq -r .verdict <<<"${lines[0]}")" = "$1" ] || [ "$1" = any ]
}

@test "as it was left: valid, exit 0" {
	run verify
	[ "$status" = 0 ]
	jq -e '.valid == true and .entries > 5' <<<"$output"
}

@test "a flipped byte in first, second, middle and last line (make check-full: each): exit 4" {
	local number lines at numbers
	lines=$(wc -l <"$FIRST")
	numbers="1 2 $((lines / 2)) $lines"
	[ -z "${FULL:-}" ] || numbers=$(seq "$lines")
	for number in $numbers; do
		cp "$WS_TOP/whole/${FIRST##*/}" "$FIRST"
		# The 40th byte of that line: inside its header.
		at=$(($(head -n $((number - 1)) "$FIRST" | wc -c) + 40))
		printf '\001' | dd of="$FIRST" bs=1 seek="$at" conv=notrunc status=none
		says any 4
	done
}

@test "a deleted line: exit 4" {
	sed -i 3d "$FIRST"
	says any 4
}

@test "a line twice: exit 4" {
	sed -i 3p "$FIRST"
	says any 4
}

@test "two lines swapped: exit 4" {
	sed -i '3{h;d};4{G}' "$FIRST"
	says any 4
}

@test "cut in the middle of the last line: exit 6" {
	truncate -s -20 "$LAST"
	says any 6
}

@test "cut behind a record that no seal covers: exit 6" {
	# Everything after the last seal but one, less that one's successor seals.
	local keep
	keep=$(grep -n '"type":"log.seal"' "$LAST" | tail -2 | head -1 | cut -d: -f1)
	head -n $((keep + 1)) "$LAST" >"$LAST.new"
	[ "$(wc -l <"$LAST.new")" -lt "$(wc -l <"$LAST")" ] || skip "the last two seals stand side by side"
	mv "$LAST.new" "$LAST"
	says any 6
}

@test "cut before the first seal: exit 4" {
	head -n 1 "$FIRST" >"$FIRST.new"
	find "$COPY" -name "seg-*" ! -name "${FIRST##*/}.new" -delete
	mv "$FIRST.new" "$FIRST"
	says any 4
}

# Leaves what ends with the last seal but $1.
cut_at_seal() {
	local keep
	keep=$(grep -n '"type":"log.seal"' "$LAST" | tail -n $(($1 + 1)) | head -n 1 | cut -d: -f1)
	head -n "$keep" "$LAST" >"$LAST.new"
	mv "$LAST.new" "$LAST"
}

@test "with a checkpoint that was kept: valid while the log contains it" {
	"$WS_BIN/agent-safe-audit-verify" --key "$KEY" --note "$WS_TOP/note" "$COPY"
}

@test "cut exactly at an older seal than a kept checkpoint: exit 5" {
	cut_at_seal 2
	run "$WS_BIN/agent-safe-audit-verify" --json --key "$KEY" --note "$WS_TOP/note" "$COPY"
	echo "$output"
	[ "$status" = 5 ]
}

@test "the same cut without one is not seen: the honest limit" {
	cut_at_seal 2
	run verify
	[ "$status" = 0 ]
}

@test "a checkpoint of another history: exit 5" {
	sed '3s/^./A/' "$WS_TOP/note" >"$BATS_TEST_TMPDIR/note"
	cmp -s "$WS_TOP/note" "$BATS_TEST_TMPDIR/note" && sed -i '3s/^./B/' "$BATS_TEST_TMPDIR/note"
	run "$WS_BIN/agent-safe-audit-verify" --json --key "$KEY" --note "$BATS_TEST_TMPDIR/note" "$COPY"
	echo "$output"
	[ "$status" = 5 ]
}

@test "an old last seal with a maximum age: stale, exit 6" {
	sleep 2
	run "$WS_BIN/agent-safe-audit-verify" --json --key "$KEY" --max-age 1 "$COPY"
	echo "$output"
	[ "$status" = 6 ]
}

@test "no log at all is never valid" {
	rm -rf "${COPY:?}"/*
	run verify
	[ "$status" != 0 ]
}

@test "another key: exit 4" {
	KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
	says any 4
}

@test "without a key the verdict says that the key is untrusted" {
	run "$WS_BIN/agent-safe-audit-verify" --json "$COPY"
	[ "$status" = 0 ]
	jq -e '.valid == true and .key_trusted == false' <<<"$output"
}

@test "a live log that was cut back at a seal: the daemons refuse to go on" {
	local log keep
	chattr -R -a "$WS_STATE/audit/log" 2>/dev/null || true
	log=$(find "$WS_STATE/audit/log" -name "seg-*" | sort | tail -1)
	keep=$(grep -n '"type":"log.seal"' "$log" | tail -2 | head -1 | cut -d: -f1)
	head -n "$keep" "$log" >"$WS_TOP/cut"
	cat "$WS_TOP/cut" >"$log"
	run agent_safe status
	[ "$status" != 0 ]
	cp -r "$WS_TOP/whole/." "$WS_STATE/audit/log/"
}
