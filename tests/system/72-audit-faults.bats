#!/usr/bin/env bats
# The log's filesystem fails under the whole trio: nothing runs without its record, reading goes on, and it heals.

load ../support/workspace

# The filesystem of the log and its key: a small tmpfs, or what $1 says.
mount_audit() {
	AUDIT=$WS_STATE/audit
	chattr -R -a "$AUDIT" 2>/dev/null || true
	[ -e "$WS_TOP/aside" ] || cp -a "$AUDIT" "$WS_TOP/aside"
	mount "$@" "$AUDIT" || skip "no mounts here: $*"
	chown --reference="$WS_TOP/aside" "$AUDIT"
	chmod --reference="$WS_TOP/aside" "$AUDIT"
	cp -a "$WS_TOP/aside/." "$AUDIT/"
}

setup() {
	need_root
	workspace_make
	workspace_start
	run_job echo before >/dev/null
	ID=$(propose -- sh -c 'echo ran >marker')
	agent_safe approve "$ID" --by ana >/dev/null
	agent_safe serve --stop >/dev/null
	mount_audit -t tmpfs -o size=12m,mode=0711 tmpfs
}

teardown() {
	workspace_stop
	[ -z "${AUDIT:-}" ] || {
		mount -o remount,rw "$AUDIT" 2>/dev/null
		umount "$AUDIT" 2>/dev/null
	} || true
	workspace_clean
}

fill() { dd if=/dev/zero of="$AUDIT/ballast" bs=64k status=none 2>/dev/null || true; }

marker() { [ -e "$WS/proj/marker" ]; }

# What needs no record.
reading_works() {
	agent_safe list | jq -e 'length > 0'
	agent_safe show "$1" | jq -e .id
	agent_safe status | jq -e .audit_dir
	agent_safe doctor >/dev/null || true
	agent_safe check-policy | jq -e .valid
}

@test "a full filesystem: no run starts, reading works, and runs start again when space returns" {
	fill
	workspace_start
	run agent_safe run "$ID" --execute
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == *audit_integrity_error* ]]
	refute marker
	reading_works "$ID"
	agent_safe status | jq -e '.audit_accepts == false'
	run propose -- true
	[ "$status" -ne 0 ]
	sleep 2
	refute marker
	# What was asked for is done once it is on record.
	rm "$AUDIT/ballast"
	agent_safe wait "$ID" --timeout 20 | jq -e '.status == "succeeded"'
	marker
	agent_safe audit-verify | jq -e .valid
	agent_safe audit export | jq -r 'select(.type == "log.space") | .d.state' >"$BATS_TEST_TMPDIR/space"
	[ "$(paste -sd' ' "$BATS_TEST_TMPDIR/space")" = "low normal" ]
}

@test "a filesystem that fills up under the running trio: what was recorded stays, the log verifies later" {
	workspace_start
	fill
	# Far more than was reserved ahead.
	long=$(printf '%25000s' '' | tr ' ' x)
	refused=0
	for i in $(seq 200); do
		propose -- echo "$long" "$i" >>"$BATS_TEST_TMPDIR/ids" 2>"$BATS_TEST_TMPDIR/error" || { refused=1; break; }
	done
	[ "$refused" = 1 ]
	cat "$BATS_TEST_TMPDIR/error"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ids")" -gt 40 ]
	rm "$AUDIT/ballast"
	wait_until 10 job_can_run
	agent_safe audit-verify | jq -e .valid
	# Each job that was acknowledged is on record.
	agent_safe audit export | jq -r 'select(.type == "job.proposed") | .d.job' >"$BATS_TEST_TMPDIR/recorded"
	[ -z "$(grep -vxFf "$BATS_TEST_TMPDIR/recorded" "$BATS_TEST_TMPDIR/ids")" ]
}

job_can_run() { run_job true >/dev/null 2>&1; }
is_running() { agent_safe show "$1" | jq -e '.status == "running"' >/dev/null; }

# A job runs, the filesystem fills up, and proposals use up what was reserved ahead.
low_space_with_a_running_job() {
	local long i id
	workspace_start
	id=$(propose -- sh -c 'while [ ! -e stop ]; do sleep 0.1; done; echo done')
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran" 2>&1 3>&- &
	wait_until 5 is_running "$id"
	fill
	long=$(printf '%25000s' '' | tr ' ' x)
	for i in $(seq 200); do
		propose -- echo "$long" "$i" >/dev/null 2>"$BATS_TEST_TMPDIR/error" || break
	done
	cat "$BATS_TEST_TMPDIR/error"
	[ "$i" -gt 40 ] && [ "$i" -lt 200 ]
	grep -q 'space for the log is low' "$BATS_TEST_TMPDIR/error"
	agent_safe status | jq -e '.audit_accepts == false and (.audit_error | test("low"))'
	reading_works "$id"
	# What runs is not stopped by it, and how it ended is on record while there is no space.
	touch "$WS/proj/stop"
	wait
	jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/ran"
	agent_safe audit export | jq -es "map(select(.d.job == \"$id\") | .type) | contains([\"exec.exit\", \"job.finished\"])"
	rm "$AUDIT/ballast"
	wait_until 10 job_can_run
	run_job true | jq -e '.status == "succeeded"'
	agent_safe status | jq -e .audit_accepts
	agent_safe audit-verify | jq -e .valid
	agent_safe audit export | jq -r 'select(.type == "log.space") | .d.state' >"$BATS_TEST_TMPDIR/space"
	[ "$(paste -sd' ' "$BATS_TEST_TMPDIR/space")" = "low normal" ]
}

@test "low space: nothing new is proposed, a running job ends on record, and it heals" {
	low_space_with_a_running_job
}

@test "low space on an ext4 of its own: the same" {
	workspace_stop
	umount "$AUDIT"
	truncate -s 40M "$WS_TOP/image"
	mkfs.ext4 -q -J size=4 -m 0 "$WS_TOP/image"
	mount_audit -o loop "$WS_TOP/image"
	low_space_with_a_running_job
	agent_safe status | jq -e '.forward_security == "full"'
	agent_safe serve --stop >/dev/null
	chattr -R -a "$AUDIT" 2>/dev/null || true
}

@test "status and doctor say what erasing a key is worth on this filesystem" {
	workspace_start
	agent_safe status | jq -e '.forward_security == "degraded"'
	agent_safe doctor | jq -e '.checks[] | select(.name == "audit log") | .state == "less" and (.found | test("degraded"))'
}

@test "a filesystem that is read-only: nothing starts and the reason is named; afterwards all goes on" {
	mount -o remount,ro "$AUDIT"
	run propose -- sh -c 'echo ran >marker'
	echo "$output"
	[ "$status" -ne 0 ]
	refute marker
	agent_safe check-policy | jq -e .valid
	run agent_safe status
	echo "$output"
	[ "$status" -ne 0 ]
	mount -o remount,rw "$AUDIT"
	workspace_start
	run_job sh -c 'echo ran >marker' | jq -e '.status == "succeeded"'
	marker
	agent_safe audit-verify | jq -e .valid
}

@test "a segment that is a directory: nothing starts until it is put back" {
	segment=$(find "$AUDIT/log" -name "seg-*" | sort | tail -1)
	mv "$segment" "$AUDIT/kept"
	mkdir "$segment"
	run agent_safe status
	[ "$status" -ne 0 ]
	[[ $output == *error* ]]
	rmdir "$segment"
	mv "$AUDIT/kept" "$segment"
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

# Each start: the trio runs nothing and says why; what needs no record goes on.
refuses_until() {
	run propose -- sh -c 'echo ran >marker'
	echo "$output"
	[ "$status" -ne 0 ]
	run agent_safe status
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *error* ]]
	refute marker
	agent_safe check-policy | jq -e .valid
	agent_safe doctor | jq -e '.checks | length > 3'
	"$@"
	workspace_start
	run_job sh -c 'echo ran >marker' | jq -e '.status == "succeeded"'
	marker
	agent_safe audit-verify | jq -e .valid
}

@test "a segment that the auditor may not open, and a key that it may not: nothing starts, and it heals" {
	segment=$(find "$AUDIT/log" -name "seg-*" | sort | tail -1)
	chmod 000 "$segment"
	refuses_until chmod 600 "$segment"
	rm "$WS/proj/marker"
	agent_safe serve --stop >/dev/null
	chmod 000 "$AUDIT/key/key.state"
	refuses_until chmod 600 "$AUDIT/key/key.state"
}

@test "a segment that leads to /dev/full, and one that is a pipe: nothing starts, and it heals" {
	segment=$(find "$AUDIT/log" -name "seg-*" | sort | tail -1)
	mv "$segment" "$AUDIT/kept"
	put_back() { rm "$segment" && mv "$AUDIT/kept" "$segment"; }
	ln -s /dev/full "$segment"
	refuses_until put_back
	rm "$WS/proj/marker"
	agent_safe serve --stop >/dev/null
	chattr -R -a "$AUDIT/log" 2>/dev/null || true
	segment=$(find "$AUDIT/log" -name "seg-*" | sort | tail -1)
	mv "$segment" "$AUDIT/kept"
	mkfifo "$segment"
	refuses_until put_back
}
