#!/usr/bin/env bats
# queue.hooks: what the policy runs on events, and what that can never do.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	workspace_make
}
teardown() { workspace_clean; }

# The trio with these hooks (JSON objects), and more of the queue section.
begin() {
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "true" }, { "program": "false" }, { "program": "sh" } ],
	  "queue": { "hooks": [ $1 ] ${2:-} }
	}
	END
	workspace_start
}

approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null
	echo "$id"
}
hooks() { agent_safe status | jq -r ".hooks.$1"; }
hook_runs() { agent_safe list --all --source hook; }
ended() { [ "$(hook_runs | jq '[.[] | select(.status | IN("queued", "running") | not)] | length')" -ge "$1" ]; }
log_of() { agent_safe audit show --json 2>/dev/null || agent_safe audit show; }

# tee is root's program, and writes what it reads where the job works.
tee_hook='{ "on": ["job.succeeded", "job.failed"], "argv": ["tee", "-a", "seen"] }'

@test "a hook reads its event as one line of JSON, works where the job worked, once for each event and in their order" {
	begin "$tee_hook"
	local i first second
	first=$(approved -- true)
	second=$(approved -- sh -c 'exit 3')
	agent_safe run "$first" --execute >/dev/null
	agent_safe run "$second" --execute >/dev/null || true
	wait_until 20 ended 2
	jq -se --arg a "$first" --arg b "$second" 'length == 2 and
	    .[0].event == "job.succeeded" and .[0].type == "job.finished" and .[0].data.job == $a and
	    .[1].event == "job.failed" and .[1].data.job == $b and .[1].data.exit_code == 3 and
	    all(.skipped == 0)' "$WS/proj/seen"
	hook_runs | jq -e 'length == 2 and all(.status == "succeeded" and .source == "hook" and
	    .decided_by == "policy" and .attempts == 1 and .cwd == "'"$WS"'/proj")'
	hook_runs | jq -e '[.[].hook] == ["job.succeeded", "job.failed"]'
	agent_safe_table show "$(hook_runs | jq -r '.[1].id')" | grep -q 'hook for *job.failed'
	# They are no jobs of anybody: not among the jobs, not in the inbox, not for a worker.
	agent_safe list | jq -e 'length == 2 and all(.hook == null)'
	agent_safe inbox | jq -e 'length == 0'
	agent_safe work --once --execute | jq -e '.status == "idle"'
}

@test "on record a hook's run is told apart from what a person approved, and the log verifies" {
	begin "$tee_hook"
	local id
	id=$(approved -- true)
	agent_safe run "$id" --execute >/dev/null
	wait_until 20 ended 1
	local hook
	hook=$(hook_runs | jq -er '.[0].id')
	agent_safe watch --cursor 0 --once >"$BATS_TEST_TMPDIR/events"
	jq -se --arg h "$hook" --arg id "$id" '
	    (.[] | select(.type == "job.finished" and .data.job == $id) | .cursor - 1) as $sn |
	    [.[] | select(.data.job == $h)] as $e |
	    ($e | map(.type)) == ["job.proposed", "job.approved", "job.queued", "job.dispatch", "job.finished"] and
	    $e[0].data.source == "hook" and $e[0].data.hook.event == "job.succeeded" and
	    $e[0].data.hook.job == $id and $e[0].data.hook.sn == $sn and
	    $e[1].data.who.by == "policy" and ($e[1].data.policy_sha256 | length) == 64 and
	    $e[1].data.spec_sha256 == $e[3].data.spec_sha256' "$BATS_TEST_TMPDIR/events"
	[ "$(sha256sum <"$WS/proj/seen" | cut -d' ' -f1)" = \
	    "$(jq -r --arg h "$hook" 'select(.data.job == $h and .type == "job.proposed") | .data.hook.stdin_sha256' "$BATS_TEST_TMPDIR/events")" ]
	agent_safe audit-verify | jq -e '.valid'
}

@test "a hook raises no hook, and its failure hurts nobody and is counted" {
	begin '{ "on": ["job.proposed", "job.approved", "job.finished", "job.dispatch"], "argv": ["false"] }'
	local id
	id=$(approved -- true)
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
	wait_until 30 ended 4
	[ "$(hook_runs | jq length)" = 4 ]
	[ "$(hooks failed)" = 4 ]
	[ "$(hooks waiting)" = 0 ]
	hook_runs | jq -e 'all(.status == "failed" and .error_class == "nonzero_exit" and .attempts == 1)'
	agent_safe show "$(hook_runs | jq -r '.[0].id')" | jq -e '.attempts_log[0].exit_code == 1'
	run_job true | jq -e '.status == "succeeded"'
}

@test "a hook sees and may what a job sees and may, but for its input, which it cannot change" {
	cat >"$WS/probe" <<-'END'
	#!/bin/sh
	{
		id
		ls -a / /proc/net/dev /sys /run /root /home 2>&1
		grep -c : /proc/net/dev
		env | sort
		grep -E 'Cap|NoNewPrivs|Seccomp' /proc/self/status
	} >"$1"
	(echo more >/proc/self/fd/0) 2>/dev/null && echo written >>"$1"
	(exec 5<>/proc/self/fd/0 && echo more >&5) 2>/dev/null && echo written >>"$1"
	cat >>"$1.input"
	END
	chmod 755 "$WS/probe"
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "./probe" } ],
	  "queue": { "hooks": [ { "on": ["job.finished"], "argv": ["./probe", "hooks"],
	      "digests": ["sha256:$(sha256sum <"$WS/probe" | cut -d' ' -f1)"] } ] } }
	END
	workspace_start
	run_job "$WS/probe" jobs >/dev/null
	wait_until 20 ended 1
	hook_runs | jq -e '.[0].status == "succeeded"'
	[ -s "$WS/proj/jobs" ]
	# A job's is the empty device, which takes everything.
	[ "$(grep -c written "$WS/proj/jobs")" = 2 ]
	diff <(grep -v written "$WS/proj/jobs") "$WS/proj/hooks"
	[ ! -s "$WS/proj/jobs.input" ]
	jq -se 'length == 1 and .[0].event == "job.finished"' "$WS/proj/hooks.input"
}

@test "what others than root can change runs as a hook only with its digest: a job cannot plant one" {
	printf '#!/bin/sh\ncat >/dev/null\n' >"$WS/proj/notify"
	chmod 755 "$WS/proj/notify"
	! is_root || chown "$WS_UID:$WS_UID" "$WS/proj/notify"
	begin '{ "on": ["job.succeeded"], "argv": ["proj/notify"] }'
	run_job true >/dev/null
	wait_until 20 ended 1
	hook_runs | jq -e '.[0].status == "dead_letter" and .[0].error_class == "policy_denied" and
	    (.[0].result.error | test("digests"))'
	agent_safe check-policy | jq -e '[.warnings[] | select(test("queue.hooks.0.: others than root"))] | length == 1'
	begin '{ "on": ["job.succeeded"], "argv": ["proj/notify"],
	    "digests": ["sha256:'"$(sha256sum <"$WS/proj/notify" | cut -d' ' -f1)"'"] }'
	agent_safe policy reload >/dev/null
	run_job true >/dev/null
	wait_until 20 ended 2
	hook_runs | jq -e '.[1].status == "succeeded"'
	# The job changes it: its bytes are not what the policy names any more.
	run_job sh -c 'echo "touch planted" >>notify' >/dev/null
	wait_until 20 ended 3
	hook_runs | jq -e '.[2].status == "dead_letter"'
	[ ! -e "$WS/proj/planted" ]
}

@test "a held queue holds its hooks; they follow when it is released, also after a new start" {
	begin "$tee_hook"
	local id
	id=$(approved -- sh -c 'until [ -e go ]; do sleep 0.1; done')
	agent_safe run "$id" --execute >/dev/null 3>&- &
	wait_until 20 is_running "$id"
	agent_safe hold >/dev/null
	touch "$WS/proj/go"
	wait
	wait_until 20 waits 1
	agent_safe serve --stop >/dev/null
	[ "$(hooks waiting)" = 1 ]
	[ ! -e "$WS/proj/seen" ]
	agent_safe release >/dev/null
	wait_until 20 ended 1
	[ "$(wc -l <"$WS/proj/seen")" = 1 ]
}
is_running() { [ "$(agent_safe show "$1" | jq -r .status)" = running ]; }
waits() { [ "$(hooks waiting)" = "$1" ]; }

@test "a trio that dies loses no event and tells none twice: every one has its hook, which is run once at most" {
	need_root
	begin "$tee_hook"
	local i pids ids=()
	for i in 1 2 3 4 5; do
		ids+=("$(approved -- true)")
		agent_safe run "${ids[-1]}" --execute >/dev/null
		pids=$(workspace_pids | sed 's/.* //')
		# shellcheck disable=SC2086
		kill -KILL $pids
		# shellcheck disable=SC2086
		wait_gone 50 $pids
		workspace_start
	done
	wait_until 30 ended 5
	hook_runs | jq -e 'length == 5 and all(.attempts <= 1)'
	agent_safe watch --cursor 0 --once | jq -se --argjson ids "$(printf '%s\n' "${ids[@]}" | jq -R . | jq -s .)" \
	    '[.[] | select(.type == "job.proposed" and .data.source == "hook") | .data.hook.job] | sort == ($ids | sort)'
	[ "$(sort "$WS/proj/seen" | uniq -d | wc -l)" = 0 ]
	[ "$(jq -r .data.job "$WS/proj/seen" | sort | uniq -d | wc -l)" = 0 ]
	agent_safe audit-verify | jq -e .valid
}

@test "more events than may wait are counted, and the next one is told how many it missed" {
	begin '{ "on": ["job.proposed"], "argv": ["tee", "-a", "seen"] }' ', "slots": 2'
	local i
	agent_safe hold >/dev/null
	for i in $(seq 70); do
		propose -- true >/dev/null
	done
	wait_until 20 waits 64
	[ "$(hooks skipped)" = 6 ]
	agent_safe release >/dev/null
	wait_until 60 ended 64
	propose -- true >/dev/null
	wait_until 20 ended 65
	jq -se 'length == 65 and .[63].skipped == 0 and .[64].skipped == 6' "$WS/proj/seen"
}

@test "a policy without the hook any more buries what still waits for it; events before a policy are not told to it" {
	begin '' ''
	run_job true >/dev/null
	begin "$tee_hook"
	agent_safe policy reload >/dev/null
	agent_safe hold >/dev/null
	agent_safe cancel "$(propose -- true)" >/dev/null
	[ "$(hook_runs | jq length)" = 0 ]
	begin '{ "on": ["job.cancelled"], "argv": ["true"] }'
	agent_safe policy reload >/dev/null
	agent_safe cancel "$(propose -- true)" >/dev/null
	wait_until 10 waits 1
	begin '' ''
	agent_safe policy reload >/dev/null
	agent_safe release >/dev/null
	wait_until 20 ended 1
	hook_runs | jq -e '.[0].status == "dead_letter" and (.[0].result.error | test("no such hook"))'
}

@test "a hook that is no hook is refused with its place; a missing program is pointed out" {
	local bad
	for bad in '{ "on": ["job.exploded"], "argv": ["true"] }' '{ "on": [], "argv": ["true"] }' \
	    '{ "on": ["job.failed"] }' '{ "on": ["job.failed"], "argv": [] }' '{ "on": "job.failed", "argv": ["true"] }' \
	    '{ "on": ["job.failed"], "argv": ["true"], "timeout_seconds": 301 }' \
	    '{ "on": ["job.failed"], "argv": ["true"], "shell": true }' '"true"' \
	    '{ "on": ["job.failed"], "argv": ["true"], "digests": ["sha256:0"] }'; do
		workspace_policy <<-END
		{ "version": 2, "allowed_working_roots": ["proj"], "rules": [], "queue": { "hooks": [ $bad ] } }
		END
		run --separate-stderr agent_safe check-policy
		[ "$status" = 2 ]
		[[ $stderr == *"line 1, column"* ]]
	done
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ],
	  "queue": { "hooks": [ { "on": ["job.failed"], "argv": ["no-such-program-here"] }, { "on": ["job.failed"], "argv": ["sh", "x"] } ] } }
	END
	agent_safe check-policy | jq -e '[.warnings[] | select(startswith("queue.hooks"))] |
	    (map(select(test("hooks.0.: there is no such program"))) | length == 1) and
	    (map(select(test("hooks.1.: sh runs what"))) | length == 1)'
}
