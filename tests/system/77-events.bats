#!/usr/bin/env bats
# Every name that a record can have, one scenario each: the real programs write it, with the members
# that agent-safe-audit(7) promises.  The last test holds the list against that page.

bats_require_minimum_version 1.5.0
load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() { workspace_clean; }

# How long the log is now: what a scenario adds comes behind.
mark() { FROM=$(agent_safe audit head | jq -er .size); }

# $1: a name, then members that d must have.  The records with that name since mark(), in $SEEN.
emits() {
	local name=$1
	shift
	SEEN=$BATS_TEST_TMPDIR/seen
	agent_safe audit export --from "${FROM:-0}" | jq -c --arg t "$name" 'select(.type == $t)' >"$SEEN"
	[ -s "$SEEN" ] || { echo "no $name since line ${FROM:-0}"; return 1; }
	for member in "$@"; do
		jq -es --arg m "$member" 'all(.[]; .d | has($m))' "$SEEN" >/dev/null ||
		    { echo "$name without $member:"; cat "$SEEN"; return 1; }
	done
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

QUEUED='job cause attempt attempts_left priority ahead not_before_us key waiting_for spec_sha256'

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
	emits secret.override job who reason elements spec_sha256
	one_is '.who.by == "ana" and .who.uid == 0 and .reason == "the old tool knows no file" and
	    (.elements | length) == 1 and .elements[0].place == "command[5]" and .elements[0].rule == "option_secret" and
	    (.elements[0].hmac | test("^[0-9a-f]{64}$"))'
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran"
	jq -e '.result.stdout == "it is <redacted>.\n" and .result.stderr == "<redacted>\n" and .attempts_log[0].redactions == 2' \
	    "$BATS_TEST_TMPDIR/ran"
	emits exec.output stdout_masked
	one_is '.stdout_masked == {exact: 1}'
	# The log has the same stand-in everywhere.
	hmac=$(agent_safe audit export | jq -r 'select(.type == "secret.override") | .d.elements[0].hmac')
	emits exec.intent argv
	one_is ".argv[5] == {redacted: true, hmac: \"$hmac\"}"
	emits job.proposed command
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
	emits job.refused who code what
	one_is '.code == "not_permitted" and .what == "allow_secrets"'
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "echo" } ] }
	END
	agent_safe policy reload >/dev/null
	run submit_passing 'command[2]' echo --password "$VALUE"
	[ "$status" = 2 ]
	grep -q '"policy_denied"' <<<"$output"
	emits job.refused who code what
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
	emits secret.override elements
	one_is '[.elements[].rule] == ["option_secret", "same_value"]'
	refute grep -qF "$VALUE" "$BATS_TEST_TMPDIR/job"
	# Two jobs of the same content are two: no digest of it is a key to try guesses on.
	[ "$(jq -r .idempotency_key "$BATS_TEST_TMPDIR/job")" != \
	    "$(agent_safe submit --cwd "$WS/proj" --allow-secret 'argv[2]' --by ana --reason x -- echo --password "$VALUE" "again: $VALUE" | jq -r .idempotency_key)" ]
}
