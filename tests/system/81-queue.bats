#!/usr/bin/env bats
# The order of the queue: hold, groups, keys, jobs that wait for others, times, own workers, events, prune.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	workspace_make
}
teardown() { workspace_clean; }

# The trio with a policy of so many own workers.
begin() {
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "true" }, { "program": "false" }, { "program": "sh" } ],
	  "queue": { "workers": $1, "groups": { "build": 2 } }
	}
	END
	workspace_start
}

# An approved job; prints its id.
approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null
	echo "$id"
}
field() { agent_safe show "$1" | jq -r ".$2"; }
is() { [ "$(field "$1" status)" = "$2" ]; }
waits_for() { agent_safe show "$1" | jq -er --arg w "$2" '.waiting_for | index($w) != null' >/dev/null; }
refused() {
	local code=$1
	shift
	run --separate-stderr agent_safe "$@"
	[ "$status" = 2 ]
	jq -e --arg c "$code" '.error.code == $c' <<<"$stderr"
}

@test "a held job and a held queue start nothing, say so, and go on when released, also after a new start" {
	begin 0
	local id
	id=$(approved -- true)
	agent_safe hold "$id" | jq -e '.held and .waiting_for == ["hold"]'
	refused invalid_job_state run "$id" --execute
	agent_safe work --once --execute | jq -e '.status == "idle"'
	agent_safe release "$id" | jq -e '.held | not'
	agent_safe hold | jq -e .held
	agent_safe serve --stop
	refused invalid_job_state run "$id" --execute
	waits_for "$id" paused
	agent_safe work --once --execute | jq -e '.status == "idle"'
	agent_safe release | jq -e '.held | not'
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
}

@test "drain lets what runs end and starts nothing more" {
	begin 0
	local first second
	first=$(approved -- sh -c 'sleep 1')
	second=$(approved -- true)
	agent_safe run "$first" --execute >/dev/null 3>&- &
	wait_until 5 is "$first" running
	agent_safe drain | jq -e '.held and .running == 0'
	is "$first" succeeded
	is "$second" queued
	wait
}

@test "a job runs after another one as it wants; one that waits in vain is dead with the reason" {
	begin 0
	local good bad ok any notok vain
	good=$(approved -- true)
	bad=$(approved -- false)
	ok=$(approved --after "$good" -- true)
	any=$(approved --after "$bad:any" -- true)
	notok=$(approved --after "$bad:notok" -- true)
	vain=$(approved --after "$bad:ok" -- true)
	local last
	last=$(approved --after "$vain:ok" -- true)
	waits_for "$ok" job
	refused invalid_job_state run "$ok" --execute
	agent_safe run "$bad" --execute >/dev/null || true
	is "$vain" dead_letter
	is "$last" dead_letter
	[ "$(field "$vain" error_class)" = dependency ]
	# What was not met is not said to be: the result names it, and who tries again waits for nobody.
	agent_safe show "$vain" | jq -e --arg bad "$bad" '.after == [] and (.result.error | contains($bad))'
	agent_safe retry "$last" | jq -e '.status == "queued" and .after == []'
	agent_safe cancel "$last" >/dev/null
	agent_safe show "$any" | jq -e '.after[0].met'
	agent_safe run "$good" --execute >/dev/null
	agent_safe work --drain --execute >/dev/null
	is "$ok" succeeded
	is "$any" succeeded
	is "$notok" succeeded
	refused invalid_job_state submit --new --cwd "$WS/proj" --after "$bad" -- true
	refused job_not_found submit --new --cwd "$WS/proj" --after 00000000-0000-4000-8000-000000000000 -- true
}

@test "own workers run what is approved, by priority, a group to its limit, a key one at a time" {
	local i ids=() most
	begin 8
	agent_safe hold >/dev/null
	for i in 1 2 3 4; do
		ids+=("$(approved --group build -- sh -c "echo in >>g; sleep 0.3; grep -c in g >/dev/null; echo out >>g")")
		ids+=("$(approved --mutex one -- sh -c 'mkdir lock && sleep 0.1 && rmdir lock')")
	done
	waits_for "${ids[0]}" paused
	agent_safe release >/dev/null
	for i in "${ids[@]}"; do
		agent_safe wait "$i" --timeout 20 | jq -e '.status == "succeeded" and .attempts_log[0].worker == "broker"'
	done
	most=$(awk '/in/ { n++; if (n > m) m = n } /out/ { n-- } END { print m }' "$WS/proj/g")
	[ "$most" = 2 ]
	refused invalid_input submit --new --cwd "$WS/proj" --group nobody -- true
}

@test "not-before and expires: a worker takes a job at its time, a job that never began is cancelled at its own" {
	local later late
	begin 2
	later=$(approved --not-before 2 -- true)
	late=$(propose --expires 1 -- true)
	waits_for "$later" delay
	agent_safe wait "$later" --timeout 10 | jq -e '.status == "succeeded" and
	    .attempts_log[0].started_at >= .available_at'
	is "$late" cancelled
	[ "$(field "$late" error_class)" = expired ]
	# It would be cancelled again at once.
	refused invalid_job_state retry "$late"
	# What has begun in time has kept it, also when it is tried once more.
	late=$(approved --expires 3600 -- false)
	agent_safe wait "$late" --timeout 60 >/dev/null || true
	agent_safe retry "$late" | jq -e '.status == "queued" and .expires_at == null'
}

@test "retries by the broker's own workers come back by themselves and keep the bound" {
	local id
	begin 1
	id=$(approved --max-attempts 2 -- sh -c 'echo x >>tries; false')
	# Between the tries the job says what it waits for, and when it comes back: two seconds, less a tenth at most.
	wait_until 10 is "$id" retry_wait
	waits_for "$id" retry
	agent_safe show "$id" | jq -e '.attempts_log[0] | .outcome == "exited" and (.next_try_at - .ended_at) > 1.7 and
	    (.next_try_at - .ended_at) < 2.1'
	wait_until 20 is "$id" failed
	[ "$(wc -l <"$WS/proj/tries")" = 2 ]
	agent_safe show "$id" | jq -e '.attempts_log[1].next_try_at == null'
}

@test "the broker's own worker buries what the policy refuses meanwhile, and goes on" {
	begin 1
	local id pid
	pid=$(agent_safe status | jq -r .pids.broker)
	agent_safe hold >/dev/null
	id=$(approved -- false)
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ], "queue": { "workers": 1 } }
	END
	agent_safe policy reload >/dev/null
	agent_safe release >/dev/null
	wait_until 10 is "$id" dead_letter
	[ "$(agent_safe status | jq -r .pids.broker)" = "$pid" ]
	id=$(approved -- true)
	wait_until 10 is "$id" succeeded
}

@test "cancel --all ends what runs and what waits" {
	begin 0
	local a b
	a=$(approved -- sh -c 'sleep 30')
	b=$(propose -- true)
	agent_safe run "$a" --execute >/dev/null 3>&- &
	wait_until 5 is "$a" running
	agent_safe cancel --all | jq -e 'length == 2 and all(.status == "cancelled")'
	is "$a" cancelled
	is "$b" cancelled
	wait || true
}

@test "watch tells every step once, and goes on from a cursor" {
	begin 0
	local id cursor
	id=$(approved -- true)
	agent_safe run "$id" --execute >/dev/null
	agent_safe watch --cursor 0 --once >"$WS_TOP/events"
	[ "$(jq -r --arg i "$id" 'select(.data.job == $i) | .type' "$WS_TOP/events" | tr '\n' ' ')" = \
	    'job.proposed job.approved job.queued job.dispatch job.finished ' ]
	cursor=$(jq -s 'last.cursor' "$WS_TOP/events")
	[ -z "$(agent_safe watch --cursor "$cursor" --once)" ]
	agent_safe hold >/dev/null
	agent_safe watch --cursor "$cursor" --once | jq -e '.type == "queue.paused"'
}

@test "watch shows others only their own jobs" {
	need_root
	begin 0
	local id
	id=$(propose -- true)
	[ -z "$(agent_safe_as "$OTHER_UID" watch --cursor 0 --once)" ]
	agent_safe_as "$WS_UID" watch --cursor 0 --once | jq -e --arg i "$id" 'select(.data.job == $i)'
}

@test "prune forgets ended jobs with their folders and leaves the rest, the log still verifies" {
	begin 0
	local old open
	old=$(approved -- true)
	open=$(propose -- true)
	agent_safe run "$old" --execute >/dev/null
	agent_safe prune --older-than 0 --status failed | jq -e '.pruned == 0'
	agent_safe prune --older-than 3600 | jq -e '.pruned == 0'
	agent_safe prune --older-than 0 | jq -e '.pruned == 1'
	refused job_not_found show "$old"
	is "$open" queued
	no_folder() { [ -z "$(find "$WS_STATE/runs" -name "$old.*")" ]; }
	wait_until 20 no_folder
	agent_safe audit-verify | jq -e .valid
}

@test "prune by disk use takes the oldest that ended, no more than it must, never an unfinished one; a dry run nothing" {
	begin 0
	local i ids=() open size
	open=$(propose -- true)
	for i in 1 2 3 4; do
		ids+=("$(approved -- sh -c 'head -c 60000 /dev/zero')")
		agent_safe run "${ids[-1]}" --execute >/dev/null
	done
	all=$(agent_safe prune --max-bytes 0 --dry-run)
	jq -e '.pruned == 4 and .dry_run and .left_bytes > 0' <<<"$all"
	agent_safe list | jq -e 'length == 5'
	# As the disk says: the runs' folders, and no more than these and the database.
	size=$(du -s -B1 "$WS_STATE"/runs/*/* | awk '{ s += $1 } END { print s }')
	jq -e --argjson s "$size" --argjson d "$(du -s -B1 "$WS_STATE/broker" | cut -f1)" \
	    '.bytes >= $s and .bytes <= $s + $d' <<<"$all"
	agent_safe prune --max-bytes 1000000000 | jq -e '.pruned == 0 and .left_bytes == 0'
	agent_safe prune --max-bytes $(($(jq .bytes <<<"$all") - 100000)) | jq -e '.pruned == 2 or .pruned == 1'
	refused job_not_found show "${ids[0]}"
	is "${ids[3]}" succeeded
	agent_safe prune --older-than 0 --max-bytes 0 --status failed | jq -e '.pruned == 0 and .left_bytes > 0'
	agent_safe prune --max-bytes 0 --older-than 3600 | jq -e '.pruned >= 2 and .left_bytes > 0'
	agent_safe list | jq -e --arg o "$open" 'length == 1 and .[0].id == $o'
	agent_safe watch --cursor 0 --once | jq -se '[.[] | select(.type == "job.pruned")] | length == 4'
	agent_safe audit-verify | jq -e .valid
	refused invalid_input prune
	refused invalid_input prune --max-bytes 1G
	refused invalid_input prune --max-bytes -1
	refused invalid_input prune --max-bytes 0 --status running
}

@test "prune of more than a hundred goes on until enough is free" {
	begin 0
	local i
	for i in $(seq 130); do agent_safe cancel "$(propose --key "k$i" -- true)" >/dev/null; done
	agent_safe prune --max-bytes 0 | jq -e '.pruned == 130 and .left_bytes == 0'
	agent_safe list | jq -e 'length == 0'
}

@test "a list has pages with a cursor, and filters" {
	begin 0
	local i
	for i in 1 2 3; do propose --label "n$i" -- true >/dev/null; done
	agent_safe list --newest --limit 2 | jq -e 'length == 2 and .[0].label == "n3"'
	agent_safe list --all --status queued --approval pending | jq -e 'length == 3'
	agent_safe list --label n2 | jq -e 'length == 1 and .[0].label == "n2"'
	agent_safe list --submitter "$WS_UID" | jq -e 'length == 3'
	agent_safe list --submitter 4294967000 | jq -e 'length == 0'
	agent_safe list --until 2020-01-01T00:00:00Z | jq -e 'length == 0'
	agent_safe list --since 2020-01-01T00:00:00Z | jq -e 'length == 3'
	refused invalid_input list --since yesterday
	refused invalid_input list --source nowhere
}

keeper_dies() {
	local keeper_pid
	keeper_of() { keeper_pid=$(running "$WS_BIN/agent-safe-keeper" | head -n 1) && [ -n "$keeper_pid" ]; }
	has_begun() { [ "$(cat "$WS/proj/starts" 2>/dev/null | wc -l)" = "$1" ]; }
	wait_until 10 has_begun "$1"
	wait_until 5 keeper_of
	kill -KILL "$keeper_pid"
}

@test "a run that got lost is never repeated, unless the approved job says that this is safe, and then within its attempts" {
	need_root
	begin 1
	local id
	id=$(approved --max-attempts 3 -- sh -c 'echo x >>starts; sleep 20')
	keeper_dies 1
	wait_until 5 is "$id" lost
	agent_safe show "$id" | jq -e --arg b "$(cat /proc/sys/kernel/random/boot_id)" \
	    '(.attempts_log | length) == 1 and .attempts_log[0].boot_id == $b and .retry == "never"'
	rm "$WS/proj/starts"
	id=$(approved --retry safe --max-attempts 2 -- sh -c 'echo x >>starts; sleep 20')
	keeper_dies 1
	keeper_dies 2
	wait_until 5 is "$id" lost
	[ "$(wc -l <"$WS/proj/starts")" = 2 ]
	agent_safe show "$id" | jq -e '[.attempts_log[].outcome] == ["lost", "lost"]'
	agent_safe audit-verify | jq -e .valid
}

@test "whether a repetition is safe is part of what is approved" {
	begin 0
	local one other
	one=$(propose --key a -- true)
	other=$(propose --key b --retry safe -- true)
	[ "$(field "$one" spec_digest)" != "$(field "$other" spec_digest)" ]
}
