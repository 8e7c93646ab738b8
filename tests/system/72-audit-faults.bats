#!/usr/bin/env bats
# The log's filesystem fails under the whole trio: nothing runs without its record, reading goes on, and it heals.

load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
	run_job echo before >/dev/null
	ID=$(propose -- sh -c 'echo ran >marker')
	agent_safe approve "$ID" --by ana >/dev/null
	agent_safe serve --stop >/dev/null
	AUDIT=$WS_STATE/audit
	# The log and its key move to a small filesystem of their own.
	chattr -R -a "$AUDIT" 2>/dev/null || true
	cp -a "$AUDIT" "$WS_TOP/aside"
	mount -t tmpfs -o size=12m,mode=0711 tmpfs "$AUDIT" || skip "no mounts here"
	chown --reference="$WS_TOP/aside" "$AUDIT"
	chmod --reference="$WS_TOP/aside" "$AUDIT"
	cp -a "$WS_TOP/aside/." "$AUDIT/"
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
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.5
		run_job true >/dev/null 2>&1 && break
	done
	agent_safe audit-verify | jq -e .valid
	# Each job that was acknowledged is on record.
	agent_safe audit export | jq -r 'select(.type == "job.proposed") | .d.job' >"$BATS_TEST_TMPDIR/recorded"
	[ -z "$(grep -vxFf "$BATS_TEST_TMPDIR/recorded" "$BATS_TEST_TMPDIR/ids")" ]
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
