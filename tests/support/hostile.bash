# A workspace with the probe in it, and jobs that run it.  After workspace.bash.
#
#   hostile_make                    workspace_make, and WS/proj/probe with a policy that lets it run
#   hostile_run [OPTION...] -- ARG...   propose, approve and run `./probe ARG...`; the job is in $JOB,
#                                       whatever became of it; fails only when it could not be run at all
#   hostile_debug                   its policy with profile debug for everything
#   hostile_try                     all attempts as one job, after hostile_host; what came of each is in $ATTEMPTS
#   hostile_attempts                all of them as one job, after hostile_host; fails, and shows which, when one was
#                                   not refused as it should be
#   hostile_host                    listeners on this host; their options for `probe run` in $LISTENERS
#   hostile_listen                  only a listener on the host's loopback; its port in $TCP
#   hostile_host_end
#   processes_with MARK             pids of processes that have MARK among their arguments

hostile_make() {
	workspace_make
	# Not into the build folder: that may be closed to other uids.  Static: it needs nothing of the cage.
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -static -o "$WS/proj/probe" "$ROOT"/tests/hostile/*.c
	# A protected file and folder, as they are in many workspaces.
	mkdir "$WS/proj/.vscode"
	echo '{}' >"$WS/proj/.mcp.json"
	! is_root || chown "$WS_UID:$WS_UID" "$WS/proj/probe" "$WS/proj/.vscode" "$WS/proj/.mcp.json"
	# A program to which root has given a capability (CAP_NET_RAW).
	! is_root || {
		cp "$WS/proj/probe" "$WS/proj/capable"
		chown "$WS_UID:$WS_UID" "$WS/proj/capable"
		/usr/bin/python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))' "$WS/proj/capable"
	}
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "$WS/proj/probe" } ],
	  "limits": { "timeout_seconds": 120, "grace_seconds": 1, "processes": 200, "open_files": 1024,
	      "tmp_bytes": 67108864 }
	}
	END
}

hostile_run() {
	local options=() id
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	JOB=$BATS_TEST_TMPDIR/job.json
	id=$(propose "${options[@]}" -- "$WS/proj/probe" "$@")
	agent_safe approve "$id" --by tester >/dev/null
	# 1 is a job that did not succeed: that is for the test to judge.
	agent_safe run "$id" --execute >"$JOB" || [ $? = 1 ]
}

hostile_debug() {
	local policy
	policy=$(jq '.cage = {"profile": "debug"}' "$WS/agent-safe-policy.json")
	workspace_policy <<<"$policy"
}

hostile_try() {
	local status
	ATTEMPTS=$BATS_TEST_TMPDIR/attempts
	status=$(agent_safe status)
	hostile_run --timeout 100 -- run "${LISTENERS[@]}" --path "$(jq -er .state_dir <<<"$status")" \
	    --path "$(jq -er .audit_dir <<<"$status")/log" --path "$(jq -er .runs_dir <<<"$status")" \
	    --path "$(jq -er .propose_socket <<<"$status")" --path "$(jq -er .control_socket <<<"$status")" \
	    --path "$WS/agent-safe-policy.json" --path /var/lib/agent-safe --path /run/agent-safe
	jq -r .result.stdout "$JOB" >"$ATTEMPTS"
	[ "$(wc -l <"$ATTEMPTS")" -gt 100 ]
}

hostile_attempts() {
	hostile_try
	refute grep UNEXPECTED "$ATTEMPTS"
}

hostile_host() {
	rm -f "$BATS_TEST_TMPDIR/listeners"
	"$WS/proj/probe" listen >"$BATS_TEST_TMPDIR/listeners" 3>&- 4>&- &
	HOST_PID=$!
	wait_until 5 test -s "$BATS_TEST_TMPDIR/listeners"
	read -ra LISTENERS <"$BATS_TEST_TMPDIR/listeners"
}

hostile_listen() {
	rm -f "$BATS_TEST_TMPDIR/port"
	/usr/bin/python3 -c '
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(600)' >"$BATS_TEST_TMPDIR/port" 3>&- 4>&- &
	HOST_PID=$!
	wait_until 5 test -s "$BATS_TEST_TMPDIR/port"
	TCP=$(cat "$BATS_TEST_TMPDIR/port")
}

hostile_host_end() {
	[ -n "${HOST_PID:-}" ] || return 0
	kill "$HOST_PID" 2>/dev/null || true
	wait "$HOST_PID" 2>/dev/null || true
	HOST_PID=
}

processes_with() {
	local file
	for file in /proc/[0-9]*/cmdline; do
		if tr '\0' '\n' <"$file" 2>/dev/null | grep -qxF -- "$1"; then
			basename "$(dirname "$file")"
		fi
	done
}
