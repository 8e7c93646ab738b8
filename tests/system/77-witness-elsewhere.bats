#!/usr/bin/env bats
# A witness that speaks HTTP, asked by curl: on the loopback, with a server of the test's own.

load ../support/workspace
load ../support/courier

setup() {
	courier_setup
	SERVER=
}

teardown() {
	http_stop
	workspace_clean
}

http_start() {
	command -v curl >/dev/null || skip "no curl"
	as_uid "$COURIER_UID" python3 "$ROOT/tests/support/httpwitness.py" "$WS_TOP/witness" "$OUT/w1" "$OUT/port" "$OUT/conflict" \
	    3>&- 4>&- &
	for _ in $(seq 100); do [ ! -e "$OUT/port" ] || break; sleep 0.1; done
	read -r port SERVER <"$OUT/port"
	URL=http://127.0.0.1:$port
	# The very words of the manual.
	sed -n '/^#!\/bin\/sh$/,/^\.Ed$/p' "$ROOT/packaging/man/agent-safe-witness.1" | sed '$d; s/\\e/\\/g' >"$WS_TOP/ask-witness"
	[ "$(wc -l <"$WS_TOP/ask-witness")" -gt 8 ]
	chmod 755 "$WS_TOP/ask-witness"
}

http_stop() {
	[ -z "$SERVER" ] || kill "$SERVER"
	SERVER=
}

# COMMAND...: the policy's command of the witness w1.
http_policy() {
	courier_policy "{ witnesses: [\$w1 * { command: $(jq -nc '$ARGS.positional' --args -- "$@") }] }"
	courier_start
}

# It stands where the log has never told us: the auditor asks again from there.
goes_on_from_elsewhere() {
	run_job true >/dev/null
	courier_await '.witnesses[0] | .state == "good" and .cosigned > 8'
	agent_safe serve --stop >/dev/null
	before=$(cosigned w1)
	[ "$before" -gt 8 ]
	rm "$OUT"/w1/cosigned/*
	courier_start
	run_job true >/dev/null
	courier_await ".witnesses[0] | .state == \"good\" and .cosigned > $before"
	agent_safe serve --stop >/dev/null
	"$BUILD_DIR/agent-safe-audit-verify" --key "$(jq -r .public_key "$WS_TOP/first")" --witness "$VKEY_w1" "$WS_STATE/audit/log"
}

@test "the manual's script asks a witness over HTTP: cosigned, another size, another past, not known, not there" {
	http_start
	http_policy /bin/sh "$WS_TOP/ask-witness" "$URL" # as root a program below /tmp is not started
	goes_on_from_elsewhere
	courier_start
	mv "$OUT/w1/logs" "$OUT/w1/elsewhere"
	: >"$OUT/w1/logs"
	chown "$COURIER_UID" "$OUT/w1/logs"
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "failing"'
	mv "$OUT/w1/elsewhere" "$OUT/w1/logs"
	echo "422 inconsistent" >"$OUT/conflict"
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "forked"'
	rm "$OUT/conflict"
	courier_await '.witnesses[0].state == "good"'
	http_stop
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "failing"'
}

@test "curl alone asks a witness over HTTP" {
	http_start
	http_policy "$(command -v curl)" -sS --data-binary @- "$URL/add-checkpoint"
	goes_on_from_elsewhere
	courier_start
	# An error page is no cosignature and no size.
	echo "503 busy" >"$OUT/conflict"
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "wrong_answer"'
	rm "$OUT/conflict"
	courier_await '.witnesses[0].state == "good"'
}
