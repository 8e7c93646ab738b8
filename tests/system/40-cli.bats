#!/usr/bin/env bats
# agent-safe and agent-safe-mcp with a trio: what a person and an agent do all day.

load ../support/workspace

setup() {
	need_root
	workspace_make
	agent_safe status >/dev/null # the trio is there, started by root: others only find it
}

teardown() {
	workspace_clean
}

# For a person, whatever standard output is
table() { "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" -o table "$@" 3>&- 4>&-; }

# has JOB FILTER
has() { agent_safe show "$1" | jq -e "$2" >/dev/null; }

# The shell program as it lies in the workspace, allowed by the policy
policy_with_shell() {
	agent_safe serve --stop >/dev/null
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "limits": { "timeout_seconds": 60 },
	  "rules": [ { "program": "sh" }, { "program": "printf" }, { "program": "sleep" }, { "program": "true" } ] }
	END
	agent_safe status >/dev/null
}

@test "propose, look, approve what was shown, run, read, verify" {
	id=$(propose -- echo hello 'a b')
	[ "$(agent_safe inbox | jq -r '.[].id')" = "$id" ]
	digest=$(table show "$id" | sed -n 's/.*--digest \(sha256:[0-9a-f]*\)$/\1/p')
	[ -n "$digest" ]
	agent_safe approve "$id" --by ana --digest "$digest" | jq -e '.approval_status == "approved" and .decided_by == "ana"'
	[ "$(agent_safe inbox)" = '[]' ]
	run agent_safe run "$id" --execute
	[ "$status" -eq 0 ]
	[ "$(jq -r .result.stdout <<<"$output")" = "hello a b" ]
	[ "$("$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" logs "$id" 3>&- 4>&- 2>/dev/null)" = "hello a b" ]
	run agent_safe audit-verify
	[ "$status" -eq 0 ]
	[ "$(jq -r .valid <<<"$output")" = true ]
}

@test "a digest that is not the one shown is approval_stale" {
	id=$(propose -- echo hello)
	run agent_safe approve "$id" --by ana --digest "sha256:$(printf '0%.0s' $(seq 64))"
	[ "$status" -eq 2 ]
	[ "$(jq -r .error.code <<<"$output")" = approval_stale ]
}

@test "a dry run starts nothing and changes nothing" {
	id=$(propose -- echo hello)
	run agent_safe run "$id"
	[ "$status" -eq 0 ]
	[ "$(jq -r '.status + " " + (.dry_run.policy_allowed | tostring)' <<<"$output")" = "queued true" ]
}

@test "the exit status of the job is passed on request; 1 without" {
	policy_with_shell
	for code in 0 1 2 126 127 128 130 255; do
		id=$(propose -- sh -c "exit $code")
		agent_safe approve "$id" --by ana >/dev/null
		status=0
		agent_safe run "$id" --execute --exit-status >/dev/null || status=$?
		[ "$status" -eq "$code" ] || { echo "$code: $status"; false; }
	done
	id=$(propose -- sh -c 'kill -9 $$')
	agent_safe approve "$id" --by ana >/dev/null
	status=0
	agent_safe run "$id" --execute --exit-status >"$WS_TOP/job" || status=$?
	[ "$status" -eq 137 ]
	jq -e '.attempts_log[-1] | .exit_code == null and .signal == 9' "$WS_TOP/job"
	id=$(propose -- sh -c 'exit 7')
	agent_safe approve "$id" --by ana >/dev/null
	status=0
	agent_safe run "$id" --execute >"$WS_TOP/job" || status=$?
	[ "$status" -eq 1 ]
	[ "$(jq -r '.status + " " + .error_class' "$WS_TOP/job")" = "failed nonzero_exit" ]
}

@test "the child sees exactly the seven arguments that were proposed and shown" {
	policy_with_shell
	id=$(propose -- printf '%s|' 'a b' '' '$(id)' "it's" '*' $'x\ny' '\')
	[ "$(agent_safe show "$id" | jq -c '.command[2:]')" = '["a b","","$(id)","it'"'"'s","*","x\ny","\\"]' ]
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >"$WS_TOP/job"
	[ "$(jq -r '.result.stdout' "$WS_TOP/job"; echo .)" = "$(printf '%s|' 'a b' '' '$(id)' "it's" '*' $'x\ny' '\'; echo; echo .)" ]
}

@test "argv that is not UTF-8 comes back as it went" {
	id=$(propose -- echo $'caf\xe9')
	[ "$(agent_safe show "$id" | jq -c '.command[1]')" = '{"b64":"Y2Fm6Q=="}' ]
	table show "$id" 2>/dev/null | grep -qF "\$'caf\\351'"
}

@test "INT on run cancels the job, waits, and ends with 130" {
	policy_with_shell
	id=$(propose -- sleep 30)
	agent_safe approve "$id" --by ana >/dev/null
	env --default-signal=INT "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --json run "$id" --execute \
	    >"$WS_TOP/job" 2>"$WS_TOP/err" 3>&- 4>&- &
	running=$!
	wait_until 5 has "$id" '.attempts_log[-1].outcome == "running"'
	kill -INT "$running"
	status=0
	wait "$running" || status=$?
	[ "$status" -eq 130 ]
	[ "$(jq -r .status "$WS_TOP/job")" = cancelled ]
}

@test "KILL on run leaves the job running" {
	policy_with_shell
	id=$(propose -- sleep 2)
	agent_safe approve "$id" --by ana >/dev/null
	"$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --json run "$id" --execute >/dev/null 2>&1 3>&- 4>&- &
	running=$!
	wait_until 5 has "$id" '.status == "running"'
	kill -KILL "$running"
	wait "$running" 2>/dev/null || true
	run agent_safe wait "$id" --timeout 20
	[ "$status" -eq 0 ]
	[ "$(jq -r .status <<<"$output")" = succeeded ]
}

@test "work --drain runs what is approved, once each, and leaves the rest" {
	for _ in 1 2 3; do
		id=$(propose -- true)
		agent_safe approve "$id" --by ana >/dev/null
	done
	pending=$(propose -- true)
	run agent_safe work --drain --execute
	[ "$status" -eq 0 ]
	[ "$(jq -r .status <<<"$output" | sort | uniq -c | awk '{print $1, $2}')" = "3 succeeded" ]
	[ "$(agent_safe show "$pending" | jq -r .status)" = queued ]
	[ "$(agent_safe work --once --execute | jq -r .status)" = idle ]
}

@test "another account may propose in its own directory, sees its own jobs alone, and cannot decide" {
	id=$(propose -- true)
	run agent_safe_as "$OTHER_UID" show "$id"
	[ "$status" -eq 2 ]
	[ "$(jq -r .error.code <<<"$output")" = job_not_found ]
	run agent_safe_as "$WS_UID" approve "$id" --by ana
	[ "$status" -eq 2 ]
	[ "$(jq -r .error.code <<<"$output")" = not_permitted ]
}

@test "a missing directory, a file, and a directory of somebody else are no working directories" {
	run agent_safe_as "$WS_UID" submit --cwd "$WS/nowhere" -- true
	[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	run agent_safe_as "$WS_UID" submit --cwd "$WS/agent-safe-policy.json" -- true
	[ "$(jq -r .error.code <<<"$output")" = invalid_input ]
	run agent_safe_as "$WS_UID" submit --cwd / -- true
	[ "$status" -eq 2 ]
	[ "$(agent_safe list)" = '[]' ]
}

@test "a key with the same content gives the same job, with other content key_conflict and the fields" {
	first=$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key k -- echo one | jq -r .id)
	[ "$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key k -- echo one 2>/dev/null | jq -r '.id + " " + (.created|tostring)')" = "$first false" ]
	run agent_safe_as "$WS_UID" submit --cwd "$WS/proj" --key k -- echo two
	[ "$status" -eq 2 ]
	[ "$(jq -c '[.error.code, .error.fields]' <<<"$output")" = '["key_conflict",["command"]]' ]
}

@test "paging reaches every job" {
	for i in 1 2 3 4 5; do propose -- echo "$i" >/dev/null; done
	[ "$(agent_safe list --all | jq length)" = 5 ]
	[ "$(agent_safe list --limit 2 | jq length)" = 2 ]
	[ "$(agent_safe list --newest --limit 1 | jq -r '.[0].command[1]')" = 5 ]
}

@test "reading changes nothing in the state folder" {
	id=$(propose -- true)
	agent_safe audit head >/dev/null
	sums() { find "$WS_STATE" -type f -path '*broker*' -name 'queue.db' -exec sha256sum {} +; }
	sums >"$WS_TOP/before"
	for command in inbox list "show $id" "assess $id" "policy explain" status; do
		# shellcheck disable=SC2086
		agent_safe $command >/dev/null
	done
	sums >"$WS_TOP/after"
	cmp "$WS_TOP/before" "$WS_TOP/after"
}

@test "policy reload takes a changed file, also one with other roots; check-policy needs no broker" {
	echo '{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" }, { "program": "false" } ] }' |
	    workspace_policy
	[ "$(agent_safe status | jq .policy_changed)" = true ]
	[ "$(agent_safe policy reload | jq .rule_count)" = 2 ]
	mkdir "$WS/other" && chown "$WS_UID:$WS_UID" "$WS/other"
	sed -i 's/\["proj"\]/["proj","other"]/' "$WS/agent-safe-policy.json"
	before=$(agent_safe status | jq .pids.broker)
	[ "$(agent_safe policy reload | jq .restart)" = true ]
	[ "$(agent_safe status | jq .pids.broker)" != "$before" ]
	agent_safe_as "$WS_UID" submit --cwd "$WS/other" -- true | jq -e .assessment.allowed
	agent_safe serve --stop
	agent_safe check-policy | jq -e '.valid and .rule_count == 2'
	echo '{ "version": 2, "rulez": [] }' | workspace_policy
	run agent_safe check-policy
	[ "$status" -eq 2 ]
	[[ $(jq -r .error.message <<<"$output") == *"line 1"* ]]
}

@test "serve keeps the trio and ends it in good order; serve --stop twice is no error" {
	agent_safe serve --stop >/dev/null
	"$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" --json serve >"$WS_TOP/said" 2>&1 3>&- 4>&- &
	serving=$!
	wait_until 5 test -s "$WS_TOP/said"
	pid=$(head -1 "$WS_TOP/said" | jq -r .pids.broker)
	kill -TERM "$serving"
	wait "$serving"
	wait_gone 20 "$pid"
	run agent_safe audit-verify "$WS_STATE/audit/log"
	[ "$status" -eq 0 ]
	[ "$(agent_safe serve --stop | jq -r .status)" = not_running ]
}

@test "an agent proposes over MCP, a person approves, the agent reads the result" {
	cat >"$WS_TOP/agent.py" <<-END
	import sys, subprocess, json
	sys.path.insert(0, "$ROOT/tests/support")
	from mcpclient import Host
	host = Host(["$WS_BIN/agent-safe-mcp", "--workspace", "$WS", "--state", "$WS_STATE"], user=$WS_UID, group=$WS_UID, extra_groups=[], cwd="/")
	host.start()
	job = host.tool(1, "propose", {"command": ["echo", "from an agent"], "cwd": "$WS/proj"})["result"]["structuredContent"]
	assert job["source"] == "mcp" and job["assessment"]["allowed"] is True, job
	cli = ["$WS_BIN/agent-safe", "--workspace", "$WS", "--state", "$WS_STATE", "--json"]
	assert host.tool(2, "wait", {"job_id": job["id"], "for": "decided", "timeout": 0})["result"]["structuredContent"]["reached"] is False
	subprocess.run(cli + ["approve", job["id"], "--by", "ana"], check=True, stdout=subprocess.DEVNULL)
	subprocess.run(cli + ["run", job["id"], "--execute"], check=True, stdout=subprocess.DEVNULL)
	done = host.tool(3, "wait", {"job_id": job["id"]})["result"]["structuredContent"]
	assert done["reached"] is True and done["status"] == "succeeded", done
	assert host.tool(4, "output", {"job_id": job["id"]})["result"]["structuredContent"]["data"] == "from an agent\n"
	bad = host.tool(5, "propose", {"command": ["rm", "-rf", "x"], "cwd": "$WS/proj"})["result"]["structuredContent"]
	assert bad["assessment"]["allowed"] is False and bad["policy"]["rules"], bad
	secret = host.tool(6, "propose", {"command": ["echo", "sk-" + "a1B2" * 12], "cwd": "$WS/proj"})["result"]
	assert secret["isError"] is True and "sensitive_input" in secret["content"][0]["text"] and "a1B2" not in json.dumps(secret), secret
	assert host.tool(7, "verify")["result"]["structuredContent"]["size"] > 0
	assert host.end()[0] == 0
	END
	timeout 60 /usr/bin/python3 -B "$WS_TOP/agent.py" 3>&- 4>&-
}
