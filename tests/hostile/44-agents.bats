#!/usr/bin/env bats
# Command lines of real agents as jobs in the cage of profile agent: each starts, talks to a model that is none on
# the job's own loopback, runs one command by its own shell tool, and ends with its usual result.  They are those of
# BUILD/npm, where `make check-agents` and `make check-mcp` install them.  With ORDINARY=1 everything is started by
# an ordinary user (45-agents-ordinary runs this file like that).

load ../support/workspace
load ../support/jobs
load ../support/agents

setup_file() {
	workspace_make
	if [ -n "${ORDINARY:-}" ]; then
		WS_OPERATOR=$WS_UID
		WS_STATE=
		export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	fi
	MODULES=$NPM/node_modules
	if is_root && [ -d "$MODULES" ]; then
		# A checkout may be closed to others.
		MODULES=$WS_TOP/modules
		mkdir "$MODULES"
		mount --bind "$NPM/node_modules" "$MODULES"
	fi
	local shown='"'$MODULES'"'
	[ -d "$MODULES" ] || shown=
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh", "args": { "prefix": ["start.sh"], "extra": 2 },
	      "cage": { "profile": "agent", "read_paths": [$shown] } } ],
	  "limits": { "timeout_seconds": 120, "keep_bytes": 4194304 }
	}
	END
	script start.sh <"$BATS_TEST_DIRNAME/agents/start.sh"
	script fake-model.mjs <"$ROOT/tests/mcp/fake-model.mjs"
	workspace_start
	AUDIT=$(agent_safe status | jq -er .audit_dir)
	export AUDIT WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR MODULES
}

teardown_file() { workspace_clean; }

setup() {
	[ -n "${ORDINARY:-}" ] || need_root
}

# The agent as a job; skipped loudly where it is not installed.
run_agent() {
	local program
	for program in "$NODE" "$NPM/node_modules/$(agent_program "$1")"; do
		[ -x "$program" ] || [ -f "$program" ] || skip "$1 is not installed ($program); make check-agents installs it"
	done
	rm -f "$WS/proj/said"
	job --timeout 120 -- sh start.sh "$1" "$MODULES"
	job_is '.status == "succeeded" and .result.returncode == 0'
	grep -h '"exec.intent"' "$AUDIT"/log/seg-* >"$BATS_TEST_TMPDIR/intents"
	tail -n 1 "$BATS_TEST_TMPDIR/intents" | jq -e '.d.profile == "agent" and .d.network == "loopback"' >/dev/null ||
	    { cat "$BATS_TEST_TMPDIR/intents"; false; }
	# The tool ran, in the workspace, and the model heard of it.
	[ "$(cat "$WS/proj/said")" = 'written by an approved job' ]
	job_text stdout >"$BATS_TEST_TMPDIR/said"
	grep -q 'The job wrote: written by an approved job' "$BATS_TEST_TMPDIR/said"
}

# One JSON object of what the agent printed fits the filter.
printed() { jq -se "any(.[]; $1)" "$BATS_TEST_TMPDIR/said" >/dev/null; }

@test "claude starts in the cage, runs its Bash, ends in a result of success" {
	run_agent claude
	printed '.type == "result" and .subtype == "success" and .is_error == false and .permission_denials == []'
}

@test "codex starts in the cage, runs its shell, ends in a completed turn" {
	run_agent codex
	printed '.type == "turn.completed"'
	printed '.item.type == "command_execution" and .item.exit_code == 0'
}

@test "gemini starts in the cage, runs its shell, ends in a result of success" {
	run_agent gemini
	printed '.type == "result" and .status == "success"'
	printed '.type == "tool_result" and .status == "success"'
}

@test "opencode starts in the cage, runs its bash, ends its last step" {
	run_agent opencode
	printed '.part.tool == "bash" and .part.state.status == "completed"'
	printed '.type == "step_finish" and .part.reason == "stop"'
}
