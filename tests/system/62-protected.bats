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
