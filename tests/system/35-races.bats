#!/usr/bin/env bats
# Many at once: one job, one run, one decision, and nobody hears of the race.

load ../support/workspace
load ../support/expect

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# P36: with the first system one of forty was told storage_error.
@test "forty proposals of one key: one job, forty successes, one of them made it" {
	local n pid pids=
	for n in $(seq 40); do
		agent_safe_as "$WS_UID" submit --key race --cwd "$WS/proj" -- true >"$BATS_TEST_TMPDIR/$n" 2>"$BATS_TEST_TMPDIR/$n.err" &
		pids+=" $!"
	done
	for pid in $pids; do wait "$pid"; done
	[ "$(cat "$BATS_TEST_TMPDIR"/*.err | grep -c error)" = 0 ]
	[ "$(jq -r .id "$BATS_TEST_TMPDIR"/[0-9]* 2>/dev/null | sort -u | wc -l)" = 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/[0-9]? "$BATS_TEST_TMPDIR"/[0-9] | jq -s 'map(select(.created)) | length')" = 1 ]
	[ "$(records job.proposed "$(jq -r .id "$BATS_TEST_TMPDIR/1")")" = 1 ]
}

drain() {
	local answer
	while answer=$(agent_safe work --once --execute --worker "w$1" 2>>"$BATS_TEST_TMPDIR/errors"); do
		[ "$(jq -r .status <<<"$answer")" != idle ] || return 0
		jq -r .id <<<"$answer" >>"$BATS_TEST_TMPDIR/done.$1"
	done
	echo "worker $1: $answer" >>"$BATS_TEST_TMPDIR/errors"
	return 1
}

# P37: with the first system workers that lost a race ended with an error.
@test "twelve workers drain sixty approved jobs: each runs once, no error line" {
	local n pid pids=
	for n in $(seq 60); do
		approved -- sh -c "echo $n >>drained"
	done >"$BATS_TEST_TMPDIR/ids"
	: >"$BATS_TEST_TMPDIR/errors"
	for n in $(seq 12); do
		drain "$n" &
		pids+=" $!"
	done
	for pid in $pids; do wait "$pid"; done
	cat "$BATS_TEST_TMPDIR/errors"
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
	sort -n "$WS/proj/drained" | cmp - <(seq 60)
	[ "$(cat "$BATS_TEST_TMPDIR"/done.* | sort)" = "$(sort "$BATS_TEST_TMPDIR/ids")" ]
	agent_safe list --all --status succeeded >"$BATS_TEST_TMPDIR/all"
	is "$(cat "$BATS_TEST_TMPDIR/all")" 'map(select(.command[0] == "sh")) | length == 60 and all(.attempts == 1)'
	[ "$(ls "$BATS_TEST_TMPDIR"/done.* | wc -l)" -gt 1 ] # it was not one worker's work
	is "$(agent_safe audit-verify)" '.valid and .verdict == "ok"'
}

@test "opposite decisions at the same time: one winner, one record, the other is told the state" {
	local round id approve deny won
	for round in 1 2 3 4 5 6; do
		id=$(propose -- true)
		agent_safe approve "$id" --by ana >"$BATS_TEST_TMPDIR/approve" 2>&1 &
		approve=$!
		agent_safe deny "$id" --by ben --reason no >"$BATS_TEST_TMPDIR/deny" 2>&1 &
		deny=$!
		won=
		if wait "$approve"; then won+=approved; fi
		if wait "$deny"; then won+=denied; fi
		[ "$won" = approved ] || [ "$won" = denied ]
		[ "$(field "$id" .approval_status)" = "$won" ]
		[ "$(cat "$BATS_TEST_TMPDIR/approve" "$BATS_TEST_TMPDIR/deny" | jq -s -r 'map(.error.code // empty) | .[0]')" = invalid_job_state ]
		is "$(agent_safe show "$id")" '.decisions | length == 1'
		echo "$id" >>"$BATS_TEST_TMPDIR/ids"
	done
	agent_safe serve --stop
	cat "$WS_STATE"/audit/log/seg-* | jq -r 'select(.type == "job.approved" or .type == "job.denied") | .d.job' >"$BATS_TEST_TMPDIR/decided"
	workspace_start
	while read -r id; do
		[ "$(grep -cx "$id" "$BATS_TEST_TMPDIR/decided")" = 1 ]
	done <"$BATS_TEST_TMPDIR/ids"
}

@test "approve and cancel at the same time: either way nothing runs that was cancelled" {
	local round id
	for round in 1 2 3; do
		id=$(propose -- sh -c 'echo ran >>cancelled-ran')
		agent_safe approve "$id" --by ana >/dev/null 2>&1 &
		agent_safe cancel "$id" >/dev/null 2>&1 &
		wait
		agent_safe run "$id" --execute >/dev/null 2>&1 || true
		[ "$(field "$id" .status)" = cancelled ]
	done
	[ ! -e "$WS/proj/cancelled-ran" ]
}

@test "run and cancel at the same time: cancelled or ended, never running on" {
	local round id
	for round in 1 2 3; do
		id=$(approved -- sleep 20)
		agent_safe run "$id" --execute >/dev/null 2>&1 &
		agent_safe cancel "$id" >/dev/null 2>&1 || true
		# Where the cancel came before the start, the run was refused; where it came after, it ended it.
		wait
		[ "$(field "$id" .status)" = cancelled ]
	done
}
