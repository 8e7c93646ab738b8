#!/usr/bin/env bats
# Counterparts of the first system's command line tests.

load ../support/workspace
load ../support/procs
load ../support/expect

setup() {
	need_root
	workspace_make
}

teardown() { workspace_clean; }

@test "init-policy, submit, show, cancel" {
	local id
	rm "$WS/agent-safe-policy.json"
	run "$WS_BIN/agent-safe" --json init-policy "$WS/agent-safe-policy.json"
	[ "$status" = 0 ]
	is "$output" --arg path "$WS/agent-safe-policy.json" '.path == $path and .status == "created"'
	workspace_start
	id=$(agent_safe_as "$WS_UID" submit --cwd "$WS" -- uname -a | jq -er .id)
	is "$(agent_safe show "$id")" '.status == "queued" and .command == ["uname", "-a"]'
	is "$(agent_safe cancel "$id")" '.status == "cancelled"'
	refused invalid_job_state agent_safe cancel "$id"
}

@test "the sample policy allows a run at once, and nothing that runs code of the workspace" {
	local id
	rm "$WS/agent-safe-policy.json"
	"$WS_BIN/agent-safe" --json init-policy "$WS/agent-safe-policy.json"
	is "$(agent_safe check-policy)" '.valid and .warnings == []'
	workspace_start
	id=$(agent_safe_as "$WS_UID" submit --cwd "$WS" -- pwd | jq -er .id)
	agent_safe approve "$id" --by ana
	is "$(agent_safe run "$id" --execute)" --arg ws "$WS" '.status == "succeeded" and .result.stdout == $ws + "\n"'
	# A repository's hooks would run with it (P48).
	id=$(agent_safe_as "$WS_UID" submit --cwd "$WS" -- git status | jq -er .id)
	is "$(agent_safe assess "$id")" '.allowed == false'
}

@test "a job has the first system's twenty fields with its types" {
	local id
	workspace_start
	id=$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key k1 --timeout 5 --max-attempts 3 -- true | jq -er .id)
	run agent_safe show "$id"
	is "$output" '[.id, .idempotency_key, .cwd, .status, .approval_status, .source] | all(type == "string")'
	is "$output" '[.created_at, .updated_at, .available_at, .attempts, .max_attempts, .timeout] | all(type == "number")'
	is "$output" '[.lease_owner, .lease_until, .result, .error_class, .decided_by, .decided_at, .decision_reason] | all(. == null)'
	is "$output" 'has("lease_owner") and has("lease_until") and has("decision_reason") and has("error_class")'
	is "$output" '.idempotency_key == "k1" and .command == ["true"] and .timeout == 5 and .max_attempts == 3 and .source == "cli"'
	is "$output" '.id | test("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")'
}

@test "job_not_found is an error on standard error alone" {
	local id
	for id in nope 00000000-0000-4000-8000-000000000000; do
		for command in show assess cancel retry "approve --by ana" "deny --by ana --reason no" run logs; do
			# shellcheck disable=SC2086
			refused job_not_found agent_safe $command $id
		done
	done
	agent_safe show nope >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || [ $? = 2 ]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
}

@test "--version is the same for every program that a person starts, and is status's" {
	local version
	version=$("$WS_BIN/agent-safe" --version)
	[[ $version =~ ^agent-safe\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ "$("$WS_BIN/agent-safe-audit-verify" --version)" = "agent-safe-audit-verify ${version#* }" ]
	[ "$(agent_safe status | jq -r .version)" = "${version#* }" ]
}

@test "check-policy writes nothing, with a policy, with a broken one and without" {
	local before
	before=$(find "$WS_TOP" | sort)
	agent_safe check-policy
	workspace_policy <<<'{'
	refused policy_denied agent_safe check-policy
	mv "$WS/agent-safe-policy.json" "$WS_TOP/away"
	run "$WS_BIN/agent-safe" --json --policy "$WS/agent-safe-policy.json" check-policy
	[ "$status" = 2 ]
	mv "$WS_TOP/away" "$WS/agent-safe-policy.json"
	[ "$(find "$WS_TOP" | sort)" = "$before" ]
}

# The first system refused to make its database then.  Here the broker serves: what is in the queue
# can be read, denied and cancelled, and nothing can be approved or run.
@test "with a broken policy the queue is there, nothing is allowed, and nothing changes" {
	local id
	workspace_start
	id=$(approved -- true)
	agent_safe serve --stop
	workspace_policy <<<'{ "version": 2, "rulez": [] }'
	workspace_start
	is "$(agent_safe status)" '.policy_loaded == false and (.policy_error | test("^line 1, column"))'
	refused policy_denied agent_safe run "$id" --execute
	is "$(agent_safe show "$id")" '.status == "queued" and .approval_status == "approved" and .attempts == 0'
}

@test "a database that is none: storage_error, and the file is as it was" {
	workspace_start
	agent_safe serve --stop
	printf 'this is no database' >"$WS_STATE/broker/queue.db"
	refused storage_error agent_safe list
	[ "$(cat "$WS_STATE/broker/queue.db")" = 'this is no database' ]
}

@test "a database of a newer version: storage_error, and the file is as it was" {
	local before
	workspace_start
	agent_safe serve --stop
	sqlite3 "$WS_STATE/broker/queue.db" 'PRAGMA user_version = 9999'
	before=$(sha256sum <"$WS_STATE/broker/queue.db")
	refused storage_error agent_safe list
	[ "$(sha256sum <"$WS_STATE/broker/queue.db")" = "$before" ]
}

@test "the whole way in processes of their own: required, approve, again, deny, retry" {
	local id denied
	workspace_start
	id=$(propose -- false)
	refused approval_required agent_safe run "$id" --execute
	agent_safe approve "$id" --by ana
	refused invalid_job_state agent_safe approve "$id" --by ana
	ends 1 agent_safe run "$id" --execute
	denied=$(propose -- true)
	agent_safe deny "$denied" --by ana --reason 'not now'
	refused invalid_job_state agent_safe run "$denied" --execute
	is "$(agent_safe retry "$denied")" '.status == "queued" and .approval_status == "pending"'
	is "$(agent_safe retry "$id")" '.status == "queued" and .approval_status == "pending"'
}

@test "approve without --by and deny without --reason are usage errors in JSON" {
	local id
	workspace_start
	id=$(propose -- true)
	refused invalid_input agent_safe approve "$id"
	refused invalid_input agent_safe deny "$id" --by ana
	refused invalid_input agent_safe deny "$id" --reason no
	is "$(agent_safe show "$id")" '.approval_status == "pending"'
}

@test "limits are refused with their bound" {
	local word
	workspace_start
	while read -r word; do
		# shellcheck disable=SC2086
		refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj" $word -- true
	done <<-'END'
	--timeout 0
	--timeout 86401
	--timeout 1.5
	--timeout x
	--max-attempts 0
	--max-attempts 21
	--priority 1001
	--not-before yesterday
	END
	refused invalid_input agent_safe list --limit 0
	refused invalid_input agent_safe list --limit 1001
	refused invalid_input agent_safe list --status finished
	[[ $output == *dead_letter* ]]
	refused invalid_input agent_safe list --approval maybe
	refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key "$(printf 'k%.0s' $(seq 201))" -- true
	[[ $output == *200* ]]
	refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --label "$(printf 'l%.0s' $(seq 101))" -- true
	[[ $output == *100* ]]
	is "$(agent_safe list)" '. == []'
}

@test "policy reload and the start have one rule: a file of root's or of the roots' owner, not writable by everybody" {
	local before
	workspace_start
	before=$(agent_safe status | jq -c .pids)
	chown "$WS_UID" "$WS/agent-safe-policy.json"
	is "$(agent_safe policy reload)" '.rule_count == 8 and (.restart | not)'
	chown "$OTHER_UID" "$WS/agent-safe-policy.json"
	refused not_permitted agent_safe policy reload
	chown root "$WS/agent-safe-policy.json"
	chmod 666 "$WS/agent-safe-policy.json"
	refused invalid_input agent_safe policy reload
	chmod 644 "$WS/agent-safe-policy.json"
	agent_safe policy reload
	[ "$(agent_safe status | jq -c .pids)" = "$before" ]
}

# Its MCP adapter was an extra that could be missing; here it is a program that may not be installed.
@test "mcp without agent-safe-mcp beside it: an error in JSON, nothing on standard output" {
	rm "$WS_BIN/agent-safe-mcp"
	agent_safe mcp >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || [ $? = 3 ]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	is "$(cat "$BATS_TEST_TMPDIR/err")" '.error.code == "internal_error"'
}
