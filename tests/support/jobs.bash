# Jobs whose end a test looks at.  After workspace.bash, with a running workspace.
#
#   script NAME              standard input becomes an executable of that name in WS/proj (the workspace's owner's)
#   propose_in [OPTION...] -- CMD...   as propose, in JOB_CWD (WS/proj)
#   job [OPTION...] -- CMD...   propose_in, approve, run; the job is in $JOB whatever became of it
#   job_is JQ-EXPRESSION     fails, and shows the job without its output, when it does not hold
#   job_text STREAM          stdout or stderr of the last job, exactly

script() {
	cat >"$WS/proj/$1"
	chmod 755 "$WS/proj/$1"
	! is_root || chown "$WS_UID:$WS_UID" "$WS/proj/$1"
}

propose_in() {
	agent_safe_as "$WS_UID" submit --new --cwd "${JOB_CWD:-$WS/proj}" "$@" | jq -er .id
}

job() {
	local id
	JOB=$BATS_TEST_TMPDIR/job.json
	id=$(propose_in "$@") || return
	agent_safe approve "$id" --by tester >/dev/null || return
	agent_safe run "$id" --execute >"$JOB" || [ $? = 1 ]
}

job_is() {
	jq -e "$1" "$JOB" >/dev/null || {
		command jq -c '.result.stdout |= .[-500:]? | .result.stderr |= .[-2000:]? |
		    {status, error_class, result, last: .attempts_log[-1]}' "$JOB"
		return 1
	}
}

job_text() { command jq -j ".result.$1" "$JOB"; }

# With FULL=1 the first number, else the second.
full() { if [ -n "${FULL:-}" ]; then echo "$1"; else echo "$2"; fi; }
