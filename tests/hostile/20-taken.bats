#!/usr/bin/env bats
# What somebody can do who has taken a process over: see taken/taken.h beside this file.

load ../support/workspace
load ../support/procs
load ../support/taken
load ../support/hostile

setup() { need_root; }

teardown() {
	hostile_host_end
	workspace_clean
}

# What no room may: the host's files, other identities, other processes.
everybodys_targets() {
	local pid uid
	printf 'read %s\n' /etc/shadow /root "$WS_TOP/home-$TEST_UID/closed"
	for uid in 0 "$UID_BROKER" "$UID_EXECUTOR" "$UID_AUDITOR" $TEST_UID; do
		[ "$uid" = "$1" ] || printf 'become %s\njoin %s\n' "$uid" "$uid"
	done
	shift
	for pid in 1 "$@"; do
		printf '%s '"$pid"'\n' signal trace memory descriptor enter
	done
	# SYS_PTRACE, DAC_OVERRIDE, SYS_MODULE
	printf 'gain %s\n' 19 1 16
	printf 'userns x\n'
}

# What broker, auditor and keeper cannot do at all.
calls_that_kill() {
	printf 'connect %s\ntcp 1\nexecute /bin/true\nfork x\ndevices /tmp\nuncover /tmp\n' "$WS_STATE/control.sock"
}

make_closed_folder() {
	mkdir "$WS_TOP/home-$TEST_UID/closed"
	chown $TEST_UID:$TEST_UID "$WS_TOP/home-$TEST_UID/closed"
	chmod 700 "$WS_TOP/home-$TEST_UID/closed"
}

@test "a taken broker: not the key, the log, a workspace, another uid or process; no exec, no socket" {
	taken_make broker
	make_closed_folder
	taken_start
	{
		everybodys_targets "$UID_BROKER" "$EXECUTOR" "$AUDITOR"
		calls_that_kill
		printf 'read %s\n' "$WS_STATE/audit/key/key.state" "$WS_STATE"/audit/log/* "$WS_STATE/audit/key" \
		    "$WS/proj" /etc/passwd /tmp
		printf 'write %s\n' "$WS_STATE"/audit/log/* "$WS/agent-safe-policy.json"
		printf 'make %s\n' "$WS/proj" /tmp
	} | taken_targets
	taken_nothing_worked
	taken_answered SYS -- execute
	taken_answered SYS -- fork
	taken_answered SYS -- signal
	taken_answered EACCES -- read
}

@test "a taken auditor: not the queue, a workspace, another uid or process; no exec, no socket, nothing deleted" {
	taken_make auditor
	make_closed_folder
	taken_start
	{
		everybodys_targets "$UID_AUDITOR" "$EXECUTOR" "$BROKER"
		calls_that_kill
		printf 'read %s\n' "$WS_STATE/broker" "$WS_STATE/broker/queue.db" "$WS/proj" /etc/passwd /tmp
		printf 'make %s\n' "$WS/proj" /tmp
		printf 'empty %s\n' "$WS_STATE"/audit/log/*
		printf 'remove %s\n' "$WS_STATE"/audit/log/*
		printf 'read %s\n' "$WS_STATE/audit/key/key.state"
	} | taken_targets
	taken_nothing_worked
	taken_answered SYS -- execute
	taken_answered SYS -- remove
	taken_answered SYS -- empty
	taken_answered EACCES -- read
}

@test "a taken executor: not the key, the state, outside its roots, no uid outside its map, no daemon" {
	taken_make executor
	make_closed_folder
	taken_start
	hostile_listen
	{
		everybodys_targets "$UID_EXECUTOR" "$BROKER" "$AUDITOR"
		printf 'read %s\n' "$WS_STATE/audit/key/key.state" "$WS_STATE"/audit/log/* "$WS_STATE/broker/queue.db" \
		    "$WS_STATE/broker" "$WS_STATE/audit" "$WS_STATE"
		printf 'write %s\n' "$WS_STATE"/audit/log/* "$WS/agent-safe-policy.json"
		printf 'make %s\n' "$WS" "$WS_STATE/audit/key" /etc /usr/bin
		printf 'connect %s\n' "$WS_STATE/control.sock" "$WS_STATE/propose.sock"
		printf 'tcp %s\ndevices /tmp\ndevice /tmp\nuncover %s\n' "$TCP" "$WS_STATE"
	} | taken_targets
	taken_nothing_worked
	taken_answered EINVAL -- become
	taken_answered EPERM -- signal
}

@test "a taken keeper: nothing but its own job's folder and pipes" {
	local id
	taken_make keeper
	make_closed_folder
	taken_start
	wait "$TAKEN_STARTER"
	TAKEN_STARTER=
	{
		everybodys_targets "$UID_INIT" "$BROKER" "$EXECUTOR" "$AUDITOR"
		calls_that_kill
		printf 'read %s\n' "$WS_STATE/audit/key/key.state" "$WS_STATE"/audit/log/* "$WS_STATE/broker/queue.db" \
		    "$WS/proj" /etc/passwd /tmp "$WS_STATE/runs/0" "$WS_STATE/runs/1"
		printf 'make %s\n' "$WS/proj" /tmp "$WS_STATE/runs/1"
		printf 'become %s\n' "$UID_JOB"
	} | taken_targets
	id=$(propose -- sleep 30)
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" || [ $? = 1 ]
	taken_nothing_worked
	taken_answered SYS -- execute
	taken_answered SYS -- read
	# It took its job with it, and that is what the record says.
	jq -e '.status == "lost" or .status == "failed"' "$BATS_TEST_TMPDIR/job"
	agent_safe audit-verify | jq -e .valid
}

# One uid for everybody: only Landlock and the filters stand between them, and they do.
@test "an ordinary user's taken broker and auditor: no exec, no socket, no other file, no other process" {
	local room
	for room in broker auditor; do
		taken_make $room
		chown -R $TEST_UID:$TEST_UID "$WS_BIN"
		WS_OPERATOR=$WS_UID
		WS_STATE=$WS_TOP/home-$TEST_UID/state
		TAKEN_LOG=$WS_STATE/trio.log
		as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
		taken_start
		{
			calls_that_kill
			printf 'read %s\n' "$WS/proj" /etc/passwd /tmp "$WS_TOP/home-$TEST_UID" "$WS_BIN/targets"
			printf 'make %s\n' "$WS/proj" /tmp
			printf '%s '"$EXECUTOR"'\n' signal trace memory descriptor enter
			if [ $room = broker ]; then
				printf 'read %s\n' "$WS_STATE/audit/key/key.state" "$WS_STATE"/audit/log/*
			else
				printf 'read %s\n' "$WS_STATE/broker/queue.db"
			fi
		} | taken_targets
		taken_nothing_worked
		taken_answered SYS -- execute
		taken_answered SYS -- signal
		taken_answered EACCES -- read
		workspace_clean
	done
}

@test "each of these attempts works for root, whom nothing confines" {
	taken_make none
	make_closed_folder
	taken_start
	wait "$TAKEN_STARTER"
	TAKEN_STARTER=
	hostile_listen
	touch "$WS_TOP/file"
	{
		everybodys_targets none "$BROKER" "$EXECUTOR" "$AUDITOR" | grep -vE '^(enter|trace|memory|descriptor) 1$'
		printf 'read %s\n' "$WS_STATE/audit/key/key.state" "$WS_STATE"/audit/log/* "$WS_STATE/broker/queue.db" \
		    "$WS/proj" /etc/passwd /tmp "$WS_STATE/runs/0"
		printf 'write %s\n' "$WS_STATE"/audit/log/* "$WS/agent-safe-policy.json"
		printf 'make %s\n' "$WS/proj" "$WS" /tmp
		printf 'connect %s\ntcp %s\n' "$WS_STATE/control.sock" "$TCP"
		printf 'execute /bin/true\nfork x\ndevices /tmp\ndevice %s\nuncover /tmp\n' "$WS_TOP"
		printf 'empty %s\nremove %s\n' "$WS_TOP/file" "$WS_TOP/file"
	} | taken_targets
	cp "$BUILD_DIR/taken/plain" "$WS_BIN/"
	timeout 60 "$WS_BIN/plain" 2>"$BATS_TEST_TMPDIR/answers" 3>&- 4>&-
	grep -qx 'taken: done' "$BATS_TEST_TMPDIR/answers"
	refute grep -vE '^taken: (WORKED |done$)' "$BATS_TEST_TMPDIR/answers"
	[ "$(grep -c WORKED "$BATS_TEST_TMPDIR/answers")" = "$(wc -l <"$WS_BIN/targets")" ]
}
