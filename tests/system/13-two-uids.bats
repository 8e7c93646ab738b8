#!/usr/bin/env bats
# Who proposes cannot decide, and sees only its own.  Proposer and stranger are ordinary uids, the operator is root.

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

# ask SOCKET UID METHOD PARAMS: one JSON-RPC request as that uid, the answer's line
ask() {
	as_uid "$2" python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}\n" % (sys.argv[2], sys.argv[3])).encode())
data = b""
while not data.endswith(b"\n"):
    piece = s.recv(65536)
    if not piece: break
    data += piece
print(data.decode(), end="")' "$1" "$3" "$4"
}

@test "the proposer reads its own job, its output too" {
	local id
	id=$(propose -- echo mine)
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >/dev/null
	agent_safe_as "$WS_UID" show "$id" | jq -e '.status == "succeeded" and .result.stdout == "mine\n"'
	agent_safe_as "$WS_UID" list | jq -e --arg id "$id" 'map(.id) | index($id) != null'
}

@test "every deciding command is not_permitted for the proposer" {
	local id command
	id=$(propose -- true)
	for command in "approve $id --by me" "deny $id --by me --reason no" "run $id --execute" "work --once --execute" \
	    "cancel $id" "retry $id" "policy reload" "audit-verify" "serve --stop"; do
		run agent_safe_as "$WS_UID" $command
		[ "$status" = 2 ] || { echo "$command: $status $output"; false; }
		[ "$(jq -r .error.code <<<"$output")" = not_permitted ] || { echo "$command: $output"; false; }
	done
	agent_safe show "$id" | jq -e '.approval_status == "pending" and .status == "queued"'
}

@test "propose.sock has no method that decides, whoever asks" {
	local id method params uid
	id=$(propose -- true)
	for uid in "$WS_UID" 0; do
		while read -r method params; do
			ask "$WS_STATE/propose.sock" "$uid" "$method" "${params//ID/$id}" >"$BATS_TEST_TMPDIR/answer"
			[ "$(jq -r .error.data.code "$BATS_TEST_TMPDIR/answer")" = not_permitted ] ||
			    { echo "$method as $uid: $(cat "$BATS_TEST_TMPDIR/answer")"; false; }
		done <<-'END'
		job.approve {"job_id":"ID","by":"me"}
		job.deny {"job_id":"ID","by":"me","reason":"no"}
		job.run {"job_id":"ID","execute":true}
		job.work {"execute":true}
		job.cancel {"job_id":"ID"}
		job.retry {"job_id":"ID"}
		policy.reload {}
		audit.segments {}
		server.stop {}
		END
	done
	agent_safe show "$id" | jq -e '.approval_status == "pending" and .status == "queued"'
}

@test "control.sock is closed to the proposer by its mode" {
	[ "$(stat -c '%u %a' "$WS_STATE/control.sock")" = '0 600' ] ||
	    [ "$(stat -c %a "$WS_STATE/control.sock")" = 600 ]
	run ask "$WS_STATE/control.sock" "$WS_UID" server.status '{}'
	[ "$status" != 0 ]
	[[ $output == *PermissionError* ]]
}

@test "a stranger does not see the proposer's job" {
	local id
	id=$(propose -- true)
	agent_safe_as "$OTHER_UID" list | jq -e 'length == 0'
	for command in show assess; do
		run agent_safe_as "$OTHER_UID" $command "$id"
		[ "$status" = 2 ]
		[ "$(jq -r .error.code <<<"$output")" = job_not_found ]
	done
}

@test "a stranger cannot propose in the proposer's directory" {
	run agent_safe_as "$OTHER_UID" submit --cwd "$WS/proj" -- true
	[ "$status" = 2 ]
	agent_safe list | jq -e --argjson uid "$OTHER_UID" 'map(select(.submitter.uid == $uid)) | length == 0'
}

@test "root sees all, and who proposed is what the kernel said" {
	local id
	id=$(propose -- true)
	agent_safe show "$id" | jq -e --argjson uid "$WS_UID" '.submitter.uid == $uid and .self_approved == false'
}

@test "state, log and key are closed to both" {
	local uid path
	for uid in "$WS_UID" "$OTHER_UID"; do
		for path in broker audit/log audit/key runs; do
			run as_uid "$uid" ls "$WS_STATE/$path"
			[ "$status" != 0 ] || { echo "$uid reads $path"; false; }
		done
	done
}

@test "who asks too fast is told so, and another user notices nothing" {
	need_root
	as_uid "$WS_UID" python3 - "$(agent_safe status | jq -r .propose_socket)" <<-'END'
	import json, socket, sys
	# Many connections at once: one alone is no faster than the disk, which may be slower than the pace.
	peers = [socket.socket(socket.AF_UNIX) for _ in range(40)]
	codes = set()
	for peer in peers:
	    peer.connect(sys.argv[1])
	    peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{}}\n' * 50)
	for peer in peers:
	    lines = peer.makefile("rb")
	    for _ in range(50):
	        codes.add(json.loads(lines.readline()).get("error", {}).get("data", {}).get("code"))
	assert codes == {"invalid_input", "rate_limited"}, codes
	END
	agent_safe_as "$OTHER_UID" list | jq -e '. == []'
}
