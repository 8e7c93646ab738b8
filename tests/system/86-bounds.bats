#!/usr/bin/env bats
# Who takes too much gets an error, and others notice nothing: connections, half lines, unread answers.

bats_require_minimum_version 1.5.0
load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
	SOCKET=$(agent_safe status | jq -er .propose_socket)
	BROKER=$(agent_safe status | jq -er .pids.broker)
}
teardown() { workspace_clean; }

crowd() { timeout 60 python3 -B "$ROOT/tests/support/crowd.py" "$SOCKET" "$BROKER" "$@" 3>&- 4>&-; }

# The same broker, and it still does its work.
still_serves() {
	[ "$(agent_safe status | jq -r .pids.broker)" = "$BROKER" ]
	run_job true | jq -e '.status == "succeeded"'
}

@test "one user opens all it can: it is told at its bound, another is served" {
	crowd idle "$WS_UID" "$OTHER_UID"
	still_serves
}

@test "two users fill the socket: a third is served, who has the most gives one up" {
	crowd idle "$WS_UID" 70003 "$OTHER_UID"
	still_serves
}

@test "half lines, and bytes one by one, hold up nobody" {
	crowd half "$WS_UID" 70003 "$OTHER_UID"
	crowd drip "$WS_UID" "$OTHER_UID"
	still_serves
}

@test "who never reads its answers holds up nobody, and costs bounded memory" {
	crowd deaf "$WS_UID" "$OTHER_UID"
	run_job true >/dev/null
	crowd deaf_watch "$WS_UID" "$OTHER_UID"
	still_serves
}

@test "lines longer than a request may be hold up nobody" {
	crowd long_line "$WS_UID" "$OTHER_UID"
	still_serves
}

@test "a submitter with all it may have unfinished is told so, and another proposes" {
	local cwd=$WS_TOP/other
	mkdir "$cwd"
	chown "$OTHER_UID:$OTHER_UID" "$cwd"
	python3 -B - >"$BATS_TEST_TMPDIR/lines" <<-'END'
	import json
	for i in range(1001):
	    print(json.dumps({"jsonrpc": "2.0", "id": i, "method": "job.submit",
	        "params": {"command": ["true"], "idempotency_key": "k%d" % i}}))
	END
	as_uid "$WS_UID" timeout 100 python3 -B "$ROOT/tests/support/rawclient.py" "$SOCKET" "$WS/proj" \
	    <"$BATS_TEST_TMPDIR/lines" >"$BATS_TEST_TMPDIR/answers"
	[ "$(grep -c '"result"' "$BATS_TEST_TMPDIR/answers")" = 1000 ]
	tail -n 1 "$BATS_TEST_TMPDIR/answers" | jq -e '.error.data.code == "limit_exceeded" and (.error.message | test("1000"))'
	agent_safe_as "$OTHER_UID" submit --cwd "$cwd" -- true | jq -e '.status == "queued"'
}
