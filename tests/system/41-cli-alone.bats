#!/usr/bin/env bats
# agent-safe against a broker that only talks: what it sends, what it prints, how it ends.

load ../support/fake

teardown() {
	fake_stop
	[ -z "${HOME_TOP:-}" ] || rm -rf "$HOME_TOP"
}

ID=11111111-2222-4333-8444-555555555555

# job STATUS [MEMBERS]: a job object as the broker sends it
job() {
	jq -cn --arg id "$ID" --arg status "$1" "{schema: \"agent-safe.job/1\", id: \$id, idempotency_key: \"k\",
	    command: [\"echo\", \"a b\"], status: \$status, created_at: 1700000000.25, updated_at: 1700000000.25,
	    available_at: 1700000000.25, attempts: 1, max_attempts: 1, timeout: 60, cwd: \"/w\", lease_owner: null,
	    lease_until: null, result: null, error_class: null, approval_status: \"pending\", decided_by: null,
	    decided_at: null, decision_reason: null, source: \"cli\", attempts_log: []} + ${2:-{\}}"
}

# row METHOD RESULT [MEMBERS]
row() {
	jq -cn --arg m "$1" --argjson r "$2" "{method: \$m, result: \$r} + ${3:-{\}}"
}

# Does this print an escape sequence?
colored() { "$@" 2>/dev/null | grep -q $'\x1b'; }

# --- what a line means -------------------------------------------------------------------------

@test "the first -- ends options, all later ones belong to the command" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	fake_cli submit --cwd "$FAKE/ws/proj" -- git checkout -- deploy
	fake_cli submit -- -- x
	fake_cli submit -- tool --help --cwd /x
	[ "$(fake_seen job.submit | jq -c .params.command)" = '["git","checkout","--","deploy"]
["--","x"]
["tool","--help","--cwd","/x"]' ]
}

@test "without a -- the command's own options are not eaten" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	fake_cli submit git log --oneline --json -- -x
	[ "$(fake_seen job.submit | jq -c .params.command)" = '["git","log","--oneline","--json","--","-x"]' ]
}

@test "an empty command is a usage error" {
	run "$AGENT_SAFE" submit --
	[ "$status" -eq 2 ]
	run "$AGENT_SAFE" submit
	[ "$status" -eq 2 ]
}

@test "no abbreviation executes: run ID --e is refused" {
	run "$AGENT_SAFE" run "$ID" --e
	[ "$status" -eq 2 ]
	[[ $output == *"unknown option --e"* ]]
}

@test "--db and --audit are answered with the option that replaced them" {
	run "$AGENT_SAFE" --db old.sqlite3 list
	[ "$status" -eq 2 ]
	[[ $output == *"--state"* ]]
	run "$AGENT_SAFE" --audit=old.jsonl list
	[ "$status" -eq 2 ]
	[[ $output == *"--state"* ]]
}

@test "a command of a later version says so and is not in help" {
	for later in review "agent list" "policy lint"; do
		# shellcheck disable=SC2086
		run "$AGENT_SAFE" $later
		[ "$status" -eq 2 ]
		[[ $output == *not_in_this_version* ]]
	done
	"$AGENT_SAFE" --help >"$BATS_TEST_TMPDIR/help"
	refute grep -qE '^  (review|agent) ' "$BATS_TEST_TMPDIR/help"
}

@test "every command has help with a usage line" {
	"$AGENT_SAFE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\( [a-z]*\)\{0,1\}\)  .*/\1/p' >"$BATS_TEST_TMPDIR/commands"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/commands")" -gt 20 ]
	while read -r command; do
		# shellcheck disable=SC2086
		"$AGENT_SAFE" $command --help | head -1 | grep -q "^Usage: agent-safe .*$command"
	done <"$BATS_TEST_TMPDIR/commands"
}

# --- what is sent --------------------------------------------------------------------------------

@test "submit passes the working directory as a descriptor, not as a path" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	fake_cli submit --cwd "$FAKE/ws/proj" -- true
	[ "$(fake_seen job.submit | jq -r .passed)" = "$(realpath "$FAKE/ws/proj")" ]
	[ "$(fake_seen job.submit | jq -r .params.cwd)" = null ]
}

@test "a missing working directory is refused before anybody is asked" {
	fake_start </dev/null
	run fake_cli submit --cwd "$FAKE/nowhere" -- true
	[ "$status" -eq 2 ]
	[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	[ ! -s "$FAKE/state/requests" ]
}

@test "environment values go out for the names the broker's policy allows, and no others" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	LANG=C.UTF-8 GITHUB_TOKEN=canary fake_cli submit -- true
	[ "$(fake_seen job.submit | jq -c .params.environment)" = '{"LANG":"C.UTF-8"}' ]
	refute grep -q canary "$FAKE/state/requests"
}

@test "argv that is not UTF-8 travels as base64" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	fake_cli submit -- echo $'caf\xe9'
	[ "$(fake_seen job.submit | jq -c '.params.command[1]')" = '{"b64":"Y2Fm6Q=="}' ]
}

@test "deciding commands use control.sock, and propose.sock is not good enough for them" {
	fake_start <<<"$(row job.approve "$(job queued)")"
	fake_cli approve "$ID" --by ana --digest sha256:00 >/dev/null
	[ "$(fake_seen job.approve | jq -r .socket)" = control ]
	[ "$(fake_seen job.approve | jq -cS .params)" = "{\"by\":\"ana\",\"digest\":\"sha256:00\",\"job_id\":\"$ID\"}" ]
}

@test "a broker that says this is propose.sock is not asked to decide" {
	fake_start <<<'{"method":"server.hello","result":{"server":"agent-safe","protocol":1,"socket":"propose","environment":[]}}'
	run fake_cli approve "$ID" --by ana
	[ "$status" -eq 2 ]
	[ "$(jq -r .error.code <<<"$output")" = not_permitted ]
	[ -z "$(fake_seen job.approve)" ]
}

@test "approve needs --by, deny a reason" {
	run "$AGENT_SAFE" approve "$ID"
	[ "$status" -eq 2 ]
	[[ $output == *"--by"* ]]
	run "$AGENT_SAFE" deny "$ID" --by ana
	[ "$status" -eq 2 ]
	[[ $output == *"--reason"* ]]
}

@test "numbers are whole and inside their bounds" {
	fake_start </dev/null
	for bad in 0 86401 1.5 -1 1e3 ''; do
		run fake_cli submit --timeout "$bad" -- true
		[ "$status" -eq 2 ]
		[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	done
}

# --- what is printed -----------------------------------------------------------------------------

@test "list prints a bare array, page after page up to the limit" {
	fake_start <<-END
	{"method":"job.list","result":{"jobs":[$(job queued),$(job failed)],"next_cursor":"c1"}}
	{"method":"job.list","result":{"jobs":[$(job running)],"next_cursor":null}}
	END
	run fake_cli list --status queued --status failed
	[ "$status" -eq 0 ]
	[ "$(jq -c 'map(.status)' <<<"$output")" = '["queued","failed","running"]' ]
	[ "$(fake_seen job.list | jq -c '[.params.status, .params.cursor]')" = '[["queued","failed"],null]
[["queued","failed"],"c1"]' ]
}

@test "an empty list is an empty array, jsonl one line per job, name the ids" {
	fake_start <<<"$(row job.list '{"jobs":[],"next_cursor":null}')"
	[ "$(fake_cli inbox)" = '[]' ]
	fake_stop
	fake_start <<<"$(row job.list "{\"jobs\":[$(job queued),$(job failed)],\"next_cursor\":null}")"
	[ "$(fake_cli list -o jsonl | wc -l)" -eq 2 ]
	[ "$(fake_cli list -o name | sort -u)" = "$ID" ]
}

@test "hidden characters never reach standard output raw, JSON included" {
	fake_start <<<"$(row job.get "$(job queued '{label: "a\u202eb\u001b[2J\u200b"}')")"
	fake_cli show "$ID" >"$BATS_TEST_TMPDIR/json"
	LC_ALL=C refute grep -q $'\xe2\x80' "$BATS_TEST_TMPDIR/json"
	[ "$(jq -r .label "$BATS_TEST_TMPDIR/json")" = $'a\u202eb\u001b[2J\u200b' ]
	fake_cli -o table show "$ID" >"$BATS_TEST_TMPDIR/table"
	LC_ALL=C refute grep -qE $'\xe2\x80|\x1b' "$BATS_TEST_TMPDIR/table"
	grep -q 'a\\u{202e}b\\x1b\[2J' "$BATS_TEST_TMPDIR/table"
}

@test "the approval view shows every argument whole, with index and length, also on a narrow terminal" {
	local long
	long=$(printf 'y%.0s' $(seq 70000))
	fake_start <<-END
	$(row job.get "$(job queued "{command: [\"echo\", \"$long\", \"; rm -rf /\"]}")")
	$(row job.assess '{"allowed":true,"reason":"rule 0","spec_digest":"sha256:abc","program":{"named":"/usr/bin/echo","target":"/usr/bin/echo","sha256":"00ff"},"environment":["LANG=C","X=\\u202e"],"limits":{"keep_bytes":8000},"profile":"default"}')
	END
	COLUMNS=20 fake_cli -o table assess "$ID" >"$BATS_TEST_TMPDIR/view"
	grep -qx '  \[0\] 4 bytes  echo' "$BATS_TEST_TMPDIR/view"
	grep -qx "  \[1\] 70000 bytes  $long" "$BATS_TEST_TMPDIR/view"
	grep -qx "  \[2\] 10 bytes  '; rm -rf /'" "$BATS_TEST_TMPDIR/view"
	grep -q '00ff' "$BATS_TEST_TMPDIR/view"
	grep -q '^environment *LANG=C$' "$BATS_TEST_TMPDIR/view"
	grep -q 'keep_bytes = 8000' "$BATS_TEST_TMPDIR/view"
	grep -q "approve $ID --by NAME --digest sha256:abc" "$BATS_TEST_TMPDIR/view"
}

@test "the shown command pasted into a shell gives the same seven arguments" {
	local command='["printf","%s|","a b","","$(id)","it'"'"'s","*","x\ny","\\"]'
	fake_start <<<"$(row job.get "$(job queued "{command: $command}")")"
	fake_cli -o table show "$ID" 2>/dev/null >"$BATS_TEST_TMPDIR/view"
	sed -n 's/^for a shell *//p' "$BATS_TEST_TMPDIR/view" >"$BATS_TEST_TMPDIR/line"
	[ "$(bash "$BATS_TEST_TMPDIR/line"; echo .)" = "$(printf '%s|' 'a b' '' '$(id)' "it's" '*' $'x\ny' '\'; echo .)" ]
}

@test "a cut command in a list says how much was cut" {
	fake_start <<<"$(row job.list "{\"jobs\":[$(job queued "{command: [\"echo\", \"$(printf 'x%.0s' $(seq 100))TAIL\"]}")],\"next_cursor\":null}")"
	fake_cli list -o table | grep -q '\.\.\.\[+[0-9]* bytes\]$'
	fake_cli list -o wide | grep -q 'TAIL$'
}

@test "no colour without a terminal, none with NO_COLOR or TERM=dumb, some on a terminal" {
	command -v script >/dev/null || skip "needs script(1)"
	fake_start <<-END
	$(row job.get "$(job queued)")
	$(row job.assess '{"allowed":true}')
	END
	refute colored fake_cli -o table show "$ID"
	colored fake_tty show "$ID"
	NO_COLOR=1 refute colored fake_tty show "$ID"
	FAKE_TERM=dumb refute colored fake_tty show "$ID"
	NO_COLOR=1 CLICOLOR_FORCE=1 refute colored fake_cli -o table show "$ID"
	CLICOLOR_FORCE=1 colored fake_cli -o table show "$ID"
	colored fake_cli -o table --color always show "$ID"
}

# --- errors --------------------------------------------------------------------------------------

@test "an error is JSON on standard error with what else the broker told, and standard output stays empty" {
	fake_start <<<'{"method":"job.submit","error":{"code":"key_conflict","message":"another job has this key","differs":["command"]}}'
	fake_cli submit -- true >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" && false
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	[ "$(jq -c .error "$BATS_TEST_TMPDIR/err")" = '{"code":"key_conflict","message":"another job has this key","differs":["command"]}' ]
}

@test "in table mode an error is one line for a person" {
	fake_start <<<'{"method":"job.get","error":{"code":"job_not_found","message":"no such job"}}'
	run fake_cli -o table show "$ID"
	[ "$status" -eq 2 ]
	[ "$output" = "agent-safe: job_not_found: no such job" ]
}

@test "usage errors follow the form that was asked for, wherever it stands" {
	run "$AGENT_SAFE" -o table list --nope
	[ "$status" -eq 2 ]
	[ "${output:0:27}" = "agent-safe: invalid_input: " ]
	run "$AGENT_SAFE" --color=always list --nope --json
	[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
}

@test "answers that are not our protocol, and a closed connection, are broker_unreachable and 3" {
	local bad
	for bad in '"raw":"not json\n"' '"raw":"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n"' '"close":true' \
	    '"raw":"\u00ff\n"' '"raw":"[]\n"'; do
		fake_start <<<"{\"method\":\"job.get\",$bad}"
		run fake_cli show "$ID"
		[ "$status" -eq 3 ]
		[ "$(jq -r .error.code <<<"$output")" = broker_unreachable ]
		fake_stop
	done
}

@test "an error text cannot drive the terminal" {
	fake_start <<<'{"method":"job.get","error":{"code":"job_not_found","message":"x\u001b[31m\u202ey"}}'
	run fake_cli -o table show "$ID"
	[ "$output" = 'agent-safe: job_not_found: x\x1b[31m\u{202e}y' ]
}

@test "standard output that cannot be written: 3 and a message; a reader that left: quiet" {
	fake_start <<<"$(row job.list "{\"jobs\":[$(job queued)],\"next_cursor\":null}")"
	run bash -c "\"$AGENT_SAFE\" --workspace '$FAKE/ws' --state '$FAKE/state' list 2>&1 >/dev/full"
	[ "$status" -eq 3 ]
	[ "$(jq -r .error.code <<<"$output")" = output_error ]
	run bash -c "\"$AGENT_SAFE\" --workspace '$FAKE/ws' --state '$FAKE/state' list 2>&1 >&-"
	[ "$status" -eq 3 ]
	[ "$(jq -r .error.code <<<"$output")" = output_error ]
	run bash -c "{ sleep 0.3; \"$AGENT_SAFE\" --workspace '$FAKE/ws' --state '$FAKE/state' list; echo \$? >'$FAKE/rc'; } 2>&1 | true"
	[ -z "$output" ]
	wait_until 4 test -s "$FAKE/rc"
	[ "$(cat "$FAKE/rc")" = 0 ]
}

@test "without a workspace: no_workspace, and nothing is created" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$BATS_TEST_TMPDIR/empty"
	for command in list inbox status "show $ID"; do
		# shellcheck disable=SC2086
		XDG_STATE_HOME=$BATS_TEST_TMPDIR/xdg run "$AGENT_SAFE" $command
		[ "$status" -eq 2 ]
		[ "$(jq -r .error.code <<<"$output")" = no_workspace ]
	done
	[ -z "$(ls -A .)" ]
	[ ! -e "$BATS_TEST_TMPDIR/xdg" ]
}

# --- run, work, wait -----------------------------------------------------------------------------

attempt() { echo "{attempts_log: [{attempt: 1, outcome: \"$1\", exit_code: $2, signal: $3, stage: $4}], result: {errno: $5}}"; }

@test "run prints the job also when it failed, and its status says so" {
	fake_start <<<"$(row job.run "$(job failed '{error_class: "nonzero_exit"}')")"
	run fake_cli run "$ID" --execute
	[ "$status" -eq 1 ]
	[ "$(jq -r .error_class <<<"$output")" = nonzero_exit ]
	[ "$(fake_seen job.run | jq -c .params.execute)" = true ]
}

@test "without --execute it is a dry run and 0" {
	fake_start <<<"$(row job.run "$(job queued '{dry_run: {policy_allowed: true, policy_error: null}}')")"
	run fake_cli run "$ID"
	[ "$status" -eq 0 ]
	[ "$(fake_seen job.run | jq -c .params.execute)" = false ]
}

@test "--exit-status passes the job's code, 128+n for signals, and 125-127 for what is ours" {
	while read -r outcome code signal stage error want; do
		fake_start <<<"$(row job.run "$(job failed "$(attempt "$outcome" "$code" "$signal" "$stage" "$error")")")"
		status=0
		fake_cli run "$ID" --execute --exit-status >/dev/null || status=$?
		[ "$status" -eq "$want" ] || { echo "$outcome $code $signal: $status, not $want"; false; }
		fake_stop
	done <<-'END'
	exited 7 null null null 7
	exited 255 null null null 255
	exited 126 null null null 126
	signalled null 9 null null 137
	signalled null 11 null null 139
	oom null 9 null null 137
	timed_out null 15 null null 125
	cancelled null 15 null null 125
	lost null null null null 125
	refused null null "exec" 8 126
	refused null null "exec" 2 127
	refused null null "mount" 1 125
	succeeded 0 null null null 0
	END
}

@test "policy reload and status show the broker the policy file, also on the far end of -H" {
	fake_start <<-'END'
	{"method":"policy.reload","result":{"restart":false}}
	{"method":"server.status","result":{"mode":"workspace"}}
	END
	fake_cli policy reload
	fake_cli status
	echo '{"jsonrpc":"2.0","id":1,"method":"policy.reload","params":{}}' | fake_cli dial-stdio
	[ "$(fake_seen policy.reload | jq -r .passed | sort -u)" = "$(realpath "$FAKE/ws/agent-safe-policy.json")" ]
	[ "$(fake_seen server.status | jq -r .passed | tail -1)" = "$(realpath "$FAKE/ws/agent-safe-policy.json")" ]
}

@test "--not-before in seconds is sent as the time it means" {
	fake_start <<<"$(row job.submit "$(job queued)")"
	fake_cli submit --not-before 100 -- true >/dev/null
	fake_cli submit --not-before 2030-01-01T00:00:00Z -- true >/dev/null
	at=$(fake_seen job.submit | jq -r .params.not_before | head -1)
	[ $((at - $(date +%s))) -gt 90 ] && [ $((at - $(date +%s))) -le 100 ]
	[ "$(fake_seen job.submit | jq -r .params.not_before | tail -1)" = 2030-01-01T00:00:00Z ]
}

@test "init-policy writes the sample policy of the package" {
	[ -e "$ROOT/packaging/sample-policy.json" ] || skip "no packaging/sample-policy.json in this tree"
	cd "$BATS_TEST_TMPDIR"
	"$AGENT_SAFE" init-policy sample.json
	cmp sample.json "$ROOT/packaging/sample-policy.json"
}

@test "--exit-status: a refusal is 125, not 2" {
	fake_start <<<'{"method":"job.run","error":{"code":"approval_required","message":"not approved"}}'
	run fake_cli run "$ID" --execute --exit-status
	[ "$status" -eq 125 ]
	run fake_cli run "$ID" --execute
	[ "$status" -eq 2 ]
}

@test "INT cancels the job it started, waits for its end, prints it and ends with 130" {
	fake_start <<-END
	$(row job.run "$(job cancelled)" '{after: "job.cancel"}')
	$(row job.cancel "$(job running)")
	END
	fake_begin run "$ID" --execute
	wait_until 3 asked job.run
	kill -INT "$BEGUN"
	rc=0; wait "$BEGUN" || rc=$?
	[ "$rc" -eq 130 ]
	[ "$(jq -r .status "$FAKE/job")" = cancelled ]
	[ "$(fake_seen job.cancel | jq -r .params.job_id)" = "$ID" ]
}

@test "work finds the job it started by its own label when it is interrupted" {
	fake_start <<-END
	$(row job.work "$(job cancelled)" '{after: "job.cancel"}')
	$(row job.list "{\"jobs\":[$(job running '{lease_owner: "nightly"}'),$(job running '{id: "other", lease_owner: "somebody"}')],\"next_cursor\":null}")
	$(row job.cancel "$(job running)")
	END
	fake_begin work --once --execute --worker nightly
	wait_until 3 asked job.work
	kill -TERM "$BEGUN"
	rc=0; wait "$BEGUN" || rc=$?
	[ "$rc" -eq 130 ]
	[ "$(fake_seen job.cancel | jq -r .params.job_id)" = "$ID" ]
}

@test "two workers have two labels unless they are told otherwise" {
	fake_start <<<"$(row job.work '{"status":"idle"}')"
	fake_cli work --once --execute
	fake_cli work --once --execute
	[ "$(fake_seen job.work | jq -r .params.worker | sort -u | wc -l)" -eq 2 ]
}

@test "work --drain goes on until idle; one failure makes it 1" {
	fake_start <<-END
	$(row job.work "$(job succeeded)")
	$(row job.work "$(job failed)")
	$(row job.work "$(job succeeded)")
	$(row job.work '{"status":"idle"}')
	END
	run fake_cli work --drain --execute
	[ "$status" -eq 1 ]
	[ "$(jq -r .status <<<"$output" | paste -sd' ')" = "succeeded failed succeeded" ]
}

@test "work says how it wants to be called" {
	for wrong in "work" "work --once --drain" "work --drain"; do
		# shellcheck disable=SC2086
		run "$AGENT_SAFE" $wrong
		[ "$status" -eq 2 ]
		[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	done
}

@test "wait: 0 succeeded, 1 failed, 2 withdrawn; when the time is over the job is printed and wait_timeout said" {
	while read -r state members want; do
		fake_start <<<"$(row job.wait "$(job "$state" "$members")")"
		run fake_cli wait "$ID"
		[ "$status" -eq "$want" ]
		fake_stop
	done <<-'END'
	succeeded {} 0
	failed {} 1
	cancelled {attempts:0} 2
	dead_letter {attempts:0} 2
	END
	fake_start <<<"$(row job.wait "$(job queued)")"
	fake_cli wait "$ID" --timeout 0 >"$FAKE/out" 2>"$FAKE/err" && false
	[ "$(jq -r .status "$FAKE/out")" = queued ]
	[ "$(jq -r .error.code "$FAKE/err")" = wait_timeout ]
}

@test "logs prints bytes as they are into a pipe and to their own streams" {
	fake_start <<-'END'
	{"method":"job.output","result":{"stream":"stdout","offset":0,"data":{"b64":"/wAKG1sxbQ=="},"next_offset":7,"end":true}}
	{"method":"job.output","result":{"stream":"stderr","offset":0,"data":"oops\n","next_offset":5,"end":true}}
	END
	fake_cli logs "$ID" >"$FAKE/out" 2>"$FAKE/err"
	[ "$(xxd -p "$FAKE/out")" = ff000a1b5b316d ]
	[ "$(cat "$FAKE/err")" = oops ]
}

# --- log, policy, remote -------------------------------------------------------------------------

@test "audit-verify hands the broker's segments and key to the verifier and passes its status" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$AGENT_SAFE" "$BATS_TEST_TMPDIR/bin/"
	cat >"$BATS_TEST_TMPDIR/bin/agent-safe-audit-verify" <<-'END'
	#!/bin/sh
	echo "$*"
	cat <&3 && cat <&4
	exit 5
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/agent-safe-audit-verify"
	echo one >"$BATS_TEST_TMPDIR/s1"
	echo two >"$BATS_TEST_TMPDIR/s2"
	fake_start <<<"{\"method\":\"audit.segments\",\"files\":[\"$BATS_TEST_TMPDIR/s1\",\"$BATS_TEST_TMPDIR/s2\"],\"result\":{\"count\":2,\"size\":9,\"public_key\":\"a2V5\"}}"
	AGENT_SAFE=$BATS_TEST_TMPDIR/bin/agent-safe run fake_cli audit-verify
	[ "$status" -eq 5 ]
	# A random number goes to the broker and to the verifier: the log must hold it.
	nonce=$(fake_seen audit.segments | head -1 | jq -er .params.nonce)
	[[ $nonce =~ ^[0-9a-f]{64}$ ]]
	[ "${lines[0]}" = "--json --key a2V5 --challenge $nonce --size 9 --fds 2" ]
	[ "${lines[1]} ${lines[2]}" = "one two" ]
	AGENT_SAFE=$BATS_TEST_TMPDIR/bin/agent-safe run fake_cli audit-verify --key b3du "$FAKE"
	[ "${lines[0]}" = "--json --key b3du $FAKE" ]
	AGENT_SAFE=$BATS_TEST_TMPDIR/bin/agent-safe run fake_cli audit export
	[ "$output" = "one
two" ]
}

@test "fewer segments than announced is no valid log" {
	echo one >"$BATS_TEST_TMPDIR/s1"
	fake_start <<<"{\"method\":\"audit.segments\",\"files\":[\"$BATS_TEST_TMPDIR/s1\"],\"result\":{\"count\":2,\"public_key\":\"a2V5\"}}"
	run fake_cli audit export
	[ "$status" -eq 3 ]
}

@test "init-policy writes once, never over something, not through a link" {
	cd "$BATS_TEST_TMPDIR"
	run "$AGENT_SAFE" init-policy
	[ "$status" -eq 0 ]
	[ "$(jq -r '.status + " " + .path' <<<"$output")" = "created agent-safe-policy.json" ]
	[ "$(jq .version agent-safe-policy.json)" = 2 ]
	cp agent-safe-policy.json before
	run "$AGENT_SAFE" init-policy
	[ "$status" -eq 2 ]
	cmp before agent-safe-policy.json
	ln -s nowhere link.json
	run "$AGENT_SAFE" init-policy link.json
	[ "$status" -eq 2 ]
	[ ! -e nowhere ]
}

@test "init-policy in root's directory says what it did not allow and why" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	run "$AGENT_SAFE" init-policy other.json
	[[ $(jq -r '.warnings[0]' <<<"$output") == *root_owned* ]]
	refute grep -q root_owned other.json
}

@test "in a home init-policy and check-policy say that nothing would start, and what a job could do there" {
	local who=()
	HOME_TOP=$(mktemp -d "${TMPDIR:-/tmp}/agentsafehomeXXXXXX")
	chmod 755 "$HOME_TOP"
	mkdir -p "$HOME_TOP/home/play"
	touch "$HOME_TOP/home/.bashrc"
	cp "$AGENT_SAFE" "$BUILD_DIR/agent-safe-broker" "$HOME_TOP/"
	if [ "$(id -u)" = 0 ]; then
		chown -R 70001:70001 "$HOME_TOP/home"
		who=(setpriv --reuid 70001 --regid 70001 --clear-groups)
	fi
	in_home() { (cd "$HOME_TOP/$1" && env -u XDG_STATE_HOME HOME="$HOME_TOP/home" "${who[@]}" "$HOME_TOP/agent-safe" "${@:2}"); }
	in_home home/play init-policy | jq -e 'has("warnings") | not'
	in_home home init-policy | jq -e '.warnings[0] | test("nothing will start here")'
	in_home home check-policy >"$BATS_TEST_TMPDIR/report"
	jq -e '.warnings | any(test("somebody.s home, it holds .bashrc")) and any(test("nothing will start"))' \
	    "$BATS_TEST_TMPDIR/report"
}

@test "-H: ssh gets a quoted command line, and a host that is an option is refused" {
	cat >"$BATS_TEST_TMPDIR/ssh" <<-'END'
	#!/bin/bash
	# As ssh does: the words after the host are joined and read by a shell.
	printf '%s\n' "$@" >"$SSH_SAID"
	shift 3
	PATH=$SSH_BIN:$PATH exec bash -c "$*"
	END
	chmod +x "$BATS_TEST_TMPDIR/ssh"
	fake_start <<<"$(row job.submit "$(job queued)")"
	mv "$FAKE/ws" "$FAKE/w s \$(touch M)"
	export SSH_SAID=$BATS_TEST_TMPDIR/said SSH_BIN=$BUILD_DIR AGENT_SAFE_SSH=$BATS_TEST_TMPDIR/ssh
	timeout 20 "$AGENT_SAFE" -H ana@host --workspace "$FAKE/w s \$(touch M)" --state "$FAKE/state" \
	    submit --cwd "$FAKE/state" -- true 3>&- 4>&-
	[ ! -e M ]
	[ "$(head -3 "$SSH_SAID" | paste -sd' ')" = "-T -- ana@host" ]
	[ "$(fake_seen job.submit | jq -r .passed)" = "$(realpath "$FAKE/state")" ]
	[ "$(fake_seen job.submit | jq -c '[.params.cwd, .params.command]')" = '[null,["true"]]' ]
	for bad in -oProxyCommand=x '' 'a b'; do
		run "$AGENT_SAFE" -H "$bad" list
		[ "$status" -eq 2 ]
		[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	done
}

@test "dial-stdio answers in the broker's place when the directory is not there" {
	fake_start </dev/null
	run fake_cli dial-stdio <<<'{"jsonrpc":"2.0","id":7,"method":"job.submit","params":{"cwd":"/nowhere/at/all"}}'
	[ "$(jq -c '[.id, .error.data.code]' <<<"$output")" = '[7,"invalid_input"]' ]
	[ -z "$(cat "$FAKE/state/requests" 2>/dev/null)" ]
}

@test "doctor names every check with a state and a remedy where one is needed" {
	cd "$BATS_TEST_TMPDIR"
	run "$AGENT_SAFE" doctor
	[ "$status" -eq 0 ] || [ "$status" -eq 2 ]
	[ "$(jq -r .schema <<<"$output")" = agent-safe.doctor/1 ]
	[ "$(jq '[.checks[] | select(.state != "ok" and .remedy == null)] | length' <<<"$output")" = 0 ]
	jq -e '.checks | map(.name) | contains(["kernel","landlock","seccomp","user_namespace","cgroup","programs"])' <<<"$output"
	[ "$(jq .ok <<<"$output")" = "$([ "$status" -eq 0 ] && echo true || echo false)" ]
}
