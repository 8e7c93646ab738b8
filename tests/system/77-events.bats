#!/usr/bin/env bats
# Every name that a record can have, one scenario each: the real programs write it, with the members
# that agent-safe-audit(7) promises.  The last test holds the list against that page.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/courier
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() {
	if mountpoint -q "$WS_STATE/audit"; then
		workspace_stop
		umount "$WS_STATE/audit"
	fi
	workspace_clean
}

# How long the log is now: what a scenario adds comes behind.
mark() { FROM=$(agent_safe audit head | jq -er .size); }

# $1: a name.  The records with that name since mark(), in $SEEN; the log ends with them when $LOG is a folder.
see() {
	SEEN=$BATS_TEST_TMPDIR/seen.$1
	agent_safe audit export --from "${FROM:-0}" | jq -c --arg t "$1" 'select(.type == $t)' >"$SEEN"
	[ -s "$SEEN" ] || { echo "no $1 since line ${FROM:-0}"; return 1; }
}

# $1: a name, then the members of d, with a * those that may be absent: these and no others.
emits() {
	local name=$1
	shift
	see "$name"
	jq -es --arg members "$*" '
	    ($members | split(" ") | map(select(. != ""))) as $told | ($told | map(rtrimstr("*"))) as $all |
	    ($told | map(select(endswith("*") | not))) as $must |
	    all(.[]; (.d | keys) as $keys | $must - $keys == [] and $keys - $all == [])' "$SEEN" >/dev/null ||
	    { echo "$name has other members than: $*"; cat "$SEEN"; return 1; }
}

# Of the records that emits() found, one is so; $1: a filter over d.
one_is() { jq -es "any(.[]; .d | $1)" "$SEEN" || { cat "$SEEN"; return 1; }; }

approved() { # propose's arguments
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null || return
	echo "$id"
}

# --- of the broker ---

QUEUED='job cause attempt attempts_left priority ahead not_before_us expires_us* approval_expires_us* key group* mutex*
    waiting_for after* spec_sha256'

@test "job.queued: by an approval, with its place and what it waits for" {
	mark
	first=$(approved --priority 5 -- true)
	second=$(approved --not-before 2099-01-01T00:00:00Z --key later -- true)
	emits job.queued $QUEUED
	one_is ".job == \"$first\" and .cause == \"approved\" and .attempt == 1 and .attempts_left == 1 and
	    .priority == 5 and .ahead == 0 and .waiting_for == []"
	one_is ".job == \"$second\" and .ahead == 1 and .waiting_for == [\"delay\"] and .key == \"later\""
	# Once for each, right behind the approval.
	agent_safe audit export --from "$FROM" | jq -es --arg i "$first" '
	    [.[] | select(.d.job == $i)] | map(.type) == ["job.proposed", "job.approved", "job.queued"] and
	    .[2].seq == .[1].seq + 1'
}

@test "job.queued: nothing that is undecided or denied is in the queue, nor is a job that was retried by hand" {
	mark
	propose -- true
	id=$(propose -- true)
	agent_safe deny "$id" --by tester --reason no >/dev/null
	agent_safe retry "$id" >/dev/null
	agent_safe audit export --from "$FROM" | jq -es 'any(.[]; .type == "job.retry") and all(.[]; .type != "job.queued")'
	agent_safe approve "$id" --by tester >/dev/null
	emits job.queued $QUEUED
}

@test "job.queued: again when a held job is released, and only then" {
	id=$(approved -- true)
	mark
	agent_safe hold "$id" >/dev/null
	agent_safe audit export --from "$FROM" | jq -es 'all(.[]; .type != "job.queued")'
	agent_safe release "$id" >/dev/null
	emits job.queued $QUEUED
	one_is '.cause == "released" and .waiting_for == []'
	# Undecided, it is in no queue that it could come back to.
	id=$(propose -- true)
	agent_safe hold "$id" >/dev/null
	agent_safe release "$id" >/dev/null
	[ "$(agent_safe audit export --from "$FROM" | jq -rs 'map(select(.type == "job.queued")) | length')" = 1 ]
	agent_safe hold "$id" >/dev/null
	agent_safe approve "$id" --by tester >/dev/null
	emits job.queued $QUEUED
	one_is ".job == \"$id\" and .waiting_for == [\"hold\"]"
}

@test "job.queued: again when an attempt failed and another is due" {
	id=$(approved --max-attempts 2 -- false)
	mark
	run agent_safe run "$id" --execute
	emits job.queued $QUEUED
	one_is '.cause == "retry" and .attempt == 2 and .attempts_left == 1 and .waiting_for == ["retry"]'
	[ "$(wc -l <"$SEEN")" = 1 ]
}

@test "job.queued: again when the last job that it waited for has ended" {
	a=$(approved -- true)
	b=$(approved --after "$a" -- true)
	emits job.queued $QUEUED
	one_is ".job == \"$b\" and .waiting_for == [\"job\"] and .after == [{job_id: \"$a\", want: \"ok\", met: false}]"
	mark
	agent_safe run "$a" --execute >/dev/null
	emits job.queued $QUEUED
	one_is ".job == \"$b\" and .cause == \"needs\" and .waiting_for == [] and .after[0].met"
}

# --- of the executor ---

STREAMS=$(for stream in stdout stderr; do for what in bytes stored_bytes truncated sha256 stored_sha256; do
	printf '%s_%s ' $stream $what
done; done)

@test "exec.output: what was written, kept and masked, by kind, right before the end in one commit" {
	local id key
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "sh", "args": ["run"] } ],
	  "limits": { "keep_bytes": 2000 } }
	END
	agent_safe policy reload >/dev/null
	key=AKIA$(printf 'ABCDEFGHIJKLMNOP')
	# Not in its arguments: these are searched for secrets too.
	printf 'echo %s password=%s >&2; echo %s; seq 2000\n' "$key" hunter2hunter2 "$key" >"$WS/proj/run"
	mark
	id=$(approved -- sh run)
	agent_safe run "$id" --execute >/dev/null
	emits exec.output job attempt slot $STREAMS stdout_head_bytes stdout_redactions stdout_masked \
	    stderr_head_bytes stderr_redactions stderr_masked capture_fault
	one_is '.stdout_truncated and .stdout_masked == {token: 1} and .stdout_redactions == 1 and (.capture_fault | not) and
	    (.stderr_truncated | not) and .stderr_masked == {token: 1, named: 1} and .stderr_redactions == 2 and .stdout_bytes > 8000 and
	    .stdout_stored_bytes < 3000'
	jq -j '.d.stdout_stored_sha256' "$SEEN" >"$BATS_TEST_TMPDIR/sum"
	[ "$(cat "$BATS_TEST_TMPDIR/sum")" = "$(sha256sum "$(find "$WS_STATE/runs" -path "*$id.1/out")" | cut -c1-64)" ]
	agent_safe audit export --from "$FROM" | jq -es '
	    (map(.type) | index("exec.output")) as $i | .[$i + 1].type == "exec.exit" and
	    .[$i + 1].d.stdout_stored_sha256 == .[$i].d.stdout_stored_sha256'
	agent_safe audit-verify --runs "$WS_STATE/runs" | jq -e .valid
}

# --- secrets that an operator lets pass ---

# A policy that lets them, and what stands for a secret.
with_override() {
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "secrets": { "override": true },
	  "rules": [ { "program": "sh" }, { "program": "echo" }, { "program": "true" } ] }
	END
	agent_safe policy reload >/dev/null
	VALUE=hunter2$(printf 'Zq7')pass
}

# submit as the operator: $1 what passes, then the command
submit_passing() {
	local place=$1
	shift
	agent_safe submit --new --cwd "$WS/proj" --allow-secret "$place" --by ana --reason 'the old tool knows no file' -- "$@"
}

# Where below the state folder these bytes lie, one path a line.
lies_in() { grep -rlaF -- "$1" "$WS_STATE" 2>/dev/null | sed "s|^$WS_STATE/||" | sort; }

@test "secret.override: who, why, what and where, never the value; and it runs as it is" {
	local id
	with_override
	mark
	submit_passing 'command[5]' sh -c 'test ${#2} = 14 && echo "it is $2."; echo "$2" >&2' x --token "$VALUE" \
	    >"$BATS_TEST_TMPDIR/job"
	id=$(jq -er .id "$BATS_TEST_TMPDIR/job")
	emits secret.override job who reason elements 'spec_sha256*'
	one_is '.who.by == "ana" and .who.uid == 0 and .reason == "the old tool knows no file" and
	    (.elements | length) == 1 and .elements[0].place == "command[5]" and .elements[0].rule == "option_secret" and
	    (.elements[0].hmac | test("^[0-9a-f]{64}$"))'
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran"
	jq -e '.result.stdout == "it is <redacted>.\n" and .result.stderr == "<redacted>\n" and .attempts_log[0].redactions == 2' \
	    "$BATS_TEST_TMPDIR/ran"
	see exec.output
	one_is '.stdout_masked == {exact: 1}'
	# The log has the same stand-in everywhere.
	hmac=$(agent_safe audit export | jq -r 'select(.type == "secret.override") | .d.elements[0].hmac')
	see exec.intent
	one_is ".argv[5] == {redacted: true, hmac: \"$hmac\"}"
	see job.proposed
	one_is ".command[5] == {redacted: true, hmac: \"$hmac\"}"
}

@test "secret.override: the value lies in the queue's database and in nothing else, whoever looks sees the stand-in" {
	local id where
	with_override
	# A hook that gets every proposal, so that it would lie in its input.
	jq '.queue.hooks = [{ on: ["job.proposed", "job.queued", "job.finished"], argv: ["/bin/cat"] }]' "$WS/agent-safe-policy.json" >"$WS_TOP/with-hook"
	workspace_policy <"$WS_TOP/with-hook"
	agent_safe policy reload >/dev/null
	id=$(submit_passing 'command[2]' echo --password "$VALUE" --idle | jq -er .id)
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >/dev/null
	{
		agent_safe list; agent_safe show "$id"; agent_safe assess "$id"; agent_safe logs "$id"
		agent_safe_table list; agent_safe_table show "$id"; agent_safe_table assess "$id"; agent_safe -o wide list
		agent_safe watch --cursor 0 --once; agent_safe audit export; agent_safe_table audit show "$id"
		for format in ecs ocsf cef; do agent_safe audit export --format $format; done
	} >"$BATS_TEST_TMPDIR/seen"
	refute grep -qF "$VALUE" "$BATS_TEST_TMPDIR/seen"
	grep -qF '<redacted>' "$BATS_TEST_TMPDIR/seen"
	agent_safe_table show "$id" | grep -q '\[2\] a secret that was let pass  <redacted>'
	# Positive control: what is no secret is found, in the log too.
	lies_in --idle | grep -q '^audit/log/seg-'
	lies_in "$VALUE" >"$BATS_TEST_TMPDIR/where"
	# The file and its journal, and no other name.
	grep -q '^broker/queue\.db' "$BATS_TEST_TMPDIR/where"
	refute grep -vx 'broker/queue\.db\(-wal\)\?' "$BATS_TEST_TMPDIR/where"
	# Pruned it is gone: freed pages are overwritten, and the journal with them at a stop in good order.
	agent_safe prune --older-than 0 >/dev/null
	agent_safe serve --stop >/dev/null
	[ -z "$(lies_in "$VALUE")" ]
}

@test "secret.override: an inbox of an undecided job, and who may only propose, see the stand-in" {
	local id
	with_override
	id=$(submit_passing 'command[2]' echo --password "$VALUE" | jq -er .id)
	{ agent_safe inbox; agent_safe_table inbox; } >"$BATS_TEST_TMPDIR/seen"
	refute grep -qF "$VALUE" "$BATS_TEST_TMPDIR/seen"
	agent_safe inbox | jq -e '.[0].command[2] | .redacted and (.hmac | length) == 64'
}

@test "secret.override: not on propose.sock, not where the policy does not say so, and each refusal is on record" {
	local id code
	with_override
	mark
	run agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --allow-secret 'command[2]' --by me --reason x -- echo --password "$VALUE"
	[ "$status" = 2 ]
	cp "$ROOT/tests/support/rawclient.py" "$WS_TOP/"
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{"command":["echo","--password","'"$VALUE"'"],"allow_secrets":["command[2]"],"by":"me","reason":"x"}}' |
	    as_uid "$WS_UID" python3 -B "$WS_TOP/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/answer"
	grep -q '"not_permitted"' "$BATS_TEST_TMPDIR/answer"
	see job.refused
	one_is '.code == "not_permitted" and .what == "allow_secrets"'
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "echo" } ] }
	END
	agent_safe policy reload >/dev/null
	run submit_passing 'command[2]' echo --password "$VALUE"
	[ "$status" = 2 ]
	grep -q '"policy_denied"' <<<"$output"
	see job.refused
	one_is '.code == "policy_denied" and .what == "allow_secrets"'
	[ -z "$(lies_in "$VALUE")" ]
	agent_safe audit export | jq -es 'all(.[]; .type != "secret.override")'
}

@test "secret.override: only what was found, by name, with a reason; a value that stands elsewhere is hidden or refused" {
	with_override
	mark
	refused() { # code, then arguments of submit
		local code=$1
		shift
		run agent_safe submit --new --cwd "$WS/proj" "$@"
		[ "$status" = 2 ] || { echo "$output"; return 1; }
		grep -q "\"$code\"" <<<"$output" || { echo "$output"; return 1; }
	}
	refused sensitive_input -- echo --password "$VALUE"
	refused invalid_input --allow-secret 'command[2]' -- echo --password "$VALUE"
	refused invalid_input --allow-secret 'command[2]' --by ana --reason '' -- echo --password "$VALUE"
	refused invalid_input --allow-secret 'command[1]' --by ana --reason x -- echo plain --password-file
	refused invalid_input --allow-secret 'command[9]' --by ana --reason x -- echo --password "$VALUE"
	refused invalid_input --allow-secret 'command[0]' --by ana --reason x -- echo --password "$VALUE"
	refused invalid_input --allow-secret 2 --by ana --reason x -- echo --password "$VALUE"
	refused sensitive_input --allow-secret 'command[2]' --by ana --reason x -- echo --password "$VALUE" --token other9value
	refused sensitive_input --allow-secret 'command[2]' --by ana --reason x --label "$VALUE" -- echo --password "$VALUE"
	refused sensitive_input --allow-secret 'command[2]' --by ana --reason "it is $VALUE" -- echo --password "$VALUE"
	refused sensitive_input --allow-secret 'command[2]' --by ana --reason x -- echo --password $'two\nlines9'
	[ -z "$(lies_in "$VALUE")" ]
	submit_passing 'command[2]' echo --password "$VALUE" "again: $VALUE" >"$BATS_TEST_TMPDIR/job"
	jq -e '.command[3].redacted' "$BATS_TEST_TMPDIR/job"
	see secret.override
	one_is '[.elements[].rule] == ["option_secret", "same_value"]'
	refute grep -qF "$VALUE" "$BATS_TEST_TMPDIR/job"
	# Two jobs of the same content are two: no digest of it is a key to try guesses on.
	[ "$(jq -r .idempotency_key "$BATS_TEST_TMPDIR/job")" != \
	    "$(agent_safe submit --cwd "$WS/proj" --allow-secret 'argv[2]' --by ana --reason x -- echo --password "$VALUE" "again: $VALUE" | jq -r .idempotency_key)" ]
}

# --- the life of a job ---

@test "job.proposed, job.approved, job.dispatch, exec.intent, exec.start, exec.exit, job.finished: a run that succeeds" {
	mark
	run_job true >/dev/null
	emits job.proposed job who key command cwd timeout max_attempts source 'label*' 'meta*' allowed reason 'spec_sha256*' 'hook*'
	one_is '.allowed and .who.uid == '"$WS_UID"' and .command == ["true"]'
	emits job.approved job who 'reason*' spec_sha256 expires_us self_approved 'policy_sha256*'
	one_is '.who.by == "tester" and .who.uid == 0 and (.self_approved | not)'
	emits job.dispatch job attempt slot spec_sha256
	emits exec.intent job attempt slot spec_sha256 argv cwd env_sha256 uid exe profile network
	one_is '.exe.path == "/usr/bin/true" and (.exe.sha256 | length) == 64 and .profile == "default" and .network == "none"'
	emits exec.start job attempt slot time_us layers landlock_abi filter_sha256 landlock
	one_is '(.layers | index("landlock")) and (.layers | index("seccomp"))'
	emits exec.exit job attempt slot outcome exit_code signal stage error core_dumped leftovers forced capture_fault idle \
	    process_limit started_us ended_us duration_us user_us system_us max_rss_kb memory_peak layers 'denied*' \
	    'denied_sha256*' $STREAMS 'detail*'
	one_is '.outcome == "succeeded" and .exit_code == 0'
	emits job.finished job attempt outcome status 'error_class*' 'exit_code*' 'signal*' 'stage*' 'errno*' 'next_try_us*' stdout stderr
	agent_safe audit export --from "$FROM" | jq -r 'select(.src != "auditor") | .type' | paste -sd' ' >"$BATS_TEST_TMPDIR/order"
	[ "$(cat "$BATS_TEST_TMPDIR/order")" = \
	    'job.proposed job.approved job.queued job.dispatch exec.intent exec.start exec.output exec.exit job.finished' ]
}

@test "job.refused, job.denied, job.decision_refused, job.dry_run: what did not go on" {
	mark
	run agent_safe submit --new --cwd "$WS/proj" -- echo --password hunter2hunter2
	emits job.refused who code what 'rule*'
	one_is '.code == "sensitive_input" and .rule == "option_secret"'
	id=$(propose -- true)
	agent_safe deny "$id" --by ana --reason no >/dev/null
	emits job.denied job who 'reason*' 'spec_sha256*'
	run agent_safe approve "$id" --by ana
	emits job.decision_refused job who decision code reason
	id=$(approved -- true)
	agent_safe run "$id" >/dev/null
	emits job.dry_run job 'who*' allowed reason
}

@test "job.held, job.released, queue.paused, queue.resumed, job.cancelled, job.retry, job.pruned: an operator orders the queue" {
	id=$(approved -- true)
	mark
	agent_safe hold "$id" >/dev/null
	agent_safe release "$id" >/dev/null
	agent_safe hold >/dev/null
	agent_safe release >/dev/null
	agent_safe cancel "$id" >/dev/null
	agent_safe retry "$id" >/dev/null
	agent_safe cancel "$id" >/dev/null
	agent_safe prune --older-than 0 >/dev/null
	for name in job.held job.released job.cancelled job.retry; do see $name; done
	emits job.held job 'who*' status
	emits job.released job 'who*' status
	emits queue.paused 'who*'
	emits queue.resumed 'who*'
	emits job.cancelled job 'who*' status
	emits job.retry job 'who*' status
	one_is '.who.uid == 0 and .status == "queued"'
	emits job.pruned job 'who*' status runs
}

# $1: a job that writes "begun" in its directory; runs it in the background.
begin() {
	agent_safe run "$1" --execute >/dev/null 2>&1 3>&- &
	for _ in $(seq 200); do
		[ -e "$WS/proj/begun" ] && return
		sleep 0.1
	done
	return 1
}

@test "job.cancel_requested, exec.signal: a running job is told to end" {
	id=$(approved -- sh -c 'echo begun >begun; sleep 60')
	mark
	begin "$id"
	agent_safe cancel "$id" >/dev/null
	emits job.cancel_requested job 'who*' status
	emits exec.signal job attempt slot signal
	one_is '.signal == 15'
	wait || true
}

@test "exec.lost, job.lost: nobody knows how it ended" {
	id=$(approved -- sh -c 'echo begun >begun; sleep 60')
	mark
	begin "$id"
	kill -KILL "$(running "$WS_BIN/agent-safe-keeper" | head -n 1)"
	wait || true
	agent_safe wait "$id" --timeout 30 >/dev/null || true
	emits exec.lost job attempt slot detail
	emits job.lost job attempt started 'next_try_us*'
	one_is '.started'
}

@test "job.stale, job.expired, job.dead, job.policy, policy.loaded, policy.refused: what was approved is not what may run" {
	mark
	id=$(approved -- true)
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "approvals": { "expires_seconds": 1 },
	  "rules": [ { "program": "true" }, { "program": "echo" } ] }
	END
	agent_safe policy reload >/dev/null
	emits policy.loaded 'who*' policy_sha256 version rules roots
	run agent_safe run "$id" --execute
	emits job.stale job 'spec_sha256*' changes
	one_is '.changes == ["policy: its file"]'
	late=$(approved -- true)
	for _ in $(seq 100); do
		[ "$(agent_safe show "$late" | jq -r .approval_status)" != expired ] || break
		sleep 0.1
	done
	emits job.expired job expired_us 'spec_sha256*'
	sed 's/"expires_seconds": 1/"expires_seconds": 600/' "$WS/agent-safe-policy.json" >"$WS_TOP/longer"
	workspace_policy <"$WS_TOP/longer"
	agent_safe policy reload >/dev/null
	id=$(approved -- true)
	dead=$(approved -- echo dead)
	sed 's/, { "program": "echo" }//' "$WS_TOP/longer" | workspace_policy
	agent_safe policy reload >/dev/null
	run agent_safe run "$dead" --execute
	emits job.dead job 'who*' allowed reason
	echo '{' | workspace_policy
	run agent_safe policy reload
	emits policy.refused 'who*' reason
	agent_safe approve "$id" --by ana >/dev/null || true
	agent_safe serve --stop >/dev/null
	run agent_safe run "$id" --execute
	emits job.policy job 'who*' allowed reason
}

@test "job.imported, db.import, job.placed: jobs of the first system" {
	python3 - "$WS_TOP/first.db" "$WS/proj" <<-'END'
	import sqlite3, sys, uuid
	db = sqlite3.connect(sys.argv[1])
	db.execute("""create table jobs (id text primary key, idempotency_key text unique, command text, status text,
	  created_at real, updated_at real, available_at real, attempts int, max_attempts int, timeout int, cwd text,
	  lease_owner text, lease_until real, result text, error_class text, approval_status text, decided_by text,
	  decided_at real, decision_reason text, source text)""")
	db.execute("insert into jobs values (?,'k','[\"true\"]','queued',1.5,1.5,0,1,1,60,?,null,null,null,null,'pending',null,null,null,'cli')",
	           (str(uuid.uuid4()), sys.argv[2]))
	db.commit()
	END
	mark
	agent_safe import "$WS_TOP/first.db" >/dev/null
	emits job.imported job who key command cwd timeout max_attempts source
	emits db.import 'who*' imported known refused
	emits job.placed job 'who*' status
}

@test "db.resync, log.recover: an older database is put back, and the operator knows it" {
	agent_safe db backup "$WS_TOP/old.db" >/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	rm -f "$WS_STATE/broker/queue.db-wal"
	cat "$WS_TOP/old.db" >"$WS_STATE/broker/queue.db"
	agent_safe db resync --by ana >/dev/null
	emits db.resync by log_next_sn queue_next_sn
	emits log.recover reason 'unsealed*' 'torn*' 'log_next_sn*' 'database_next_sn*'
	one_is '.reason == "db_resync"'
}

# --- of the auditor ---

@test "log.genesis, log.seal, log.segment, log.challenge, log.prune: a log that is kept" {
	run_job true >/dev/null
	agent_safe audit head --nonce "$(printf 'ab%.0s' $(seq 32))" >/dev/null
	emits log.genesis origin key
	emits log.seal n size root next sig
	emits log.challenge nonce
	agent_safe audit rotate >/dev/null
	emits log.segment after torn torn_sha256
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 >/dev/null
	emits log.prune from to head_hash root seals sn segments
}

@test "log.refused: the broker tells another story about a record that the log has" {
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	# What a broker would do that has lost the acknowledgement of its newest record, and the record's truth.
	python3 - "$WS_STATE" <<-'END'
	import glob, hashlib, json, sqlite3, sys
	lines = open(sorted(glob.glob(sys.argv[1] + "/audit/log/seg-*"))[-1], "rb").read().splitlines(True)
	mine = [line for line in lines if json.loads(line)["src"] == "broker"]
	last, before = json.loads(mine[-1]), mine[-2]
	db = sqlite3.connect(sys.argv[1] + "/broker/queue.db")
	db.execute("update outbox set acked_seq = null, d = cast('{\"other\":1}' as blob) where sn = ?", (last["sn"],))
	db.execute("update meta set acked_sn = ?, acked_seq = ?, acked_hash = ?",
	           (last["sn"] - 1, json.loads(before)["seq"], hashlib.sha256(before).digest()))
	db.commit()
	db.close()
	END
	workspace_start || true
	emits log.refused src code 'sn*' 'seq*' 'body_sha256*' 'job*' 'attempt*' 'spec_sha256*'
	one_is '.src == "broker" and .code == "equivocation" and (.body_sha256 | length) == 64'
}

@test "log.space: the log's filesystem is nearly full" {
	agent_safe serve --stop >/dev/null
	chattr -R -a "$WS_STATE/audit" 2>/dev/null || true
	cp -a "$WS_STATE/audit" "$WS_TOP/aside"
	mount -t tmpfs -o size=12m,mode=0711 tmpfs "$WS_STATE/audit" || skip "no mounts here"
	chown --reference="$WS_TOP/aside" "$WS_STATE/audit"
	cp -a "$WS_TOP/aside/." "$WS_STATE/audit/"
	dd if=/dev/zero of="$WS_STATE/audit/ballast" bs=64k status=none 2>/dev/null || true
	workspace_start
	emits log.space state room
	one_is '.state == "low"'
	agent_safe serve --stop >/dev/null
	umount "$WS_STATE/audit"
}

@test "log.rekey: a log that has lost its key goes on by the operator's word" {
	key=$(agent_safe status | jq -er .public_key)
	verify=$WS_BIN/agent-safe-audit-verify
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	"$verify" --make-operator-key "$WS_TOP/secret" >"$WS_STATE/audit/key/operator"
	rm "$WS_STATE/audit/key/key.state"
	run agent_safe status
	"$verify" --key "$key" --sign-rekey "$WS_STATE/audit/key/rekey.request" --secret "$WS_TOP/secret" --reason 'disk died' \
	    "$WS_STATE/audit/log" >"$WS_STATE/audit/key/rekey.statement"
	workspace_start
	emits log.rekey size head key reason sig
}

@test "log.cosign, exec.refused: a witness has seen a checkpoint, and without it nothing runs" {
	workspace_clean
	courier_setup
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 2 }'
	courier_start
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "good" and .witnesses[0].cosigned > 8'
	emits log.cosign witness size cosignature
	courier_mode w1 'exit 7'
	run run_job echo never
	emits exec.refused job attempt slot stage error
	one_is '.stage == "audit" and .error == 110'
}

# --- the list ---

# Names and members of agent-safe-audit(7), one "name member member ..." a line; several names share a paragraph.
page_names() { sed -n '/^\.Sh EVENTS/,/^\.Sh REMOVAL/p' "$ROOT/packaging/man/agent-safe-audit.7" | grep '^\.It Cm ' | grep -oE '[a-z_]+\.[a-z_]+'; }

@test "every name of agent-safe-audit(7) has its scenario here, and no other has" {
	grep -oE '^[[:space:]]*emits [a-z_]+\.[a-z_]+' "$BATS_TEST_FILENAME" | awk '{ print $2 }' | sort -u >"$BATS_TEST_TMPDIR/here"
	page_names | sort -u >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/page")" -gt 45 ]
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/here"
	# Each name of one paragraph stands on a line of its own or with its like: none is there twice.
	[ "$(page_names | sort | uniq -d)" = "" ]
}
