#!/usr/bin/env bats
# Counterparts of the first system's approval tests.

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

# Every test begins with nothing to work on.
setup() {
	local id
	need_root
	for id in $(agent_safe list --status queued --status retry_wait --all | jq -r '.[].id'); do
		agent_safe cancel "$id" >/dev/null
	done
}

with_policy() {
	workspace_policy
	agent_safe policy reload >/dev/null
}

first_policy() {
	with_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" }, { "program": "false" },
	  { "program": "echo" }, { "program": "cat" }, { "program": "sleep" }, { "program": "env" }, { "program": "sh" } ] }
	END
}

is_status() { [ "$(field "$1" .status)" = "$2" ]; }

# --- before a decision ---

@test "a pending job cannot be run, and for work there is nothing to do" {
	local id
	id=$(propose -- sh -c 'echo ran >ran')
	refused approval_required agent_safe run "$id" --execute
	is "$(agent_safe work --once --execute)" '.status == "idle"'
	is_status "$id" queued
	[ ! -e "$WS/proj/ran" ]
}

@test "assess changes nothing, and allowed is not ready" {
	local id before
	id=$(propose -- true)
	state_at_rest
	before=$(state_digest)
	run agent_safe assess "$id"
	is "$output" '.allowed and (.execution_ready | not) and .approval_status == "pending" and .rule_index == 0 and .matched_rule.program == "true"'
	[ "$(state_digest)" = "$before" ]
	agent_safe approve "$id" --by ana
	is "$(agent_safe assess "$id")" '.allowed and .execution_ready and .approval_status == "approved"'
}

# --- approve ---

@test "an approval is kept, and a worker in another process runs the job" {
	local id
	id=$(propose -- echo worked)
	run agent_safe approve "$id" --by 'Ana B.' --reason 'looked at it'
	is "$output" '.status == "queued" and .approval_status == "approved" and .decided_by == "Ana B." and .decision_reason == "looked at it"'
	is "$output" '(.decided_at | type) == "number" and .approval_expires_at > .decided_at'
	run agent_safe work --once --execute --worker w1
	is "$output" --arg id "$id" '.id == $id and .status == "succeeded" and .result.stdout == "worked\n" and .lease_owner == null and .attempts_log[0].worker == "w1"'
}

@test "a worker passes over pending jobs that stand in front" {
	local first second
	first=$(propose -- echo first)
	second=$(approved -- echo second)
	is "$(agent_safe work --once --execute)" --arg id "$second" '.id == $id'
	is_status "$first" queued
}

@test "an approval cannot go past the policy" {
	local id
	id=$(propose -- ls)
	refused policy_denied agent_safe approve "$id" --by ana
	[ "$(field "$id" .approval_status)" = pending ]
}

@test "approve twice, and deny after approve, are invalid_job_state" {
	local id
	id=$(approved -- true)
	refused invalid_job_state agent_safe approve "$id" --by ana
	refused invalid_job_state agent_safe deny "$id" --by ana --reason 'too late'
	[ "$(field "$id" .approval_status)" = approved ]
}

# --- deny ---

@test "deny cancels, also with a policy that cannot be read; the job cannot be approved later" {
	local id
	id=$(propose -- true)
	agent_safe serve --stop
	workspace_policy <<<'{ broken'
	run agent_safe deny "$id" --by ana --reason 'not this one'
	is "$output" '.status == "cancelled" and .approval_status == "denied" and .decision_reason == "not this one"'
	first_policy
	refused invalid_job_state agent_safe approve "$id" --by ana
	refused invalid_job_state agent_safe run "$id" --execute
}

@test "six wrong ways to say who and why leave the job as it was" {
	local id before long
	id=$(propose -- true)
	before=$(agent_safe show "$id")
	long=$(printf 'x%.0s' $(seq 201))
	refused invalid_input agent_safe approve "$id" --by ''
	refused invalid_input agent_safe approve "$id" --by ' '
	refused invalid_input agent_safe approve "$id" --by "$long"
	refused invalid_input agent_safe deny "$id" --by ana --reason ' '
	refused invalid_input agent_safe deny "$id" --by "$long" --reason no
	refused invalid_input agent_safe deny "$id" --by ana --reason "$(printf 'x%.0s' $(seq 2001))"
	[ "$(agent_safe show "$id")" = "$before" ]
}

# The first system stored by and reason with the secret masked.  Here nothing that looks like one is
# stored at all: the decision is not taken, and what is on record is which field it was.
@test "a secret in by or in the reason: refused, not taken, found nowhere" {
	local id token
	token=$(printf 'gh%s_%s' p Z9y8X7w6V5u4Z9y8X7w6V5u4Z9y8X7w6V5u4)
	id=$(propose -- true)
	refused sensitive_input agent_safe approve "$id" --by "$token"
	refused sensitive_input agent_safe deny "$id" --by ana --reason "because $token"
	[ "$(field "$id" .approval_status)" = pending ]
	[ "$(records job.refused)" -ge 2 ]
	refute grep -rqF "$token" "$WS_STATE"
}

# --- decisions and the log ---

# The first system wrote the decision to its log before the commit and rolled back when that failed.
# Here queue and log are written in one order with a sequence number; the client hears of the decision
# only when it is on record, and what is on record at the next start is what the queue says.
@test "an auditor that dies in the middle of a decision: queue and log agree afterwards" {
	local decision id auditor status
	for decision in approve deny; do
		id=$(propose -- true)
		auditor=$(workspace_pids | awk '$1 == "auditor" { print $2 }')
		kill -STOP "$auditor"
		agent_safe "$decision" "$id" --by ana --reason r >"$BATS_TEST_TMPDIR/answer" 2>&1 &
		sleep 0.5
		kill -KILL "$auditor"
		status=0
		wait $! || status=$?
		[ "$status" = 3 ]
		[ "$(jq -r .error.code "$BATS_TEST_TMPDIR/answer")" = broker_unreachable ]
		wait_until 10 workspace_start
		case $(field "$id" .approval_status) in
		pending) [ "$(records "job.${decision/approve/approved}" "$id")" = 0 ] ;;
		approved) [ "$(records job.approved "$id")" = 1 ] ;;
		denied) [ "$(records job.denied "$id")" = 1 ] ;;
		*) false ;;
		esac
	done
}

# --- retries ---

@test "retry of a failed, a cancelled and a buried job needs a new approval; a succeeded one stays" {
	local failed cancelled buried good id
	failed=$(approved -- false)
	agent_safe run "$failed" --execute || [ $? = 1 ]
	cancelled=$(approved -- true)
	agent_safe cancel "$cancelled"
	buried=$(approved -- env)
	with_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "true" }] }'
	agent_safe run "$buried" --execute || [ $? = 2 ]
	first_policy
	is_status "$buried" dead_letter
	for id in "$failed" "$cancelled" "$buried"; do
		run agent_safe retry "$id"
		is "$output" '.status == "queued" and .approval_status == "pending" and .attempts == 0 and .result == null and .error_class == null and .decided_by == null'
		refused approval_required agent_safe run "$id" --execute
	done
	good=$(approved -- true)
	agent_safe run "$good" --execute
	refused invalid_job_state agent_safe retry "$good"
}

@test "the decision that came before a retry stays in the history" {
	local id
	id=$(approved -- false)
	agent_safe run "$id" --execute || [ $? = 1 ]
	agent_safe retry "$id"
	agent_safe approve "$id" --by second
	is "$(agent_safe show "$id")" '[.decisions[] | select(.decision == "approved") | .by] == ["tester", "second"]'
	is "$(agent_safe show "$id")" '.attempts_log | length == 1'
}

@test "an automatic retry stands on the first approval" {
	local id
	id=$(approved --max-attempts 2 -- sh -c 'test -e again || { touch again; exit 1; }')
	run agent_safe run "$id" --execute
	[ "$status" = 0 ]
	is "$output" '.status == "succeeded" and .attempts == 2 and .approval_status == "approved"'
	is "$output" '[.decisions[] | select(.decision == "approved")] | length == 1'
}

# The first system let an approval hold for ever.
@test "an approval expires: approval_expired, and a new one is needed" {
	local id
	with_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "true" }], "approvals": { "expires_seconds": 1 } }
	END
	id=$(approved -- true)
	sleep 1.2
	refused approval_expired agent_safe run "$id" --execute
	is "$(agent_safe show "$id")" '.status == "queued" and .approval_status == "expired" and .attempts == 0'
	is "$(agent_safe inbox)" --arg id "$id" 'map(.id) | index($id) != null'
	first_policy
	agent_safe approve "$id" --by ana
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded"'
}

# The first system's expired lease, recovered when the queue was otherwise empty: see 12-deaths, where
# the next trio collects a job that ran on, and 30-first-core for a keeper that died.

# --- running ---

@test "a program that cannot be started fails as spawn_error with stage and errno, and nobody holds the job" {
	local id
	printf 'touch PWNED\n' >"$WS/proj/noshebang"
	chmod 755 "$WS/proj/noshebang"
	chown "$WS_UID" "$WS/proj/noshebang"
	with_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/noshebang" }] }'
	id=$(approved -- ./noshebang)
	run agent_safe run "$id" --execute
	first_policy
	[ "$status" = 1 ]
	is "$output" '.status == "failed" and .error_class == "spawn_error" and .lease_owner == null and .result.stage == "exec" and .result.errno == 8'
	[ ! -e "$WS/proj/PWNED" ]
}

# The first system passed the resolved path as argv[0]; multi-call programs broke.  Here the file is
# pinned, and argv[0] is what was submitted.
@test "the resolved file runs, under the name that was submitted, and no shell reads the words" {
	is "$(run_job sh -c 'echo "$0"')" '.result.stdout == "sh\n"'
	is "$(run_job echo '$HOME' '`id`' ';' '*')" '.result.stdout == "$HOME `id` ; *\n"'
}

@test "the working directory is frozen when the job is proposed" {
	local id
	mkdir -p "$WS/proj/here"
	chown "$WS_UID" "$WS/proj/here"
	id=$(cd "$WS/proj/here" && agent_safe_as "$WS_UID" submit --new -- sh -c 'pwd' | jq -er .id)
	[ "$(field "$id" .cwd)" = "$WS/proj/here" ]
	agent_safe approve "$id" --by ana
	is "$(cd / && agent_safe run "$id" --execute)" --arg here "$WS/proj/here" '.result.stdout == $here + "\n"'
}

@test "two that run one job at the same time: it runs once, the other hears invalid_job_state or the result" {
	local id n states=
	id=$(approved -- sh -c 'echo x >>both; sleep 1')
	for n in 1 2; do
		agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/$n" 2>&1 &
	done
	wait
	[ "$(wc -l <"$WS/proj/both")" = 1 ]
	for n in 1 2; do
		states+="$(jq -r '.status // .error.code' "$BATS_TEST_TMPDIR/$n") "
	done
	[[ $states == *succeeded* ]]
	[[ $states =~ ^(succeeded |invalid_job_state )+$ ]]
	is "$(agent_safe show "$id")" '.attempts == 1'
}

# --- lists ---

@test "the inbox holds what waits for a decision; list filters by approval and status" {
	local pending denied done
	pending=$(propose -- true)
	denied=$(propose -- true)
	agent_safe deny "$denied" --by ana --reason no
	done=$(approved -- true)
	agent_safe run "$done" --execute
	is "$(agent_safe inbox)" --arg id "$pending" 'map(.id) == [$id]'
	is "$(agent_safe list --all --approval denied)" --arg id "$denied" 'map(.id) | index($id) != null'
	is "$(agent_safe list --all --approval denied)" 'all(.approval_status == "denied" and .status == "cancelled")'
	is "$(agent_safe list --all --status succeeded --status failed)" --arg id "$done" '(map(.id) | index($id) != null) and all(.status == "succeeded" or .status == "failed")'
}

# --- old jobs ---

# The first system changed its database in place.  Here import copies, and no old approval counts:
# what waited is pending, what ran at that time is lost and not run again.
@test "old jobs of all seven states come in closed: nothing of them runs without a new approval" {
	local id
	python3 - "$WS_TOP/first.db" "$WS/proj" <<-'END'
	import sqlite3, sys, uuid
	db = sqlite3.connect(sys.argv[1])
	db.execute("""create table jobs (id text primary key, idempotency_key text unique, command text, status text,
	  created_at real, updated_at real, available_at real, attempts int, max_attempts int, timeout int, cwd text,
	  lease_owner text, lease_until real, result text, error_class text, approval_status text, decided_by text,
	  decided_at real, decision_reason text, source text)""")
	for n, status in enumerate("queued running retry_wait succeeded failed cancelled dead_letter".split()):
	    db.execute("insert into jobs values (?,?,'[\"true\"]',?,1700000000.0,1700000000.0,1700000000.0,0,1,60,?,null,null,null,null,"
	               "'approved','bob',1.5,null,'cli')", (str(uuid.uuid4()), "old-" + status, status, sys.argv[2]))
	db.commit()
	END
	is "$(agent_safe import "$WS_TOP/first.db")" '.imported == 7'
	agent_safe list --all >"$BATS_TEST_TMPDIR/all"
	is "$(cat "$BATS_TEST_TMPDIR/all")" 'map(select(.idempotency_key | startswith("old-")) | .idempotency_key[4:] + " " + .status + " " + .approval_status) | sort ==
	    ["cancelled cancelled legacy", "dead_letter dead_letter legacy", "failed failed legacy", "queued queued pending",
	     "retry_wait queued pending", "running lost legacy", "succeeded succeeded legacy"]'
	is "$(agent_safe work --once --execute)" '.status == "idle"'
	is "$(agent_safe list --all --approval legacy)" 'length == 5'
	id=$(jq -er '.[] | select(.idempotency_key == "old-queued") | .id' "$BATS_TEST_TMPDIR/all")
	refused approval_required agent_safe run "$id" --execute
}

# --- programs ---

@test "two missing programs do not match each other" {
	with_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "no-such-program" }] }'
	run agent_safe assess "$(propose -- no-such-program)"
	first_policy
	is "$output" '.allowed == false and .verdict == "program_unavailable" and .program == null'
}

@test "prefix and path are compared with their case" {
	with_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "echo", "args": ["Status"] }] }'
	is "$(agent_safe assess "$(propose -- echo Status)")" '.allowed'
	is "$(agent_safe assess "$(propose -- echo status)")" '.allowed == false'
	is "$(agent_safe assess "$(propose -- ECHO Status)")" '.allowed == false'
	first_policy
}

@test "three policies of a wrong shape are policy errors, and the loaded one stays" {
	local text before
	before=$(agent_safe status | jq -r .policy_digest)
	for text in '[]' '{ "version": 2, "rules": {} }' '{ "version": 2, "rules": ["echo"] }'; do
		workspace_policy <<<"$text"
		refused policy_denied agent_safe policy reload
		[ "$(agent_safe status | jq -r .policy_digest)" = "$before" ]
		is "$(agent_safe status)" '.policy_changed and .policy_loaded'
	done
	first_policy
}
