#!/usr/bin/env bats
# Profiles, places beside the root, minimum and limits: from the policy's file to the job and its record.

load ../support/workspace
load ../support/jobs

setup() {
	need_root
	workspace_make
	mkdir -p "$WS_TOP/beside/data" "$WS_TOP/beside/out" "$WS_TOP/beside/closed/in" "$WS/proj/kept"
	echo told >"$WS_TOP/beside/data/file"
	echo hidden >"$WS_TOP/beside/closed/in/file"
	ln -s "$WS_TOP/beside/data" "$WS_TOP/beside/link"
	mkfifo "$WS_TOP/beside/pipe"
	echo kept >"$WS/proj/kept/file"
	chmod 700 "$WS_TOP/beside/closed"
	chown -R "$WS_UID:$WS_UID" "$WS_TOP/beside/out" "$WS/proj"
}

teardown() {
	umount "$WS/proj/more" "$WS/proj/below" 2>/dev/null || true
	workspace_clean
}

# As root with an ordinary uid's policy; after this everything is under that uid.
as_user() {
	chown -R "$TEST_UID:$TEST_UID" "$WS_BIN" "$WS_TOP/beside/data" "$WS"
	WS_OPERATOR=$WS_UID
	WS_STATE=$WS_TOP/home-$TEST_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
}

# "cage" and the rules of a policy, and the trio started anew with it.
with_cage() {
	local rules=${2:-'{ "program": "sh" }'}
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "cage": { $1 }, "rules": [ $rules ] }
	END
	chown "${POLICY_UID:-$WS_UID}:${POLICY_UID:-$WS_UID}" "$WS/agent-safe-policy.json"
	agent_safe serve --stop >/dev/null 2>&1 || true
	workspace_start
}

@test "read and write paths are at their own path, the one read-only, the other the owner's" {
	local way
	for way in root user; do
		[ $way = root ] || as_user
		with_cage "\"read_paths\": [\"$WS_TOP/beside/data\", \"$WS/proj/kept\"], \"write_paths\": [\"$WS_TOP/beside/out\"]"
		job -- sh -c 'cat $0/data/file kept/file; echo x >>$0/data/file; echo x >>kept/file; mv kept gone
		    rm -rf kept; echo made >$0/out/f; ls $0' "$WS_TOP/beside"
		[ "$(job_text stdout)" = "$(printf 'told\nkept\ndata\nout')" ]
		[ "$(cat "$WS_TOP/beside/out/f")" = made ]
		[ "$(stat -c %u "$WS_TOP/beside/out/f")" = "$WS_UID" ]
		[ "$(cat "$WS_TOP/beside/data/file" "$WS/proj/kept/file")" = "$(printf 'told\nkept')" ]
		rm "$WS_TOP/beside/out/f"
	done
}

@test "no job works in a place beside the root" {
	with_cage "\"read_paths\": [\"$WS_TOP/beside/data\"], \"write_paths\": [\"$WS_TOP/beside/out\"]"
	local id
	id=$(agent_safe_as "$WS_UID" submit --new --cwd "$WS_TOP/beside/out" -- sh -c true | jq -er .id)
	agent_safe assess "$id" | jq -e '.allowed == false and (.reason | test("outside every root"))'
}

@test "what cannot be shown is left out with the reason, and a rule that wants it is not allowed until it can" {
	local name
	for name in link pipe absent closed/in; do
		with_cage "\"read_paths\": [\"$WS_TOP/beside/$name\"]"
		grep -q "$WS_TOP/beside/$name is left out" "$WS_STATE/trio.log"
		agent_safe_as "$WS_UID" policy explain --cwd "$WS/proj" -- sh -c true |
		    jq -e '.allowed == false and (.reason | test("read_paths.* could not be opened at the start"))'
	done
	chmod 711 "$WS_TOP/beside/closed"
	agent_safe serve --stop >/dev/null
	workspace_start
	job -- sh -c 'cat $0' "$WS_TOP/beside/closed/in/file"
	[ "$(job_text stdout)" = hidden ]
}

@test "the state and the sockets are in no place of a policy" {
	run with_cage "\"read_paths\": [\"$WS_TOP\"]"
	[ "$status" != 0 ]
	[[ $output == *"lies inside the policy's path $WS_TOP"* ]]
}

@test "a path of root to write to must be said to be that, by root" {
	chown root:root "$WS_TOP/beside/out"
	POLICY_UID=0 with_cage "\"write_paths\": [\"$WS_TOP/beside/out\"]"
	grep -q "$WS_TOP/beside/out is left out: it belongs to root" "$WS_STATE/trio.log"
	with_cage "\"write_paths\": [{\"path\": \"$WS_TOP/beside/out\", \"root_owned\": true}]"
	grep -q "$WS_TOP/beside/out is left out: the policy belongs to uid $WS_UID" "$WS_STATE/trio.log"
	POLICY_UID=0 with_cage "\"write_paths\": [{\"path\": \"$WS_TOP/beside/out\", \"root_owned\": true}]"
	job -- sh -c 'echo made >$0/f' "$WS_TOP/beside/out"
	[ "$(stat -c %u "$WS_TOP/beside/out/f")" = 0 ]
}

@test "a profile for each rule, and its limits" {
	with_cage '"profile": "strict"' '{ "program": "cat" }, { "program": "sh", "cage": { "profile": "agent" },
	    "limits": { "open_files": 300 } }'
	job -- cat /proc/meminfo
	job_is '.status == "failed" and .attempts_log[-1].exit_code == 1'
	grep -q '"exec.intent".*"profile":"strict"' "$WS_STATE"/audit/log/seg-*
	job -- sh -c 'ulimit -n; grep -c MemTotal /proc/meminfo'
	[ "$(job_text stdout)" = "$(printf '300\n1')" ]
	grep -q '"exec.intent".*"profile":"agent"' "$WS_STATE"/audit/log/seg-*
}

@test "a minimum that does not hold costs no approval, and names the layer" {
	as_user
	with_cage '"minimum": ["landlock", "own_uid"]'
	local id
	id=$(propose -- sh -c true)
	agent_safe assess "$id" | jq -e '.allowed == false and (.reason | test("not in force here, missing: own_uid"))'
	run agent_safe approve "$id" --by tester
	[ "$status" != 0 ]
	agent_safe show "$id" | jq -e '.status == "queued" or .status == "pending" or .approval_status == "pending"'
}

@test "a path that went away refuses the run and keeps the approval" {
	with_cage "\"read_paths\": [\"$WS_TOP/beside/data\"]"
	local id
	id=$(propose -- sh -c "cat $WS_TOP/beside/data/file")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe serve --stop >/dev/null
	mv "$WS_TOP/beside/data" "$WS_TOP/beside/away"
	workspace_start
	run agent_safe run "$id" --execute
	[ "$status" != 0 ]
	jq -e '.error.code == "cage_unavailable"' <<<"$output"
	agent_safe show "$id" | jq -e '.approval_status == "approved"'
	agent_safe serve --stop >/dev/null
	mv "$WS_TOP/beside/away" "$WS_TOP/beside/data"
	workspace_start
	agent_safe run "$id" --execute | jq -e '.result.stdout == "told\n"'
}

@test "a reload that names another path takes effect, and stales what was approved before" {
	with_cage ''
	local id policy
	id=$(propose -- sh -c true)
	agent_safe approve "$id" --by tester >/dev/null
	policy=$(jq --arg path "$WS_TOP/beside/data" '.cage = {"read_paths": [$path]}' "$WS/agent-safe-policy.json")
	workspace_policy <<<"$policy"
	agent_safe policy reload >/dev/null
	job -- sh -c "cat $WS_TOP/beside/data/file"
	[ "$(job_text stdout)" = told ]
	run agent_safe run "$id" --execute
	jq -e '.error.code == "approval_stale" and (.error.changes | index("cage: paths beside the workspace"))' <<<"$output"
}

@test "a reload that gives a network, or takes a minimum away, takes effect" {
	with_cage '"minimum": ["landlock"]'
	workspace_policy <<<"$(jq '.cage = {"minimum": ["landlock"], "network": "loopback"}' "$WS/agent-safe-policy.json")"
	agent_safe policy reload >/dev/null
	job -- sh -c 'echo one'
	job_is '.status == "succeeded"'
	workspace_policy <<<"$(jq '.cage = {}' "$WS/agent-safe-policy.json")"
	agent_safe policy reload >/dev/null
	job -- sh -c 'echo two'
	job_is '.status == "succeeded"'
}

@test "a job that says nothing for too long has timed out, and says idle" {
	with_cage '' '{ "program": "sh", "limits": { "idle_seconds": 1, "cpu_percent": 100 } }'
	job -- sh -c 'echo begun; sleep 30'
	job_is '.status == "failed" and .attempts_log[-1].outcome == "timed_out"'
	job_is '.attempts_log[-1].reason | startswith("idle")'
}

@test "a limit that ended a job is named" {
	with_cage '' '{ "program": "sh", "limits": { "file_bytes": 4096, "cpu_seconds": 1, "output_bytes": 4096 } }'
	job -- sh -c 'exec head -c 9999 /dev/zero >f'
	job_is '.attempts_log[-1] | .outcome == "limit" and (.reason | test("file"))'
	job -- sh -c 'while :; do :; done'
	job_is '.attempts_log[-1] | .outcome == "limit" and (.reason | test("CPU"))'
	job -- sh -c 'exec head -c 99999 /dev/zero'
	job_is '.attempts_log[-1] | .outcome == "limit" and (.reason | test("output"))'
}

@test "what explain says of a cage is what is stored with its run" {
	with_cage "\"profile\": \"strict\", \"read_paths\": [\"$WS_TOP/beside/data\"], \"minimum\": [\"landlock\"]"
	local explained
	explained=$(agent_safe_as "$WS_UID" policy explain --cwd "$WS/proj" -- sh -c true | jq -er .cage)
	job -- sh -c true
	[ "$(agent_safe show "$(command jq -r .id "$JOB")" | jq -r .cage)" = "$explained" ]
	grep -x 'profile     strict' <<<"$explained"
	grep -x "beside it   $WS_TOP/beside/data, read-only" <<<"$explained"
	grep -x '/proc       its own processes and nothing else' <<<"$explained"
	grep -x 'minimum     landlock' <<<"$explained"
	grep ' open_files=256 ' <<<"$explained"
}

@test "check-policy says what is not there, what leads through a link, and what shows keys" {
	mkdir "$WS_TOP/beside/data/.ssh"
	with_cage "\"read_paths\": [\"$WS_TOP/beside/absent\", \"$WS_TOP/beside/link\", \"$WS_TOP/beside/data\"]"
	run agent_safe check-policy
	for text in 'beside/absent: No such file' 'beside/link: it leads through a symbolic link' 'beside/data holds [.]ssh'; do
		jq -e --arg text "$text" '.warnings | any(test($text))' <<<"$output"
	done
}

@test "a job that says no timeout has what the policy lets it have, an hour's policy the usual minute" {
	workspace_make
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ], "limits": { "timeout_seconds": 7 } }
	END
	workspace_start
	[ "$(agent_safe_as "$WS_UID" submit --cwd "$WS/proj" -- true | jq .timeout)" = 7 ]
	run_job true >/dev/null
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ] }
	END
	agent_safe policy reload >/dev/null
	[ "$(agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- true | jq .timeout)" = 60 ]
}

@test "check-policy says that a trio would not start for a path that holds its state, and what 0 is for" {
	workspace_make
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ],
	  "cage": { "read_paths": ["$WS_TOP"] } }
	END
	agent_safe check-policy | jq -e '.warnings | any(test("state folder lies inside a path of read_paths"))'
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ],
	  "limits": { "memory_bytes": 1 } }
	END
	refute agent_safe check-policy 2>"$BATS_TEST_TMPDIR/said"
	grep -q 'limits.memory_bytes, unless it is 0, must be an integer from 16777216 to ' "$BATS_TEST_TMPDIR/said"
}

@test "a program that is not available is refused with where it was looked for, and its interpreter is asked for too" {
	local reason
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "no-such-program" }, { "program": "$WS/proj/script" } ] }
	END
	printf '#!/bin/sh\r\necho\n' >"$WS/proj/script"
	chmod 755 "$WS/proj/script"
	workspace_start
	reason=$(agent_safe assess "$(propose -- no-such-program)" | jq -er .reason)
	[[ $reason = *'(searched: /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)'* ]]
	reason=$(agent_safe assess "$(propose -- "$WS/proj/script")" | jq -er .reason)
	[[ $reason = *'the interpreter that its first line names'* && $reason != *searched* ]]
}

@test "what belongs to others in a workspace is to a job what it is to its owner, as root and as that user" {
	local way
	mkdir "$WS/proj/ours" "$WS/proj/theirs" "$WS/proj/open"
	for way in root user; do
		rm -rf "$WS/proj"/* && mkdir "$WS/proj/ours" "$WS/proj/theirs" "$WS/proj/open"
		echo old | tee "$WS/proj/gift" "$WS/proj/grouped" "$WS/proj/roots" >"$WS/proj/theirs/file"
		[ $way = root ] || as_user
		chown -R "$WS_UID:$WS_UID" "$WS/proj"
		chgrp $OTHER_UID "$WS/proj/ours" "$WS/proj/grouped"
		chmod 2775 "$WS/proj/ours"
		chown -R $OTHER_UID "$WS/proj/theirs" "$WS/proj/gift" "$WS/proj/open"
		chown 0:0 "$WS/proj/roots"
		chmod 777 "$WS/proj/open"
		with_cage '"profile": "default"'
		job -- sh -c 'echo new >ours/made; mkdir ours/dir; echo more >>grouped; rm -f gift; mv roots renamed; echo new >open/made
		    echo no >>renamed; echo no >>theirs/file; echo no >theirs/made; rm -f theirs/file; chmod 666 renamed; chown 0 grouped'
		[ "$(stat -c %u:%g "$WS/proj/ours/made")" = "$WS_UID:$OTHER_UID" ]
		[ "$(stat -c %u:%g "$WS/proj/ours/dir")" = "$WS_UID:$OTHER_UID" ]
		[ "$(stat -c %u "$WS/proj/open/made")" = "$WS_UID" ]
		[ "$(cat "$WS/proj/grouped")" = "$(printf 'old\nmore')" ] && [ "$(stat -c %u:%g "$WS/proj/grouped")" = "$WS_UID:$OTHER_UID" ]
		[ "$(cat "$WS/proj/renamed")" = old ] && [ "$(stat -c %u:%a "$WS/proj/renamed")" = 0:644 ]
		[ "$(cat "$WS/proj/theirs/file")" = old ] && [ ! -e "$WS/proj/theirs/made" ] && [ ! -e "$WS/proj/gift" ]
	done
}

@test "what is mounted below a workspace is protected as the workspace is: a repository there, and what it names" {
	local way
	mkdir "$WS/proj/below"
	for way in root user; do
		[ $way = root ] || as_user
		mount -t tmpfs -o mode=755,uid="$WS_UID",gid="$WS_UID" none "$WS/proj/below"
		as_uid "$WS_UID" git init -q "$WS/proj/below/repo"
		as_uid "$WS_UID" git -C "$WS/proj/below/repo" config core.hooksPath "$WS/proj/below/repo/named"
		as_uid "$WS_UID" mkdir "$WS/proj/below/repo/named"
		with_cage '"profile": "default"'
		job -- sh -c 'cd below/repo; echo no >.git/hooks/post-commit; echo no >named/pre-commit; echo yes >file
		    git config core.fsmonitor no; true'
		[ "$(cat "$WS/proj/below/repo/file")" = yes ]
		[ ! -e "$WS/proj/below/repo/.git/hooks/post-commit" ] && [ ! -e "$WS/proj/below/repo/named/pre-commit" ]
		refute grep -q fsmonitor "$WS/proj/below/repo/.git/config"
		agent_safe serve --stop >/dev/null
		umount "$WS/proj/below"
	done
}

@test "what is mounted below a workspace is there, and the owner's; one that cannot be takes the workspace out" {
	mkdir "$WS/proj/below" "$WS/proj/more"
	chown "$WS_UID" "$WS/proj/more"
	mount -t tmpfs -o mode=755,uid="$WS_UID",gid="$WS_UID" none "$WS/proj/below"
	echo told >"$WS/proj/below/file"
	with_cage '"profile": "default"'
	job -- sh -c 'cat below/file; echo made >below/made; echo made >more/made'
	[ "$(job_text stdout)" = told ]
	[ "$(stat -c %u "$WS/proj/below/made")" = "$WS_UID" ]
	mount -t proc none "$WS/proj/more"
	with_cage '"profile": "default"'
	run agent_safe assess "$(agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- sh -c true | jq -er .id)"
	umount "$WS/proj/more" "$WS/proj/below"
	jq -e '.allowed == false and (.reason | test("could not be used at the start"))' <<<"$output"
	grep -q "proj is left out: its filesystem, or one that is mounted below" "$WS_STATE/trio.log"
	[ "$(cat "$WS/proj/more/made")" = made ]
	[ -z "$(ls "$WS/proj/below")" ]
}
