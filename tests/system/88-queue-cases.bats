#!/usr/bin/env bats
# Field cases of queues (FC-801 to FC-810), and what the first system did when its worker died (P11 to P13, P32, P35).

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs
load ../support/jobs

setup() {
	need_root
	workspace_make
}
teardown() { workspace_clean; }

begin() {
	sed -i "s/\"version\": 2,/\"version\": 2, \"queue\": { \"workers\": $1 }, \"approvals\": { \"expires_seconds\": 3600 },/" \
	    "$WS/agent-safe-policy.json"
	workspace_start
}
approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null
	echo "$id"
}
field() { agent_safe show "$1" | jq -r ".$2"; }
is() { [ "$(field "$1" status)" = "$2" ]; }
kill_trio() {
	local pids
	pids=$(workspace_pids | sed 's/.* //')
	# shellcheck disable=SC2086
	kill -KILL $pids
	# shellcheck disable=SC2086
	wait_gone 50 $pids
}

# Proposals and decisions of one client, numbered.
propose_many() {
	local n
	for n in $(seq "$1" "$2"); do approved -- sh -c "echo $n >>ids" || return; done
}

@test "FC-801: workers, proposers and a reader at once: nobody is told of a lock, every job runs once" {
	local most=$(full 1000 30) errors=$BATS_TEST_TMPDIR/errors pids=() pid
	begin 4
	propose_many 1 "$most" >/dev/null 2>>"$errors" 3>&- &
	pids+=($!)
	propose_many $((most + 1)) $((2 * most)) >/dev/null 2>>"$errors" 3>&- &
	pids+=($!)
	for pid in $(seq 20); do agent_safe list >/dev/null 2>>"$errors"; done
	for pid in "${pids[@]}"; do wait "$pid"; done
	all_ended() { agent_safe list --all --status succeeded | jq -e --argjson n $((2 * most)) 'length == $n'; }
	wait_until 60 all_ended
	cat "$errors"
	[ ! -s "$errors" ]
	sort -n "$WS/proj/ids" | cmp - <(seq $((2 * most)))
}

@test "P11, FC-803, FC-804: the trio dies under a run: found again, ended once, never run twice; other jobs go on" {
	begin 0
	local id
	id=$(approved --max-attempts 3 -- sh -c 'echo x >>starts; sleep 2; echo y >>ends')
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- &
	wait_until 10 test -s "$WS/proj/starts"
	kill_trio
	wait
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	wait_until 20 is "$id" succeeded
	[ "$(cat "$WS/proj/starts" "$WS/proj/ends")" = "x
y" ]
	agent_safe show "$id" | jq -e '.attempts == 1 and (.attempts_log | length) == 1'
	agent_safe audit-verify | jq -e .valid
}

@test "P11: a worker that is killed leaves its job running; nobody else can take it, its end is stored" {
	begin 0
	local id worker
	id=$(approved -- sh -c 'echo x >>starts; sleep 2')
	as_uid "$(id -u)" "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" work --once --execute >/dev/null 2>&1 3>&- 4>&- &
	worker=$!
	wait_until 10 test -s "$WS/proj/starts"
	kill -KILL $worker
	wait $worker || true
	is "$id" running
	agent_safe work --once --execute | jq -e '.status == "idle"'
	wait_until 20 is "$id" succeeded
	[ "$(wc -l <"$WS/proj/starts")" = 1 ]
}

@test "P35: two workers of one name, one job: one runs it, and the stored result is that run's" {
	begin 0
	local id i
	id=$(approved -- sh -c 'echo x >>starts; sleep 1; wc -l <starts')
	for i in 1 2; do
		agent_safe run "$id" --execute --worker same >"$BATS_TEST_TMPDIR/$i" 2>"$BATS_TEST_TMPDIR/$i.err" 3>&- &
	done
	wait
	wait_until 10 is "$id" succeeded
	[ "$(wc -l <"$WS/proj/starts")" = 1 ]
	agent_safe show "$id" | jq -e '.result.stdout == "1\n" and .attempts == 1'
	# The one that lost was told so, or waited for the same end: nothing in between.
	for i in 1 2; do
		jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/$i" ||
		    jq -e '.error.code == "invalid_job_state"' "$BATS_TEST_TMPDIR/$i.err"
	done
}

@test "P32: a torn line at the end of the log stops nobody: set aside, on record, the queue goes on" {
	begin 0
	local id segment
	id=$(approved -- true)
	agent_safe serve --stop >/dev/null
	sleep 0.5
	segment=$(find "$WS_STATE/audit" -name 'seg-*.jsonl' | sort | tail -n 1)
	chattr -a "$segment" 2>/dev/null || true
	printf '{"v":1,"seq":' >>"$segment"
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
	agent_safe audit export | jq -r 'select(.type == "log.segment") | .d.torn' >"$BATS_TEST_TMPDIR/torn"
	cat "$BATS_TEST_TMPDIR/torn"
	grep -qx 13 "$BATS_TEST_TMPDIR/torn"
}

@test "P67: approved under a wide policy, run under one that refuses it: dead_letter with the reason, never run" {
	begin 0
	local id
	id=$(approved -- sh -c 'echo x >>starts')
	sed -i 's/{ "program": "sh" }, //' "$WS/agent-safe-policy.json"
	agent_safe policy reload >/dev/null
	agent_safe run "$id" --execute | jq -e '.status == "dead_letter" and .error_class == "policy_denied"' || [ $? = 1 ]
	is "$id" dead_letter
	[ ! -e "$WS/proj/starts" ]
}

@test "FC-806: a clock that was set back lengthens no approval" {
	begin 0
	local id other
	id=$(approved -- true)
	agent_safe serve --stop >/dev/null
	wait_until 10 test ! -s "$WS_STATE/broker/queue.db-wal"
	# As if the newest record had been made two hours from now: the clock has been set back since.
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("UPDATE outbox SET created_us = created_us + 7200000000 WHERE sn = (SELECT max(sn) FROM outbox)")
	db.commit()
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	[ "$(field "$id" approval_status)" = expired ]
	run --separate-stderr agent_safe run "$id" --execute
	[ "$status" = 2 ]
	# What is approved from now on holds as long as ever.
	other=$(approved -- true)
	agent_safe run "$other" --execute | jq -e '.status == "succeeded" and .attempts_log[0].duration_ms >= 0'
	agent_safe audit-verify | jq -e .valid
}

@test "FC-806: a clock that was set back holds up nobody who asked for no delay, nor a retry beyond its five minutes" {
	begin 0
	local now later failed
	now=$(approved -- true)
	later=$(approved --not-before 60 -- true)
	failed=$(approved --max-attempts 2 -- false)
	agent_safe run "$failed" --execute >/dev/null 2>&1 &
	wait_until 20 is "$failed" retry_wait
	agent_safe serve --stop >/dev/null
	wait_until 10 test ! -s "$WS_STATE/broker/queue.db-wal"
	# As if all this had happened two hours from now.
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	for table, columns in (("outbox", ["created_us"]), ("jobs", ["created_us", "updated_us", "available_us"])):
	    db.execute("UPDATE %s SET %s" % (table, ", ".join(c + " = " + c + " + 7200000000" for c in columns)))
	db.execute("UPDATE jobs SET approval_expires_us = approval_expires_us + 7200000000 WHERE approval_expires_us > 0")
	db.commit()
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	agent_safe show "$now" | jq -e '.waiting_for == ["worker"]'
	agent_safe run "$now" --execute | jq -e '.status == "succeeded"'
	agent_safe show "$later" | jq -e '.waiting_for == ["delay"]'
	agent_safe work --once --execute | jq -e --arg id "$failed" '.id == $id and .status == "failed" and .attempts == 2'
	agent_safe work --once --execute | jq -e '.status == "idle"'
}

@test "FC-807: other accounts look at the queue while the daemons are there and when they are not: the broker still writes" {
	begin 0
	local id before
	id=$(propose -- true)
	agent_safe_as "$WS_UID" list | jq -e 'length == 1'
	before=$(stat -c '%n %u:%g %a' "$WS_STATE"/broker/*)
	agent_safe serve --stop >/dev/null
	agent_safe_as "$WS_UID" list >/dev/null 2>&1 || true
	agent_safe_as "$OTHER_UID" list >/dev/null 2>&1 || true
	agent_safe list | jq -e 'length == 1'
	run_job true | jq -e '.status == "succeeded"'
	diff <(sed 's/ [0-7]*$//; /-wal/d' <<<"$before") <(stat -c '%n %u:%g' "$WS_STATE"/broker/* | sed '/-wal/d')
	[ -z "$(find "$WS_STATE/broker" -perm /077 -type f)" ]
}

@test "FC-808: a watcher that stands still lets no side file grow" {
	begin 0
	local watcher long i
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	as_uid "$(id -u)" "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" watch --cursor 0 >/dev/null 2>&1 3>&- 4>&- &
	watcher=$!
	sleep 0.3
	kill -STOP $watcher
	for i in $(seq 60); do propose -- echo "$long" "$i" >/dev/null; done
	kill -KILL $watcher
	wait $watcher || true
	# 4 MiB are moved into the database; a step of some hundred KiB comes on top.
	[ "$(stat -c %s "$WS_STATE/broker/queue.db-wal")" -lt 6000000 ]
	[ "$(stat -c %s "$WS_STATE/broker/queue.db")" -gt 6000000 ]
}
