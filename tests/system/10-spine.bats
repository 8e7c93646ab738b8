#!/usr/bin/env bats
# The main job from end to end, started by root: proposed by an ordinary uid, decided by root, run in a cage.

load ../support/workspace
load ../support/procs

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

@test "submit, assess, approve, run, show: the whole way, and the log verifies" {
	local id digest
	agent_safe_as "$WS_UID" submit --cwd "$WS/proj" -- echo hello >"$BATS_TEST_TMPDIR/job"
	id=$(jq -er .id "$BATS_TEST_TMPDIR/job")
	[ "$(jq -r '.status, .approval_status, .created' "$BATS_TEST_TMPDIR/job" | xargs)" = 'queued pending true' ]

	agent_safe assess "$id" >"$BATS_TEST_TMPDIR/assessment"
	[ "$(jq -r '.allowed, .execution_ready' "$BATS_TEST_TMPDIR/assessment" | xargs)" = 'true false' ]
	digest=$(jq -er .spec_digest "$BATS_TEST_TMPDIR/assessment")
	[[ $digest =~ ^sha256:[0-9a-f]{64}$ ]]

	agent_safe approve "$id" --by ana --digest "$digest" >"$BATS_TEST_TMPDIR/approved"
	[ "$(jq -r '.approval_status, .decided_by' "$BATS_TEST_TMPDIR/approved" | xargs)" = 'approved ana' ]

	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ended"
	[ "$(jq -r '.status, .result.returncode, .attempts' "$BATS_TEST_TMPDIR/ended" | xargs)" = 'succeeded 0 1' ]
	[ "$(jq -r .result.stdout "$BATS_TEST_TMPDIR/ended")" = hello ]

	agent_safe audit-verify >"$BATS_TEST_TMPDIR/verdict"
	[ "$(jq -r .valid "$BATS_TEST_TMPDIR/verdict")" = true ]
}

@test "the log holds every step in its order, intent before start" {
	local id
	id=$(run_job true | jq -er .id)
	agent_safe serve --stop
	workspace_start
	cat "$WS_STATE"/audit/log/seg-* | jq -r --arg id "$id" 'select(.d.job == $id) | "\(.src) \(.type)"' >"$BATS_TEST_TMPDIR/types"
	run grep -nE 'job\.proposed|job\.approved|job\.queued|job\.dispatch|exec\.intent|exec\.start|exec\.output|exec\.exit|job\.finished' "$BATS_TEST_TMPDIR/types"
	[ "$(sed 's/^[0-9]*://' <<<"$output" | xargs)" = 'broker job.proposed broker job.approved broker job.queued broker job.dispatch executor exec.intent executor exec.start executor exec.output executor exec.exit broker job.finished' ]
	"$WS_BIN/agent-safe-audit-verify" "$WS_STATE/audit/log"
}

@test "without --execute nothing runs" {
	local id
	id=$(propose -- sh -c 'echo ran >ran')
	agent_safe approve "$id" --by ana
	agent_safe run "$id" | jq -e '.status == "queued" and .attempts == 0'
	[ ! -e "$WS/proj/ran" ]
}

@test "without approval nothing runs: approval_required, exit 2" {
	local id
	id=$(propose -- sh -c 'echo ran >ran')
	run agent_safe run "$id" --execute
	[ "$status" = 2 ]
	[ "$(jq -r .error.code <<<"$output")" = approval_required ]
	[ ! -e "$WS/proj/ran" ]
}

@test "a denied job never runs" {
	local id
	id=$(propose -- sh -c 'echo ran >ran')
	agent_safe deny "$id" --by ana --reason 'not today' | jq -e '.status == "cancelled" and .approval_status == "denied"'
	run agent_safe run "$id" --execute
	[ "$status" = 2 ]
	[ ! -e "$WS/proj/ran" ]
}

@test "a command that no rule allows is stored, and cannot be approved" {
	local id
	id=$(propose -- ls)
	agent_safe assess "$id" | jq -e '.allowed == false and (.reason | length > 0)'
	run agent_safe approve "$id" --by ana
	[ "$status" = 2 ]
	[ "$(jq -r .error.code <<<"$output")" = policy_denied ]
}

@test "a program that changed after the approval does not run: approval_stale" {
	local id
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/tool" }, { "program": "true" },
	  { "program": "false" }, { "program": "echo" }, { "program": "sh" }, { "program": "sleep" }, { "program": "cat" }] }
	END
	printf '#!/bin/sh\necho first\n' >"$WS/proj/tool"
	chmod 755 "$WS/proj/tool"
	chown "$WS_UID:$WS_UID" "$WS/proj/tool"
	agent_safe policy reload
	id=$(propose -- ./tool)
	agent_safe approve "$id" --by ana
	printf '#!/bin/sh\necho other\n' >"$WS/proj/tool"
	run agent_safe run "$id" --execute
	[ "$status" != 0 ]
	[[ $output == *approval_stale* ]]
	[[ $output != *other* ]]
}

@test "a job that fails: exit 1, its code on record, passed on with --exit-status" {
	run run_job sh -c 'exit 7'
	[ "$status" = 1 ]
	jq -e '.status == "failed" and .error_class == "nonzero_exit" and .result.returncode == 7' <<<"$output"
	local id
	id=$(propose -- sh -c 'exit 7')
	agent_safe approve "$id" --by ana
	run agent_safe run "$id" --execute --exit-status
	[ "$status" = 7 ] || { echo "$status: $output"; false; }
}

@test "a timeout ends the whole tree, also what left the session" {
	local id
	id=$(propose --timeout 1 -- sh -c 'setsid sleep 4711 & sleep 4711')
	agent_safe approve "$id" --by ana
	run agent_safe run "$id" --execute
	[ "$status" = 1 ]
	jq -e '.status == "failed" and .error_class == "timeout" and .attempts_log[0].outcome == "timed_out"' <<<"$output"
	run ps -eo args
	[[ $output != *'sleep 4711'* ]]
}

@test "the child of a job that ended does not live on" {
	run run_job sh -c 'sleep 4712 & exit 0'
	[ "$status" = 0 ]
	run ps -eo args
	[[ $output != *'sleep 4712'* ]]
}

@test "what a job writes in its workspace belongs to the workspace's owner" {
	run_job sh -c 'echo mine >written'
	[ "$(stat -c '%u %s' "$WS/proj/written")" = "$WS_UID 5" ]
}

@test "argv arrives byte for byte, also what is not UTF-8, and no shell reads it" {
	local id
	id=$(propose -- echo '$HOME' '`id`' "a b" $'caf\xe9' '')
	agent_safe approve "$id" --by ana
	agent_safe run "$id" --execute >/dev/null
	run agent_safe show "$id"
	jq -e '.command[4] == {"b64": "Y2Fm6Q=="} and .command[3] == "a b" and .command[5] == ""' <<<"$output"
	agent_safe logs --stream stdout "$id" >"$BATS_TEST_TMPDIR/out"
	printf '$HOME `id` a b caf\xe9 \n' | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "the same key is the same job; another command under it is a conflict" {
	local one two
	one=$(agent_safe_as "$WS_UID" submit --key k1 --cwd "$WS/proj" -- true)
	two=$(agent_safe_as "$WS_UID" submit --key k1 --cwd "$WS/proj" -- true)
	[ "$(jq -r .id <<<"$one")" = "$(jq -r .id <<<"$two")" ]
	[ "$(jq -r .created <<<"$two")" = false ]
	run agent_safe_as "$WS_UID" submit --key k1 --cwd "$WS/proj" -- false
	[ "$status" = 2 ]
	[ "$(jq -r .error.code <<<"$output")" = key_conflict ]
}

@test "work --once takes the approved job and says idle when there is none" {
	local id
	for id in $(agent_safe list --status queued | jq -r '.[].id'); do agent_safe cancel "$id" >/dev/null; done
	agent_safe work --once --execute | jq -e '.status == "idle"'
	id=$(propose -- true)
	agent_safe approve "$id" --by ana
	agent_safe work --once --execute | jq -e --arg id "$id" '.id == $id and .status == "succeeded"'
}

@test "a waiting job that is cancelled does not run" {
	local id
	id=$(propose -- true)
	agent_safe approve "$id" --by ana
	agent_safe cancel "$id" | jq -e '.status == "cancelled"'
	run agent_safe run "$id" --execute
	[ "$status" = 2 ]
	[ "$(jq -r .error.code <<<"$output")" = invalid_job_state ]
}

# --- who holds what ------------------------------------------------------------

@test "broker and auditor: own uids, no capability in any set, no_new_privs, a filter, no groups" {
	local name pid uids=
	while read -r name pid; do
		[ "$name" = executor ] && continue
		[ "$(caps_of "$pid")" = "$NO_CAPS" ]
		[ "$(status_of "$pid" NoNewPrivs)" = 1 ]
		[ "$(status_of "$pid" Seccomp)" = 2 ]
		[ -z "$(status_of "$pid" Groups)" ]
		uids+="$(status_of "$pid" Uid | cut -d' ' -f1)"$'\n'
	done < <(workspace_pids)
	[ "$(sort -u <<<"${uids%$'\n'}" | wc -l)" = 2 ]
}

@test "executor: no capability on the host, five inside a user namespace of its own" {
	local pid
	pid=$(workspace_pids | awk '$1 == "executor" { print $2 }')
	[ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]
	# KILL 5, SETGID 6, SETUID 7, SETPCAP 8, SYS_ADMIN 21
	[ "$(status_of "$pid" CapEff)" = 00000000002001e0 ]
	[ "$(status_of "$pid" CapPrm)" = 00000000002001e0 ]
	[ "$(status_of "$pid" CapAmb)" = 0000000000000000 ]
	[ "$(status_of "$pid" NoNewPrivs)" = 1 ]
	[ "$(status_of "$pid" Seccomp)" = 2 ]
	# Nobody outside is 0 in there, and no daemon's uid is in the map.
	refute awk '$2 == 0 { found = 1 } END { exit !found }' "/proc/$pid/uid_map"
	for other in broker auditor; do
		uid=$(status_of "$(workspace_pids | awk -v o=$other '$1 == o { print $2 }')" Uid | cut -d' ' -f1)
		awk -v uid="$uid" 'uid >= $2 && uid < $2 + $3 { exit 1 }' "/proc/$pid/uid_map"
	done
}

@test "nobody of the trio, its keepers and its jobs is uid 0; launch is gone" {
	local id pid
	id=$(propose -- sleep 50)
	agent_safe approve "$id" --by ana
	agent_safe run "$id" --execute >/dev/null &
	wait_until 40 keeper_runs
	for pid in $(workspace_holders); do
		[ "$(readlink "/proc/$pid/exe")" != "$WS_BIN/agent-safe" ] || continue
		refute grep -E '^Uid:.*\b0\b' "/proc/$pid/status"
	done
	[ -z "$(running "$WS_BIN/agent-safe-launch")" ]
	agent_safe cancel "$id" >/dev/null
	wait
}

keeper_runs() { [ -n "$(running "$WS_BIN/agent-safe-keeper")" ]; }

@test "keeper, init and job of a run: three uids at most two alike, capabilities none, KILL, none" {
	local id keeper init job
	id=$(propose -- sleep 50)
	agent_safe approve "$id" --by ana
	agent_safe run "$id" --execute >/dev/null &
	wait_until 40 find_job

	[ "$(caps_of "$keeper")" = "$NO_CAPS" ]
	[ "$(caps_of "$job")" = "$NO_CAPS" ]
	[ "$(status_of "$init" CapEff)" = 0000000000000020 ]
	[ "$(status_of "$init" CapPrm)" = 0000000000000020 ]
	for pid in "$keeper" "$init" "$job"; do
		[ "$(status_of "$pid" NoNewPrivs)" = 1 ]
		[ "$(status_of "$pid" Seccomp)" = 2 ]
	done
	[ "$(status_of "$keeper" Uid)" = "$(status_of "$init" Uid)" ]
	[ "$(status_of "$job" Uid)" != "$(status_of "$init" Uid)" ]
	[ -z "$(status_of "$job" Groups)" ]
	for ns in pid mnt net ipc uts cgroup; do
		[ "$(readlink "/proc/$job/ns/$ns")" != "$(readlink "/proc/self/ns/$ns")" ]
	done
	agent_safe cancel "$id" >/dev/null
	wait
}

# Sets keeper, init and job: of the keeper whose init has a child that is no longer init itself.
find_job() {
	for keeper in $(running "$WS_BIN/agent-safe-keeper"); do
		init=$(children_of "$keeper" | head -n 1)
		[ -n "$init" ] && job=$(children_of "$init" | head -n 1) && [ -n "$job" ] || continue
		[ "$(readlink "/proc/$job/exe")" != "$(readlink -f "$(command -v sleep)")" ] || return 0
	done
	return 1
}
