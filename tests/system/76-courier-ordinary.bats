#!/usr/bin/env bats
# The courier in an ordinary user's workspace: one uid for all, and still nothing of the trio's for what it starts.

load ../support/workspace
load ../support/courier

setup() {
	if is_root; then
		# As a user who made all of it.
		workspace_make
		chown -R "$TEST_UID:$TEST_UID" "$WS_TOP"
		WS_OPERATOR=$TEST_UID
	else
		workspace_make
	fi
	agent_safe status >"$WS_TOP/first" || skip "no trio as an ordinary user: $(cat "$WS_TOP/first")"
	agent_safe serve --stop >/dev/null
	OUT=$WS_TOP/out
	mkdir "$OUT"
	if is_root; then chown "$TEST_UID:$TEST_UID" "$OUT"; fi
}

teardown() { workspace_clean; }

ordinary_policy() {
	jq -n --arg script "$1" '{ version: 2, allowed_working_roots: ["proj"], rules: [{ program: "true" }],
	    audit: { export_command: ["/bin/sh", "-c", $script] } }' | workspace_policy
}

@test "what it starts sees nothing of the state but its own folder, and the network and the rest of the disk as ever" {
	ordinary_policy "cat >/dev/null; {
	    cat $WS_STATE/audit/log/trust; ls $WS_STATE; ls $WS_STATE/audit/key; cat $WS_STATE/broker/queue.db
	    echo x >$WS_STATE/new; echo x >$WS_TOP/new
	    } >$OUT/seen 2>$OUT/errors
	    echo mine >\$HOME/file && cat \$HOME/file >$OUT/home; cat /etc/hostname >$OUT/disk
	    echo done >$OUT/done"
	courier_start
	wait_until 10 test -e "$OUT/done"
	[ ! -s "$OUT/seen" ]
	[ "$(grep -ci 'permission denied' "$OUT/errors")" = 6 ]
	[ "$(cat "$OUT/home")" = mine ]
	[ -s "$OUT/disk" ]
	[ ! -e "$WS_STATE/new" ]
}

@test "it can trace none of the trio and signal none of it" {
	[ "$(jq -r .landlock_abi "$WS_TOP/first")" -ge 6 ] || skip "Landlock keeps signals in from ABI 6 on, this is $(jq -r .landlock_abi "$WS_TOP/first")"
	ordinary_policy "cat >/dev/null; . $OUT/pids
	    { cat /proc/\$auditor/environ; ls /proc/\$auditor/fd; kill -TERM \$auditor; kill -TERM \$broker; } >$OUT/seen 2>$OUT/errors
	    echo done >$OUT/done"
	echo >"$OUT/pids"
	courier_start
	agent_safe status | jq -r '.pids | "auditor=\(.auditor) broker=\(.broker)"' >"$OUT/pids"
	rm -f "$OUT/done" "$OUT/seen"
	run_job true >/dev/null
	wait_until 10 test -e "$OUT/done"
	[ ! -s "$OUT/seen" ]
	agent_safe status | jq -e '.pids.auditor > 0'
	grep -q "$(sed 's/.*auditor=\([0-9]*\).*/\1/' "$OUT/pids")" <<<"$(agent_safe status)"
}
