#!/usr/bin/env bats
# job.queued: when a job enters the queue or becomes free in it; exec.output: what a run wrote.  The other
# names of records: 77-events.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/events

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() { workspace_clean; }

QUEUED='job cause attempt attempts_left priority ahead not_before_us expires_us* approval_expires_us* key group* mutex*
    waiting_for after* spec_sha256'

@test "job.queued: by an approval, with its place and what it waits for" {
	mark
	first=$(approved --priority 5 -- true)
	second=$(approved --not-before 2099-01-01T00:00:00Z --key later -- true)
	emits job.queued $QUEUED
	one_is ".job == \"$first\" and .cause == \"approved\" and .attempt == 1 and .attempts_left == 1 and
	    .priority == 5 and .ahead == 0 and .waiting_for == []"
	one_is ".job == \"$second\" and .ahead == 1 and .waiting_for == [\"delay\"] and .key == \"later\""
	# Once for each, right behind the approval.
	agent_safe audit export --from "$FROM" | jq -es --arg i "$first" '
	    [.[] | select(.d.job == $i)] | map(.type) == ["job.proposed", "job.approved", "job.queued"] and
	    .[2].sn == .[1].sn + 1'
}

@test "job.queued: nothing that is undecided or denied is in the queue, nor is a job that was retried by hand" {
	mark
	propose -- true
	id=$(propose -- true)
	agent_safe deny "$id" --by tester --reason no >/dev/null
	agent_safe retry "$id" >/dev/null
	agent_safe audit export --from "$FROM" | jq -es 'any(.[]; .type == "job.retry") and all(.[]; .type != "job.queued")'
	agent_safe approve "$id" --by tester >/dev/null
	emits job.queued $QUEUED
}

@test "job.queued: again when a held job is released, and only then" {
	id=$(approved -- true)
	mark
	agent_safe hold "$id" >/dev/null
	agent_safe audit export --from "$FROM" | jq -es 'all(.[]; .type != "job.queued")'
	agent_safe release "$id" >/dev/null
	emits job.queued $QUEUED
	one_is '.cause == "released" and .waiting_for == []'
	# Undecided, it is in no queue that it could come back to.
	id=$(propose -- true)
	agent_safe hold "$id" >/dev/null
	agent_safe release "$id" >/dev/null
	[ "$(agent_safe audit export --from "$FROM" | jq -rs 'map(select(.type == "job.queued")) | length')" = 1 ]
	agent_safe hold "$id" >/dev/null
	agent_safe approve "$id" --by tester >/dev/null
	emits job.queued $QUEUED
	one_is ".job == \"$id\" and .waiting_for == [\"hold\"]"
}

@test "job.queued: again when an attempt failed and another is due" {
	id=$(approved --max-attempts 2 -- false)
	mark
	run agent_safe run "$id" --execute
	emits job.queued $QUEUED
	one_is '.cause == "retry" and .attempt == 2 and .attempts_left == 1 and .waiting_for == ["retry"]'
	[ "$(wc -l <"$SEEN")" = 1 ]
}

@test "job.queued: again when the last job that it waited for has ended" {
	a=$(approved -- true)
	b=$(approved --after "$a" -- true)
	emits job.queued $QUEUED
	one_is ".job == \"$b\" and .waiting_for == [\"job\"] and .after == [{job_id: \"$a\", want: \"ok\", met: false}]"
	mark
	agent_safe run "$a" --execute >/dev/null
	emits job.queued $QUEUED
	one_is ".job == \"$b\" and .cause == \"needs\" and .waiting_for == [] and .after[0].met"
}

@test "exec.output: what was written, kept and masked, by kind, right before the end in one commit" {
	local id key
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "sh", "args": ["run"] } ],
	  "limits": { "keep_bytes": 2000 } }
	END
	agent_safe policy reload >/dev/null
	key=AKIA$(printf 'ABCDEFGHIJKLMNOP')
	# Not in its arguments: these are searched for secrets too.
	printf 'echo %s password=%s >&2; echo %s; seq 2000\n' "$key" hunter2hunter2 "$key" >"$WS/proj/run"
	mark
	id=$(approved -- sh run)
	agent_safe run "$id" --execute >/dev/null
	emits exec.output job attempt slot $STREAMS stdout_head_bytes stdout_redactions stdout_masked \
	    stderr_head_bytes stderr_redactions stderr_masked capture_fault
	one_is '.stdout_truncated and .stdout_masked == {token: 1} and .stdout_redactions == 1 and (.capture_fault | not) and
	    (.stderr_truncated | not) and .stderr_masked == {token: 1, named: 1} and .stderr_redactions == 2 and .stdout_bytes > 8000 and
	    .stdout_stored_bytes < 3000'
	jq -j '.d.stdout_stored_sha256' "$SEEN" >"$BATS_TEST_TMPDIR/sum"
	[ "$(cat "$BATS_TEST_TMPDIR/sum")" = "$(sha256sum "$(find "$WS_STATE/runs" -path "*$id.1/out")" | cut -c1-64)" ]
	agent_safe audit export --from "$FROM" | jq -es '
	    (map(.type) | index("exec.output")) as $i | .[$i + 1].type == "exec.exit" and
	    .[$i + 1].d.stdout_stored_sha256 == .[$i].d.stdout_stored_sha256'
	agent_safe audit-verify --runs "$WS_STATE/runs" | jq -e .valid
}
