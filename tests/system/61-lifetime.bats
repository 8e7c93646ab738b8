#!/usr/bin/env bats
# How jobs end, and that nothing of them outlives it.

load ../support/workspace
load ../support/procs
load ../support/hostile
load ../support/jobs

setup_file() {
	workspace_make
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh" }, { "program": "bash" }, { "program": "python3" }, { "program": "true" } ],
	  "limits": { "timeout_seconds": 60, "grace_seconds": 1, "keep_bytes": 4194304 }
	}
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() {
	need_root
	MARK="mark-$RANDOM-$RANDOM-$RANDOM"
}

nothing_is_left() { [ -z "$(processes_with "$MARK")" ]; }

# A process whose arguments name the test: `sh -c 'sleep 600' MARK`.
holder() { printf "sh -c 'sleep 600; :' %s" "$MARK"; }

duration_under() { job_is ".attempts_log[-1].duration_ms < $1"; }

@test "a background child that holds one, both or no output does not hold the end, and is gone" {
	local form
	for form in '&' '>/dev/null &' '2>/dev/null &' '>/dev/null 2>&1 </dev/null &'; do
		job -- sh -c "$(holder) $form echo done"
		job_is '.status == "succeeded" and .result.stdout == "done\n"'
		job_is '.attempts_log[-1].reason == "processes outlived the main one and were ended"'
		duration_under 5000
		nothing_is_left
	done
	for form in setsid nohup; do
		job -- sh -c "$form $(holder) & sleep 0.1; echo done"
		job_is '.status == "succeeded" and (.result.stdout | endswith("done\n"))'
		duration_under 5000
		nothing_is_left
	done
}

@test "at the timeout a whole pipeline ends, not only its shell" {
	job --timeout 2 -- sh -c "cd /tmp; mkfifo p; ($(holder) & while :; do echo c; sleep 0.2; done) >p & cat p"
	job_is '.status == "failed" and .error_class == "timeout" and (.result.stdout | startswith("c\nc\n"))'
	duration_under 6000
	nothing_is_left
}

@test "deaf to TERM, INT and HUP: TERM, the grace, then KILL, and the result says so" {
	job --timeout 1 -- sh -c "$(holder) & trap '' TERM INT HUP; while :; do sleep 1; done"
	job_is '.error_class == "timeout" and .attempts_log[-1].signal == 9 and
	    .attempts_log[-1].reason == "it did not end on TERM"'
	job_is '.attempts_log[-1].duration_ms >= 1900'
	duration_under 6000
	nothing_is_left
}

@test "a job that blocks every signal, and one that is stopped, end at timeout and grace" {
	job --timeout 1 -- python3 -c '
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True: time.sleep(60)'
	job_is '.error_class == "timeout" and .attempts_log[-1].signal == 9'
	duration_under 6000
	job --timeout 1 -- sh -c 'kill -STOP $$'
	job_is '.error_class == "timeout" and .attempts_log[-1].signal == 9'
	duration_under 6000
}

@test "TERM reaches the whole group: a shell that waits for its child can clean up, and it is still a timeout" {
	job --timeout 1 -- sh -c 'trap "echo bye >bye; exit 0" TERM; sleep 100; echo after-sleep >never'
	job_is '.error_class == "timeout" and .status == "failed" and .attempts_log[-1].reason == null'
	[ "$(cat "$WS/proj/bye")" = bye ]
	[ ! -e "$WS/proj/never" ]
	duration_under 3000
}

@test "a cancel ends the tree the same way, and is told as a cancel" {
	local id
	id=$(propose -- sh -c "$(holder) & trap 'echo bye >cancelled; exit 0' TERM; : >begun; sleep 100")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job.json" 3>&- 4>&- &
	wait_until 10 test -e "$WS/proj/begun"
	agent_safe cancel "$id" >/dev/null
	wait $! || [ $? = 1 ]
	JOB=$BATS_TEST_TMPDIR/job.json
	job_is '.status == "cancelled"'
	[ "$(cat "$WS/proj/cancelled")" = bye ]
	nothing_is_left
}

@test "the last bytes of a program that leaves a silent child with the pipe are all kept" {
	job -- python3 -c "
import os, sys
view = memoryview(b'x' * 1048575 + b'\\n')
while view: view = view[os.write(1, view):]
if os.fork() == 0: os.execvp('sh', ['sh', '-c', 'sleep 600; :', '$MARK'])
os._exit(0)"
	job_is '.status == "succeeded" and .result.stdout_bytes == 1048576'
	[ "$(cat "$WS_STATE"/runs/*/"$(command jq -r .id "$JOB")".1/out | wc -c)" = 1048576 ]
	duration_under 5000
	nothing_is_left
}

# Each leaves a grandchild for 10 ms.
many_runs() {
	local i
	for i in $(seq "$1"); do
		job -- sh -c '(sleep 0.01) >/dev/null 2>&1 & exit 0' || return
		job_is '.status == "succeeded" and .result.returncode == 0' || return
		sleep 0.01
	done
}

@test "many short runs at a time: every exit status, no zombie, nobody busy afterwards" {
	local i pids=() executor before after
	for i in 1 2 3 4; do
		(BATS_TEST_TMPDIR=$(mktemp -d "$BATS_TEST_TMPDIR/runs.XXXX") && many_runs "$(full 250 8)") &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
	executor=$(workspace_pids | sed -n 's/^executor //p')
	wait_until 5 no_child "$executor"
	before=$(ticks_of_trio)
	sleep 1
	after=$(ticks_of_trio)
	[ $((after - before)) -le 2 ]
}

no_child() { [ -z "$(children_of "$1")" ]; }

# processor time of the three, in ticks of 10 ms
ticks_of_trio() {
	local pid sum=0
	for pid in $(workspace_pids | cut -d' ' -f2); do
		sum=$((sum + $(cut -d' ' -f14 "/proc/$pid/stat") + $(cut -d' ' -f15 "/proc/$pid/stat")))
	done
	echo $sum
}

# A run's keeper is known by the lock it holds and its socket, never by a number that a stranger could have
# by now.
@test "after all died, keeper too: the job is lost, and no stranger is signalled for it" {
	local id stranger
	rm -f "$WS/proj/begun"
	id=$(propose -- sh -c "$(holder) & : >begun; sleep 60")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- 4>&- &
	wait_until 10 test -e "$WS/proj/begun"
	# shellcheck disable=SC2046
	kill -KILL $(workspace_pids | cut -d' ' -f2) $(running "$WS_BIN/agent-safe-keeper")
	wait $! || true
	wait_until 3 nothing_is_left
	as_uid "$WS_UID" sleep 60 3>&- 4>&- &
	stranger=$!
	workspace_start
	agent_safe show "$id" | jq -e '.status == "lost" and .error_class == "unknown_outcome"'
	kill -0 "$stranger"
	kill "$stranger"
}
