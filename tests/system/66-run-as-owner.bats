#!/usr/bin/env bats
# "run_as": "owner": jobs under the ids of the workspace's owner, on filesystems that cannot be mounted with others.

load ../support/workspace
load ../support/jobs
load ../support/hostile

setup() {
	need_root
	workspace_make
	MOUNTED=
}

teardown() {
	hostile_host_end
	workspace_clean_mounts
	workspace_clean
}

# Before the workspace is removed: what lies in an upper layer is ours, the rest nobody's.
workspace_clean_mounts() {
	agent_safe serve --stop >/dev/null 2>&1 || true
	umount "$WS/proj/below" 2>/dev/null || true
	umount "$WS/proj" 2>/dev/null || true
	umount "$WS_TOP/layers" 2>/dev/null || true
}

# An overlay over WS/proj with what is in it, both layers in a tmpfs.
overlay_make() {
	mkdir "$WS_TOP/layers"
	mount -t tmpfs none "$WS_TOP/layers"
	mkdir "$WS_TOP/layers/upper" "$WS_TOP/layers/work"
	chown "$WS_UID:$WS_UID" "$WS_TOP/layers/upper"
	mount -t overlay -o "lowerdir=$WS/proj,upperdir=$WS_TOP/layers/upper,workdir=$WS_TOP/layers/work" overlay "$WS/proj" ||
		skip "no overlay can be mounted here"
}

# A policy with these members of the root beside its path, and the trio started anew with it.
with_root() {
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": [{ "path": "proj"${1:+, $1} }], ${2:-}
	  "rules": [ { "program": "sh" }, { "program": "cat" }, { "program": "sleep" } ] }
	END
	agent_safe serve --stop >/dev/null 2>&1 || true
	workspace_start
}

left_out_with() {
	local id
	id=$(propose -- sh -c true)
	agent_safe assess "$id" | jq -e '.allowed == false'
	grep -F "$1" "$WS_STATE/trio.log"
}

# What a job of such a root is and makes.
owner_holds() {
	job -- sh -c 'id -u; id -g; id -un; id -G; echo made >made; stat -c %u:%g made; echo x >/tmp/x; stat -c %u /tmp/x
	    echo x >/dev/shm/x && echo shm; echo again >/dev/stdout; stat -c %u /proc/1'
	[ "$(job_text stdout | head -9)" = "$(printf '%s\n' "$WS_UID" "$WS_UID" job "$WS_UID" "$WS_UID:$WS_UID" "$WS_UID" shm again)" ] ||
		{ job_text stdout; return 1; }
	[ "$(job_text stdout | tail -1)" != "$WS_UID" ]
	[ "$(stat -c %u:%g "$WS/proj/made")" = "$WS_UID:$WS_UID" ]
	rm "$WS/proj/made"
}

@test "owner: a job is the workspace's owner and makes the owner's files, on any filesystem" {
	local kind
	for kind in plain overlay; do
		[ $kind = plain ] || overlay_make
		with_root '"run_as": "owner"'
		owner_holds
	done
}

@test "owner: the result, the cage in words and the list of attempts say so" {
	with_root '"run_as": "owner"'
	job -- sh -c true
	agent_safe show "$JOB_ID" >"$BATS_TEST_TMPDIR/shown"
	jq -e --argjson uid "$WS_UID" '.attempts_log[0] | .uid == $uid and (.layers | index("own_uid") == null and
	    index("idmap") == null and index("no_groups") != null)' "$BATS_TEST_TMPDIR/shown"
	agent_safe assess "$JOB_ID" | jq -er .cage | grep -F "runs as     the workspace's owner, uid $WS_UID and gid $WS_UID"
	find "$WS_STATE/runs" -name cage -exec grep -F "run_as owner" {} +
	agent_safe status | jq -e '.policy.allowed_working_roots[0].run_as == "owner"' ||
		agent_safe policy show | jq -e '.. | .run_as? // empty | . == "owner"'
}
