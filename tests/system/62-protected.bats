#!/usr/bin/env bats
# Protected paths of a workspace, end to end: what the job's record, its result and the log say.

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

@test "a job that plants agent settings has failed, violated, and they are put away" {
	script plant <<-'END'
	#!/bin/sh
	mkdir .claude; echo '{"hooks":{}}' >.claude/settings.json; echo done
	END
	job --max-attempts 3 -- sh plant
	job_is '.status == "failed" and .error_class == "violated" and (.attempts_log | length) == 1'
	job_is '.attempts_log[-1] | .outcome == "violated" and .exit_code == 0 and (.reason | startswith("violated"))'
	job_is '.result | .stdout == "done\n" and (.violations | test("/[.]claude: made while the job ran"))'
	[ ! -e "$WS/proj/.claude" ]
	local run
	run=$(command jq -r .id "$JOB").1
	[ "$(cat "$WS/proj/.claude.agent-safe-quarantine-$run/settings.json")" = '{"hooks":{}}' ]
	rm -r "$WS/proj/.claude.agent-safe-quarantine-$run"
	# In the executor's own record, which it could not leave out.
	cat "$WS_STATE"/audit/log/seg-* | command jq -se --arg job "${run%.1}" \
	    'any(.[]; .type == "exec.exit" and .d.job == $job and .d.outcome == "violated" and
	    (.d.detail | test("[.]claude")))' ||
	    { grep -h exec.exit "$WS_STATE"/audit/log/seg-* ; false; }
}

@test "a job that leaves them alone leaves no trace of the watch" {
	local before
	before=$(ls -AR "$WS" | sort)
	script leave <<-'END'
	#!/bin/sh
	touch x; rm x
	END
	job -- sh leave
	job_is '.status == "succeeded" and .attempts_log[-1].outcome == "succeeded"'
	rm "$WS/proj/leave"
	[ "$(ls -AR "$WS" | sort)" = "$before" ]
}

@test "what is protected in the depths stands in the result, and so does what was planted there" {
	command -v git >/dev/null || skip "no git here"
	as_uid "$WS_UID" sh -c 'mkdir -p "$1/vendor" && git init -q "$1/vendor/lib"' sh "$WS/proj"
	script deep <<-'END'
	#!/bin/sh
	echo x >vendor/lib/.git/hooks/post-checkout; mkdir -p d/.vscode; git init -q made; echo done
	END
	job -- sh deep
	job_is '.status == "failed" and .error_class == "violated"'
	job_is '.result.stdout == "done\n" and (.result.violations | split("\n") | map(select(. != "")) | length == 1)'
	job_is '.result.violations | test("/proj/d/[.]vscode: made while the job ran")'
	job_is '.result.protected | split("\n") | map(sub(".*/proj/"; "")) |
	    index("vendor/lib/.git/hooks") and index("vendor/lib/.git/config")'
	[ ! -e "$WS/proj/vendor/lib/.git/hooks/post-checkout" ] && [ ! -e "$WS/proj/d/.vscode" ] && [ -e "$WS/proj/made/.git/HEAD" ]
	agent_safe show "$(command jq -r .id "$JOB")" -o table | grep -q 'vendor/lib/.git/hooks'
	rm -r "$WS/proj/vendor" "$WS/proj/d" "$WS/proj/made" "$WS/proj/deep"
}

@test "a workspace that cannot be looked through runs nothing, and the result says where to read on" {
	(cd "$WS/proj" && mkdir d && cd d && seq 1100 | xargs mkdir && for n in *; do : >"$n/.mcp.json"; done)
	job -- true
	job_is '.status == "failed" and (.attempts_log[-1] | .outcome == "refused" and .stage == "protect")'
	job_is '.result.error | test("nested in agent-safe-policy")'
	workspace_policy <<<"$(command jq '.allowed_working_roots |= map((if type == "string" then {path: .} else . end) + {nested: "off"})' \
	    "$WS/agent-safe-policy.json")"
	workspace_stop
	workspace_start
	job -- true
	job_is '.status == "succeeded"'
	agent_safe show "$(command jq -r .id "$JOB")" | command jq -e '.cage | test("down to where it starts, nothing elsewhere")'
	rm -r "$WS/proj/d"
}
