#!/usr/bin/env bats
# "run_as": "owner": jobs under the ids of the workspace's owner, on filesystems that cannot be mounted with others.

load ../support/workspace
load ../support/jobs
load ../support/overlay

setup() {
	need_root
	workspace_make
}

teardown() {
	agent_safe serve --stop >/dev/null 2>&1 || true
	umount "$WS/proj/below" 2>/dev/null || true
	overlay_remove
	workspace_clean
}

# A policy with these members of the root beside its path and these of its own, and the trio started anew with it.
with_root() {
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": [{ "path": "proj"${1:+, $1} }], ${2:+$2,}
	  "rules": [ { "program": "sh" } ] }
	END
	agent_safe serve --stop >/dev/null 2>&1 || true
	rm -f "$WS_STATE/trio.log"
	workspace_start
}

# Nothing can run there, and the log says this.
left_out_with() {
	agent_safe assess "$(propose -- sh -c true)" | jq -e '.allowed == false'
	grep -F "proj is left out: $1" "$WS_STATE/trio.log"
}

# What a job of such a root is and makes.
owner_holds() {
	job -- sh -c 'id -u; id -g; id -un; id -G; echo made >made; stat -c %u:%g made; echo x >/tmp/x; stat -c %u /tmp/x
	    echo x >/dev/shm/x && echo shm; echo again >/dev/stdout; stat -c %u /proc/1'
	[ "$(job_text stdout | head -8)" = "$(printf '%s\n' "$WS_UID" "$WS_UID" job "$WS_UID" "$WS_UID:$WS_UID" "$WS_UID" \
	    shm again)" ]
	[ "$(job_text stdout | tail -1)" != "$WS_UID" ] # init has an uid of its own
	[ "$(stat -c %u:%g "$WS/proj/made")" = "$WS_UID:$WS_UID" ]
	rm "$WS/proj/made"
}

@test "owner: a job is the workspace's owner and makes the owner's files, on any filesystem" {
	with_root '"run_as": "owner"'
	owner_holds
	agent_safe serve --stop >/dev/null
	overlay_make
	with_root '"run_as": "owner"'
	owner_holds
}

@test "owner: what is mounted below is there, and a protected path is protected" {
	mkdir -p "$WS/proj/below" "$WS/proj/.vscode"
	mount -t tmpfs -o "mode=755,uid=$WS_UID,gid=$WS_UID" none "$WS/proj/below"
	echo told >"$WS/proj/below/file"
	chown "$WS_UID:$WS_UID" "$WS/proj/.vscode"
	with_root '"run_as": "owner"'
	job -- sh -c 'cat below/file; echo made >below/made; echo no >.vscode/settings.json; mkdir -p below/deep/.claude
	    echo no >below/deep/.claude/settings.json'
	[ "$(job_text stdout)" = told ]
	[ "$(stat -c %u "$WS/proj/below/made")" = "$WS_UID" ]
	[ ! -e "$WS/proj/.vscode/settings.json" ]
	[ ! -e "$WS/proj/below/deep/.claude" ] # put away
	jq -e '.error_class == "violated" or .result.outcome == "violated" or .status == "failed"' "$JOB"
}

@test "owner: a job outlives the daemons and is inspected by the next ones" {
	local id
	with_root '"run_as": "owner"'
	id=$(propose -- sh -c 'echo begun >begun; until [ -e go ]; do sleep 0.1; done; mkdir .claude; echo no >.claude/settings.json')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- 4>&- &
	wait_until 20 test -e "$WS/proj/begun"
	agent_safe serve --stop >/dev/null
	wait || true
	workspace_start
	as_uid "$WS_UID" touch "$WS/proj/go"
	agent_safe wait "$id" --timeout 30 >/dev/null || true
	agent_safe show "$id" | jq -e '.status == "failed" and .error_class == "violated"'
	[ ! -e "$WS/proj/.claude" ]
}

@test "owner: attempts, cage in words and summary of the policy say so; without it they do not" {
	local id
	with_root '"run_as": "owner"'
	job -- sh -c true
	jq -e --argjson uid "$WS_UID" '.attempts_log[0] | .uid == $uid and (.layers | (index("own_uid") or index("idmap") | not)
	    and index("no_groups") != null)' "$JOB"
	id=$(jq -er .id "$JOB")
	agent_safe assess "$id" | jq -er .cage | grep -F "runs as     the workspace's owner, uid $WS_UID and gid $WS_UID"
	find "$WS_STATE/runs" -type f -exec grep -lF "(run_as owner)" {} + | grep .
	agent_safe policy explain | jq -e '[.. | .run_as? // empty] == ["owner"]'
	with_root
	# How it was then: the policy of today does not tell under which uid.
	agent_safe show "$id" | jq -e '.attempts_log[0].uid == null'
	job -- sh -c true
	jq -e --argjson uid "$WS_UID" '.attempts_log[0] | .uid != $uid and (.layers | index("own_uid") and index("idmap"))' "$JOB"
	refute grep -F "runs as" <<<"$(agent_safe assess "$(jq -er .id "$JOB")" | jq -er .cage)"
}

@test "owner: the executor's namespace has the owner in its map, once, and otherwise only its own" {
	local pid
	workspace_policy <<-END
	{ "version": 2, "rules": [ { "program": "sh" } ], "queue": { "slots": 2 },
	  "allowed_working_roots": [{ "path": "proj", "run_as": "owner" }, { "path": "more", "run_as": "owner" }] }
	END
	mkdir "$WS/more"
	chown "$WS_UID:$OTHER_UID" "$WS/more"
	workspace_start
	pid=$(agent_safe status | jq -er .pids.executor)
	[ "$(awk '$1 == $2 && $1 >= 2013265920' "/proc/$pid/uid_map" | wc -l)" = 2 ]
	[ "$(awk '$1 < 2013265920 { print $1, $2, $3 }' "/proc/$pid/uid_map")" = "$WS_UID $WS_UID 1" ]
	[ "$(awk '$1 < 2013265920 { print $1, $2, $3 }' "/proc/$pid/gid_map")" = "$(printf '%s\n' "$WS_UID $WS_UID 1" \
	    "$OTHER_UID $OTHER_UID 1")" ]
}

@test "owner: nobody's job is root, a daemon, another job or everybody outside the namespace" {
	local ids
	with_root '"run_as": "owner"'
	for ids in "$WS_UID:0" "65534:$WS_UID" "$WS_UID:65534" "2013265923:$WS_UID" "$WS_UID:2013265920" \
	    "$(agent_safe status | jq -er '.pids.auditor' | xargs -I{} stat -c %u /proc/{}):$WS_UID"; do
		chown "$ids" "$WS/proj"
		with_root '"run_as": "owner"'
		WS_UID=${ids%:*} left_out_with 'with "run_as": "owner" its jobs would run as uid '
	done
	chown 0:0 "$WS/proj"
	with_root '"run_as": "owner"'
	grep -F "proj is left out: it belongs to root" "$WS_STATE/trio.log"
}

@test "owner: in every profile" {
	local profile
	for profile in strict agent compat debug; do
		with_root '"run_as": "owner"' "\"cage\": { \"profile\": \"$profile\" }"
		job -- sh -c 'id -u; echo made >made; strange=$(cat /proc/1/environ) || echo no'
		[ "$(job_text stdout)" = "$(printf '%s\nno' "$WS_UID")" ]
		[ "$(stat -c %u "$WS/proj/made")" = "$WS_UID" ]
		rm "$WS/proj/made"
	done
}

@test "owner: only root's policy can say it" {
	with_root '"run_as": "owner"'
	owner_holds
	agent_safe serve --stop >/dev/null
	chown "$WS_UID:$WS_UID" "$WS/agent-safe-policy.json"
	rm "$WS_STATE/trio.log"
	workspace_start
	left_out_with 'only a policy that belongs to root can say "run_as": "owner"'
}

@test "owner: what cannot be is refused where the policy is read" {
	with_policy() {
		workspace_policy <<<"{ \"version\": 2, \"allowed_working_roots\": [{ \"path\": \"proj\", $1 }], \"rules\": [] }"
		run agent_safe check-policy
	}
	with_policy '"run_as": "owner", "root_owned": true'
	[ "$status" != 0 ]
	[[ $output == *'run_as cannot be \"owner\" with root_owned'* ]]
	with_policy '"run_as": "somebody"'
	[ "$status" != 0 ]
	[[ $output == *'run_as must be \"slot\" or \"owner\"'* ]]
	with_policy '"run_as": "owner"'
	[ "$status" = 0 ]
	[[ $output == *"its jobs run as the directory's owner"* ]]
	refute grep -F 'no job runs' <<<"$output"
	chown "$WS_UID:0" "$WS/proj"
	with_policy '"run_as": "owner"'
	[[ $output == *"no job runs in root's group"* ]]
}

@test "owner: write paths and a minimum that wants its own uid are refused with the reason" {
	local id
	mkdir "$WS_TOP/out"
	chown "$WS_UID:$WS_UID" "$WS_TOP/out"
	with_root '"run_as": "owner"' "\"cage\": { \"write_paths\": [\"$WS_TOP/out\"] }"
	agent_safe assess "$(propose -- sh -c true)" | jq -e '.allowed == false and (.reason | test("write_paths cannot be had"))'
	with_root '"run_as": "owner"' '"cage": { "minimum": ["own_uid"] }'
	agent_safe assess "$(propose -- sh -c true)" | jq -e '.allowed == false and
	    (.reason | test("not in force here, missing: own_uid"))'
	with_root '' '"cage": { "minimum": ["own_uid"] }'
	agent_safe assess "$(propose -- sh -c true)" | jq -e '.allowed == true'
}

@test "owner: a window into the kernel below the root takes it out" {
	mkdir "$WS/proj/below"
	mount -t proc none "$WS/proj/below"
	with_root '"run_as": "owner"'
	left_out_with 'with "run_as": "owner" its jobs would see all of its filesystem, and of those that are mounted below: one is of type proc'
}

@test "an overlay without it is left out, and the remedy is named" {
	overlay_make
	with_root
	if agent_safe assess "$(propose -- sh -c true)" | jq -e '.allowed == true' >/dev/null; then
		skip "this kernel can mount an overlay with another owner"
	fi
	left_out_with 'its filesystem, or one that is mounted below, cannot be mounted with another owner'
	grep -F 'says "run_as": "owner" at it' "$WS_STATE/trio.log"
}

@test "owner: for an ordinary user it is what happens anyway" {
	WS_OPERATOR=$WS_UID
	WS_STATE=$WS_TOP/home-$WS_UID/state
	chown -R "$WS_UID:$WS_UID" "$WS_BIN" "$WS"
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
	with_root '"run_as": "owner"'
	job -- sh -c 'id -u'
	[ "$(job_text stdout)" = "$WS_UID" ]
	refute grep -F "runs as" <<<"$(agent_safe assess "$(jq -er .id "$JOB")" | jq -er .cage)"
}
