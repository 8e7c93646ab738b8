#!/usr/bin/env bats
# secret.override: an operator lets an argument pass that looks like a secret.  It runs as it is, is on record,
# and is shown nowhere.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/events

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() { workspace_clean; }

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
