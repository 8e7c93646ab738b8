#!/usr/bin/env bats
# Counterparts of the first system's core tests: what its users rely on holds here too, or the test says why not.

load ../support/workspace
load ../support/procs
load ../support/expect

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# As the proposer, without --new: the key is made from the content.
submit() { agent_safe_as "$WS_UID" submit --cwd "$WS/proj" "$@"; }

# A token that is none: put together at run time.
github_token() { printf 'gh%s_%s' p A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4E5f6; }

@test "the same proposal twice is one job" {
	local one two
	one=$(submit -- echo same)
	two=$(submit -- echo same)
	is "$one" '.created'
	is "$two" '.created | not'
	[ "$(jq -r .id <<<"$one")" = "$(jq -r .id <<<"$two")" ]
}

@test "a secret in an argument is refused, and nothing is stored" {
	local before
	before=$(agent_safe list --limit 1000 | jq length)
	refused sensitive_input submit -- echo "$(github_token)"
	refute grep -qF "$(github_token)" <<<"$output"
	[ "$(agent_safe list --limit 1000 | jq length)" = "$before" ]
	refute grep -rqF "$(github_token)" "$WS_STATE"
}

# The first system refuses the bare word --token, and with it `pytest --session`.  Here an option
# alone is no secret: what follows it is.
@test "--token with a value behind it is refused; alone it holds no secret" {
	refused sensitive_input submit -- echo --token opaque-value-1
	is "$(submit -- echo --token)" '.created'
}

@test "a dry run keeps the job queued and says what the policy says, on record" {
	local id
	id=$(propose -- ls)
	run agent_safe run "$id"
	is "$output" '.status == "queued" and .attempts == 0 and .dry_run.policy_allowed == false and (.dry_run.policy_error | length > 0)'
	[ "$(records job.dry_run "$id")" = 1 ]
}

# The first system buried a job whose policy file was merely missing.  Here a policy must have been
# read and say no; that a file is missing or broken is in 34-probes (P4).
@test "a policy that was read and says no buries the approved job, attempts 0" {
	local id old
	old=$(cat "$WS/agent-safe-policy.json")
	id=$(approved -- id)
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "true" }] }'
	agent_safe policy reload
	run agent_safe run "$id" --execute
	workspace_policy <<<"$old"
	agent_safe policy reload
	[ "$status" = 2 ] # it did not run
	is "$output" '.status == "dead_letter" and .error_class == "policy_denied" and .attempts == 0 and .approval_status == "approved"'
	is "$output" '.result.error | length > 0'
}

@test "a token that a job prints is masked in its result" {
	# Printed in two pieces, so that argv holds none.
	run_job sh -c 'printf "key sk-%s end" "abcdefghijklmnopqrstuvwxyz0123"' >"$BATS_TEST_TMPDIR/job"
	[ "$(jq -r .result.stdout "$BATS_TEST_TMPDIR/job")" = 'key <redacted> end' ]
	is "$(cat "$BATS_TEST_TMPDIR/job")" '.attempts_log[0].redactions == 1'
}

@test "a job that succeeded is not run again, also after the policy changed" {
	local id old
	old=$(cat "$WS/agent-safe-policy.json")
	id=$(approved -- sh -c 'echo once >>once')
	agent_safe run "$id" --execute
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [] }'
	agent_safe policy reload
	run agent_safe run "$id" --execute
	workspace_policy <<<"$old"
	agent_safe policy reload
	[ "$status" = 0 ]
	is "$output" '.status == "succeeded" and .attempts == 1'
	[ "$(wc -l <"$WS/proj/once")" = 1 ]
}

@test "code 7 with two attempts: retry_wait with a visible next try, then failed" {
	local id
	id=$(approved --max-attempts 2 -- sh -c 'exit 7')
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" &
	wait_until 5 is_status "$id" retry_wait
	run agent_safe show "$id"
	is "$output" '.attempts == 1 and .waiting_for == ["retry"] and .attempts_log[0].exit_code == 7'
	# 2 s and no more than a fifth of it off, for the jitter.
	is "$output" '.attempts_log[0] | .next_try_at - .ended_at | . > 1.5 and . < 2.5'
	is "$output" '.attempts_log[0].next_try_at == .available_at'
	wait $! || [ $? = 1 ]
	run agent_safe show "$id"
	is "$output" '.status == "failed" and .error_class == "nonzero_exit" and .attempts == 2 and .result.returncode == 7'
	is "$output" '.attempts_log | length == 2 and .[1].next_try_at == null'
}

is_status() { [ "$(field "$1" .status)" = "$2" ]; }

@test "a cancelled job can be retried: attempts 0, pending again" {
	local id
	id=$(approved -- true)
	agent_safe cancel "$id"
	run agent_safe retry "$id"
	is "$output" '.status == "queued" and .approval_status == "pending" and .attempts == 0 and .decided_by == null'
}

# The first system's lease: an expired one put the job back in the queue, where it ran twice.  There
# is no lease here: the keeper knows.  When it dies, the job dies with it and is lost, and nobody
# runs it again but after a new approval.
@test "a job whose keeper died is lost and not requeued when another one is worked" {
	local id other
	id=$(approved -- sh -c 'echo begun >>begun; sleep 60')
	agent_safe run "$id" --execute >/dev/null &
	wait_until 5 test -e "$WS/proj/begun"
	kill -KILL "$(running "$WS_BIN/agent-safe-keeper")"
	wait $! || [ $? = 1 ]
	is_status "$id" lost
	[ "$(field "$id" .error_class)" = unknown_outcome ]
	other=$(approved -- true)
	is "$(agent_safe work --once --execute)" --arg id "$other" '.id == $id and .status == "succeeded"'
	is "$(agent_safe work --once --execute)" '.status == "idle"'
	[ "$(wc -l <"$WS/proj/begun")" = 1 ]
	refused invalid_job_state agent_safe run "$id" --execute
	is "$(agent_safe retry "$id")" '.status == "queued" and .approval_status == "pending"'
}

@test "a byte changed in the log is found: exit 4" {
	local copy=$BATS_TEST_TMPDIR/log
	agent_safe serve --stop
	cp -r "$WS_STATE/audit/log" "$copy"
	workspace_start
	"$WS_BIN/agent-safe-audit-verify" "$copy" >/dev/null || [ $? -lt 4 ]
	sed -i '2s/"type":"\(.\)/"type":"X/' "$copy"/seg-*
	ends 4 "$WS_BIN/agent-safe-audit-verify" --json "$copy"
	is "$output" '.valid == false'
}

@test "twenty proposals at once are all on record, and the log verifies" {
	local n
	for n in $(seq 20); do
		propose -- echo "parallel $n" >"$BATS_TEST_TMPDIR/$n" &
	done
	wait
	[ "$(cat "$BATS_TEST_TMPDIR"/[0-9]* | sort -u | wc -l)" = 20 ]
	run agent_safe audit-verify
	is "$output" '.valid and .verdict == "ok"'
	agent_safe serve --stop
	cat "$WS_STATE"/audit/log/seg-* | jq -r 'select(.type == "job.proposed") | .d.job' >"$BATS_TEST_TMPDIR/proposed"
	workspace_start
	[ "$(cat "$BATS_TEST_TMPDIR"/[0-9]* | sort | comm -23 - <(sort "$BATS_TEST_TMPDIR/proposed") | wc -l)" = 0 ]
}

@test "prefix, root and timeout are enforced" {
	local old id
	old=$(cat "$WS/agent-safe-policy.json")
	mkdir -p "$WS/other" && chown "$WS_UID" "$WS/other"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "limits": { "timeout_seconds": 30 },
	  "rules": [{ "program": "echo", "args": ["hello"] }] }
	END
	agent_safe policy reload
	verdict() { agent_safe assess "$(agent_safe_as "$WS_UID" submit --new "$@" | jq -er .id)" | jq -r .verdict; }
	local got
	got=$(verdict --cwd "$WS/proj" --timeout 30 -- echo hello you
	    verdict --cwd "$WS/proj" --timeout 30 -- echo goodbye
	    verdict --cwd "$WS/other" --timeout 30 -- echo hello
	    verdict --cwd "$WS/proj" --timeout 31 -- echo hello)
	workspace_policy <<<"$old"
	agent_safe policy reload
	[ "$(xargs <<<"$got")" = 'allowed no_rule outside_roots timeout' ] || { echo "$got"; false; }
}

@test "a program of the same name elsewhere is not the allowed one" {
	printf '#!/bin/sh\necho fake\n' >"$WS/proj/echo"
	chmod 755 "$WS/proj/echo"
	chown "$WS_UID" "$WS/proj/echo"
	run agent_safe assess "$(propose -- ./echo hello)"
	is "$output" '.allowed == false and .verdict == "no_rule" and .failed[0].text == "the rule means another file of this name"'
	# The bare name is looked up on the policy's path, never in the working directory.
	is "$(agent_safe assess "$(propose -- echo hello)")" '.allowed and (.program.named | endswith("bin/echo"))'
	rm "$WS/proj/echo"
}

# The first system changed its older databases in place, at any opening.  Here `import` reads one, and
# what cannot be run as it is comes in as history.
@test "a database of its version 0.1 comes in by import; a job without a directory is not run" {
	local id
	python3 - "$WS_TOP/old.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("create table jobs (id text primary key, idempotency_key text unique, command text not null, status text not null,"
	           " created_at real not null, attempts int not null, max_attempts int not null, timeout int not null, result text)")
	db.execute("insert into jobs values ('0b9d5c1e-7d3a-4a53-9d3e-3b7f3a3d9c11', 'old', '[\"true\"]', 'queued', 1700000000.0, 0, 1, 60, null)")
	db.commit()
	END
	is "$(agent_safe import "$WS_TOP/old.db")" '.imported == 1 and .waiting == []'
	id=$(agent_safe list --all | jq -er '.[] | select(.idempotency_key == "old") | .id')
	is "$(agent_safe show "$id")" '.status == "cancelled" and .approval_status == "legacy"'
	agent_safe retry "$id" || [ $? = 2 ]
	refused policy_denied agent_safe approve "$id" --by ana || refused invalid_job_state agent_safe approve "$id" --by ana
}
