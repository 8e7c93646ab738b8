#!/usr/bin/env bats
# The cage of a command in words: before it, at an assessment, and as it was stored with the run.

load ../support/workspace
load ../support/jobs

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

explain() { agent_safe_as "$WS_UID" policy explain --cwd "$WS/proj" "$@"; }

@test "policy explain, assess and show have the same text, and the log the same filter" {
	local before explained digest
	before=$(agent_safe list --all | jq -S .)
	explained=$(explain -- sh -c true | jq -er .cage)
	[ "$(agent_safe list --all | jq -S .)" = "$before" ]
	job -- sh -c true
	[ "$(agent_safe show "$(command jq -r .id "$JOB")" | jq -r .cage)" = "$explained" ]
	[ "$(agent_safe assess "$(command jq -r .id "$JOB")" | jq -r .cage)" = "$explained" ]
	digest=$(sed -n 's/.*sha256 \([0-9a-f]\{64\}\)$/\1/p' <<<"$explained")
	[ -n "$digest" ] && grep -q "\"exec.start\".*$digest" "$WS_STATE"/audit/log/seg-*
	grep -q '^profile     default$' <<<"$explained"
	grep -q "^starts in   $WS/proj$" <<<"$explained"
	grep -q '^variables   .*PATH' <<<"$explained"
}

@test "what it says of limits and layers is what a job finds" {
	local explained
	explained=$(explain --timeout 7 -- sh -c true | jq -er .cage)
	grep -q ' timeout_ms=7000 ' <<<"$explained"
	job -- sh -c 'ulimit -n'
	grep -q " open_files=$(job_text stdout) " <<<"$explained"
	[ "$(grep '^layers ' <<<"$explained" | tr -s ' ' '\n' | sed 1d | sort)" = \
	    "$(command jq -r '.attempts_log[-1].layers[]' "$JOB" | sort)" ]
}

@test "of a command that the policy refuses there is no cage, and why" {
	run --separate-stderr explain -- /usr/bin/no-such-program
	[ "$(jq -r '.allowed, .cage' <<<"$output" | tr '\n' ' ')" = "false null " ]
	[ "$(jq -r '.reason | length > 0' <<<"$output")" = true ]
}
