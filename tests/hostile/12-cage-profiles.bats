#!/usr/bin/env bats
# The same attempts in the cages of the other profiles and networks: what works there is what the profile says, and
# nothing else.  (How each is refused is 10-cage's matter, in the profile default; a profile may answer ENOSYS where
# another answers EPERM.)

load ../support/workspace
load ../support/hostile

setup() {
	need_root
	hostile_make
}

teardown() {
	hostile_host_end
	workspace_clean
}

# works_in PROFILE NETWORK: the names of the attempts that worked, one per line
works_in() {
	workspace_stop
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "$WS/proj/probe", "cage": { "profile": "$1", "network": "$2" } } ],
	  "limits": { "timeout_seconds": 120, "grace_seconds": 1, "processes": 200, "open_files": 1024,
	      "tmp_bytes": 67108864 } }
	END
	workspace_start
	hostile_host
	hostile_run --timeout 100 -- run "${LISTENERS[@]}" --path "$WS/agent-safe-policy.json"
	hostile_host_end
	jq -r .result.stdout "$JOB" >"$BATS_TEST_TMPDIR/attempts"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/attempts")" -gt 100 ]
	sed -n 's/^[0-9]* \(.*\): WORKED UNEXPECTED$/\1/p' "$BATS_TEST_TMPDIR/attempts"
}

@test "strict, agent and compat without network: nothing works that does not in default" {
	[ -z "$(works_in strict none)" ]
	[ -z "$(works_in agent none)" ]
	[ -z "$(works_in compat none)" ]
}

# Its own: nothing of it leaves the job's network namespace, and the host's listeners are not in it.
@test "a loopback is up, and takes what is sent to it; the host's is not reached" {
	[ "$(works_in default loopback | sort)" = 'find a network that is up
send a datagram to another network
send a datagram to loopback' ]
	grep -q "^50 connect to the host's loopback: ECONNREFUSED" "$BATS_TEST_TMPDIR/attempts"
	[ "$(works_in agent loopback | wc -l)" = 3 ]
}

@test "debug: a process may be traced by its parent and have another personality, and nothing else" {
	[ "$(works_in debug none | sort)" = 'ask to be traced
personality READ_IMPLIES_EXEC' ]
}
