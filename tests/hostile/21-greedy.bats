#!/usr/bin/env bats
# A taken broker whose plans ask for more than launch has read out of the policy (taken/greedy.c).  A person has even
# approved them; the executor refuses, nothing runs, and that is on record.  The control is the same broker under a
# policy that allows what the lie asks for.

load ../support/workspace
load ../support/jobs

setup() {
	need_root
	workspace_make
	cp "$BUILD_DIR/taken/greedy" "$WS_BIN/agent-safe-broker"
	mkdir "$WS_TOP/beside" "$WS_TOP/further"
	echo secret | tee "$WS_TOP/beside/word" >"$WS_TOP/further/word"
	chown -R "$WS_UID:$WS_UID" "$WS_TOP/beside" "$WS_TOP/further"
}

teardown() { workspace_clean; }

# policy_of CAGE: sh with this section cage.
policy_of() {
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "sh", "cage": { $1 } } ] }
	END
	workspace_start
}

# lie WHAT [PATH]: a job with this lie; it leaves the file `ran` in the workspace.
lie() {
	rm -f "$WS/proj/ran"
	job -- sh -c 'touch ran; cat "$1/word" 2>/dev/null; touch "$1/made" 2>/dev/null; true' "$@"
}

declare -gA NUMBERS=([EPERM]=1 [EXDEV]=18 [ERANGE]=34 [EOPNOTSUPP]=95 [ENETUNREACH]=101)

# refused STAGE ERROR LIE...: the plan was refused for this, nothing ran, and the log says so.
refused() {
	local stage=$1 error=$2 id
	shift 2
	lie "$@"
	job_is ".status == \"failed\" and .error_class == \"spawn_error\" and .attempts_log[-1].outcome == \"refused\""
	job_is ".attempts_log[-1].stage == \"$stage\" and .result.errno == ${NUMBERS[$error]}"
	[ ! -e "$WS/proj/ran" ]
	[ ! -e "$WS_TOP/beside/made" ] && [ ! -e "$WS_TOP/further/made" ]
	id=$(jq -r .id "$JOB")
	grep -h "\"exec.refused\".*$id" "$WS_STATE"/audit/log/seg-* | jq -e ".d.stage == \"$stage\"" >/dev/null
	refute grep -q "\"exec.start\".*$id" "$WS_STATE"/audit/log/seg-*
}

allowed() {
	lie "$@"
	job_is '.status == "succeeded"'
	[ -e "$WS/proj/ran" ]
}

@test "a greedy broker gets no path, no port, no loopback, no weaker profile, no larger limit, no smaller minimum out of the executor" {
	policy_of '"profile": "default", "minimum": ["landlock"]'
	allowed nothing
	refused plan EXDEV read "$WS_TOP/further"
	refused plan EXDEV write "$WS_TOP/further"
	refused plan EXDEV read "$WS_STATE/audit"
	refused plan ENETUNREACH port
	refused plan ENETUNREACH loopback
	refused plan EOPNOTSUPP profile
	refused plan ERANGE files
	refused plan EPERM careless
	allowed nothing
	agent_safe audit-verify | jq -e .valid
}

@test "a greedy broker under a policy that gives some: that it gets, and nothing beside it" {
	policy_of "\"profile\": \"default\", \"read_paths\": [\"$WS_TOP/beside\"]"
	allowed read "$WS_TOP/beside"
	[ "$(job_text stdout)" = secret ]
	refused plan EXDEV write "$WS_TOP/beside"
	refused plan EXDEV read "$WS_TOP/further"
	refused plan EXDEV read "$WS_TOP"
	refused plan EXDEV read "$WS_TOP/beside/word"
}

@test "the same lies hold where the policy allows them: they are what is refused above" {
	policy_of "\"profile\": \"debug\", \"write_paths\": [\"$WS_TOP/further\"], \"network\": { \"tcp_ports\": [443] }"
	agent_safe doctor | command jq -e '.checks[] | select(.name == "network_tcp_ports") | .state == "ok"' >/dev/null ||
	    skip "this kernel's Landlock cannot limit a job in the host's network: ABI 6 is needed"
	allowed write "$WS_TOP/further"
	[ -e "$WS_TOP/further/made" ]
	allowed profile
	allowed careless
	allowed loopback
	allowed port
	rm -f "$WS_TOP/further/made"
	refused minimum EOPNOTSUPP minimum
}
