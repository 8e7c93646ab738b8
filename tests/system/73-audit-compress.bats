#!/usr/bin/env bats
# Closed segments that are compressed: every reader goes on, the auditor too, and no kill loses a line.

load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
	ID=$(run_job echo one | jq -er .id)
	agent_safe audit rotate >/dev/null
	run_job echo two >/dev/null
	agent_safe audit rotate >/dev/null
	run_job false >/dev/null || true
	agent_safe audit-verify >/dev/null # seals what is there
	KEY=$(agent_safe status | jq -er .public_key)
	LOG=$WS_STATE/audit/log
	VERIFY=$WS_BIN/agent-safe-audit-verify
}

teardown() { workspace_clean; }

files() { find "$LOG" -name 'seg-*' -printf '%f\n' | sort; }
packed() { files | grep -c '\.zst$'; }
plain() { files | grep -c '\.jsonl$'; }
first() { files | head -n 1; }

# What the log says, whatever form its files have.
lines() { agent_safe audit export | sed '/^$/d'; }

@test "closed segments are compressed, the open one is not; the log verifies live and at rest, and goes on" {
	lines >"$WS_TOP/before"
	open=$(files | tail -n 1)
	agent_safe audit compress | jq -e '.segments == 2 and .skipped == 0 and .bytes_after < .bytes_before'
	[ "$(packed)" = 2 ] && [ "$(plain)" = 1 ] && [ "$(files | tail -n 1)" = "$open" ]
	lines | head -n "$(wc -l <"$WS_TOP/before")" | cmp - "$WS_TOP/before"
	agent_safe audit-verify | jq -e '.valid and .segments == 3'
	"$VERIFY" --key "$KEY" "$LOG"
	agent_safe audit show "$ID" | jq -es 'map(.type) | .[0] == "job.proposed" and .[-1] == "job.finished" and length >= 7'
	agent_safe audit prove "$ID" >"$WS_TOP/proof"
	"$VERIFY" --proof "$WS_TOP/proof" --key "$KEY"
	agent_safe audit compress | jq -e '.segments == 0'
	agent_safe serve --stop >/dev/null
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "the compressed file is an ordinary Zstandard file, owned as the plain one was, append-only if that was" {
	command -v zstd >/dev/null || skip "no zstd"
	cp "$LOG/$(first)" "$WS_TOP/plain"
	stat -c '%u %g %a' "$LOG/$(first)" >"$WS_TOP/owner"
	flags=$(lsattr "$LOG/$(first)" | cut -d' ' -f1)
	agent_safe audit compress >/dev/null
	zstd -dqc "$LOG/$(first)" | cmp - "$WS_TOP/plain"
	stat -c '%u %g %a' "$LOG/$(first)" | cmp - "$WS_TOP/owner"
	[ "$(lsattr "$LOG/$(first)" | cut -d' ' -f1)" = "$flags" ]
	lsattr -d "$LOG" | cut -d' ' -f1 | grep -q a
}

@test "audit prune removes compressed segments too" {
	agent_safe audit compress >/dev/null
	agent_safe audit prune --before 99999999 | jq -e '.segments == 2'
	[ "$(packed)" = 0 ]
	agent_safe audit-verify | jq -e '.valid and .key_trusted'
}

@test "where both files are there the plain one counts, and the other is named" {
	chattr -R -a "$LOG"
	head -c 100 /dev/urandom >"$LOG/$(first).zst"
	run "$VERIFY" --key "$KEY" "$LOG"
	[ "$status" = 0 ]
	[[ $output == *"not part of the log: "*.zst* ]]
	agent_safe audit-verify | jq -e .valid
	# Nobody knows which of them is right: neither goes.
	run agent_safe audit compress
	[ "$status" = 2 ]
	[[ $output == *audit_integrity_error* ]]
	[ -e "$LOG/$(first)" ] && [ "$(packed)" = 1 ]
}

@test "a compressed segment that was damaged, cut, replaced or is a bomb: exit 4, and the auditor refuses" {
	agent_safe audit compress >/dev/null
	agent_safe serve --stop >/dev/null
	chattr -R -a "$LOG"
	file=$LOG/$(first)
	cp -p "$file" "$WS_TOP/kept"
	check() {
		run "$VERIFY" --key "$KEY" "$LOG"
		echo "$output"
		[ "$status" = 4 ]
		run agent_safe status
		[ "$status" -ne 0 ]
		cat "$WS_TOP/kept" >"$file"
	}
	printf X | dd of="$file" bs=1 seek=200 conv=notrunc status=none
	check
	truncate -s -5 "$file"
	check
	printf '\n' >>"$file"
	check
	cat "$(find "$LOG" -name 'seg-*.zst' | sort | tail -n 1)" >"$file"
	check
	printf '\x28\xb5\x2f\xfd\xc0\x00\x00\x00\x00\x00\x00\x01\x00\x00\x03\x00\x00x' >"$file"
	check
	if command -v zstd >/dev/null; then
		head -c 140000000 /dev/zero | zstd -qc --stream-size=140000000 >"$file"
		check
		head -c 120000000 /dev/zero | zstd -qc --stream-size=120000000 >"$file"
		check
	fi
	"$VERIFY" --key "$KEY" "$LOG"
	workspace_start
}

@test "killed before any of its calls: each line is there, the log verifies, and the next run finishes" {
	"${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -O1 -shared -fPIC -o "$WS_TOP/strike.so" "$ROOT/tests/support/strike.c"
	lines >"$WS_TOP/before"
	n=0 status=137
	while [ "$status" = 137 ]; do
		n=$((n + 1))
		run env LD_PRELOAD="$WS_TOP/strike.so" STRIKE_AT=$n "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" \
		    audit compress
		"$VERIFY" --key "$KEY" "$LOG"
	done
	echo "$n: $status $output"
	[ "$status" = 0 ]
	[ "$n" -gt 8 ]
	[ "$(packed)" = 2 ] && [ "$(plain)" = 1 ]
	lines | head -n "$(wc -l <"$WS_TOP/before")" | cmp - "$WS_TOP/before"
	agent_safe serve --stop >/dev/null
	workspace_start
	agent_safe audit-verify | jq -e .valid
	lsattr -d "$LOG" | cut -d' ' -f1 | grep -q a
}

@test "whoever may not remove the plain files compresses nothing and says so" {
	run agent_safe_as "$WS_UID" audit compress
	[ "$status" -ne 0 ]
	[ "$(packed)" = 0 ]
}

@test "more segments than one message carries: the folder is read, plain and compressed ones alike" {
	for _ in $(seq 252); do agent_safe audit rotate >/dev/null; done
	agent_safe audit compress | jq -e '.segments == 254'
	run_job echo last >/dev/null
	agent_safe audit rotate >/dev/null
	# Of two files of one segment the plain one counts, also here.
	chattr -R -a "$LOG"
	last=$(files | tail -n 2 | head -n 1)
	head -c 50 /dev/urandom >"$LOG/$last.zst"
	agent_safe audit-verify | jq -e '.valid and .segments == 256'
	lines >"$WS_TOP/all"
	[ "$(wc -l <"$WS_TOP/all")" -gt 500 ]
	jq -es 'all(type == "object") and ([.[].seq] == [range(length)])' "$WS_TOP/all"
	agent_safe audit show "$ID" | jq -es 'map(.type) | .[0] == "job.proposed" and .[-1] == "job.finished" and length >= 7'
}

@test "the open segment with a false newer one behind it: its lines are all kept" {
	chattr -R -a "$LOG"
	touch "$LOG/seg-00000000000000999999.jsonl"
	lines >"$WS_TOP/before"
	run agent_safe audit compress
	rm "$LOG/seg-00000000000000999999.jsonl"
	# Whatever became of it, the trio notices, and nothing that was recorded is gone.
	run_job true >/dev/null 2>&1 || true
	agent_safe serve --stop >/dev/null || true
	workspace_start
	lines | head -n "$(wc -l <"$WS_TOP/before")" | cmp - "$WS_TOP/before"
	agent_safe audit-verify | jq -e .valid
	run_job true | jq -e '.status == "succeeded"'
}
