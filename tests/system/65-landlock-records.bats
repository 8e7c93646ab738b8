#!/usr/bin/env bats
# doctor --denials: the kernel's own records of what Landlock denied, and whose they are.

load ../support/workspace
load ../support/jobs

setup_file() {
	workspace_make
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"], "cage": { "profile": "debug" }, "rules": [ { "program": "sh" } ] }
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

# records DOMAIN UID EXE TIME: one denial of that domain, and who made it.
records() {
	echo "type=LANDLOCK_ACCESS msg=audit($4:7): domain=$1 blockers=fs.make_reg,fs.refer path=2F612062 dev=\"vda\" ino=1"
	echo "type=LANDLOCK_DOMAIN msg=audit($4:7): domain=$1 status=allocated mode=enforcing pid=7 uid=$2 exe=\"$3\" comm=\"x\""
}

@test "a denial is the run's whose uid the kernel names at that time, and nobody else's" {
	local uid at id
	job -- sh -c true
	id=$(jq -r .id "$JOB")
	uid=$(jq -er '.attempts_log[0].uid' "$JOB")
	at=$(jq -er '.attempts_log[0].started_at | tostring | sub("(?<s>\\.[0-9]{3}).*"; "\(.s)")' "$JOB")
	{
		records a1 "$uid" "$WS_BIN/agent-safe-executor" "$at"
		records a1 "$uid" "$WS_BIN/agent-safe-executor" "$at" | head -n 1
		records b2 $((uid + 2)) "$WS_BIN/agent-safe-executor" "$at"
		records c3 "$uid" "$WS_BIN/agent-safe-executor" 1000000000.001
		records d4 "$uid" /usr/bin/firefox "$at"
		echo 'type=LANDLOCK_ACCESS msg=audit(1.000:1): domain=e5 blockers=fs.refer path="/cu'
		echo 'type=SYSCALL msg=audit(1.000:1): arch=c000003e syscall=257'
	} >"$BATS_TEST_TMPDIR/records"
	agent_safe doctor --denials --records - <"$BATS_TEST_TMPDIR/records" >"$BATS_TEST_TMPDIR/report"
	jq -e --arg id "$id" --argjson own "$(is_root && echo true || echo false)" '
	    [.domains[] | [.domain, .job, .certain]] == [["a1", $id, $own], ["b2", null, false], ["c3", null, false]] and
	    .domains[0].attempt == 1 and .broken == 1 and .unlisted == 0 and .ok' "$BATS_TEST_TMPDIR/report"
	jq -e '.domains[0].records | length == 1 and (.[0] | .path == "/a b" and .count == 2 and
	    .blockers == ["fs.make_reg", "fs.refer"])' "$BATS_TEST_TMPDIR/report"
	agent_safe_table doctor --denials --records - <"$BATS_TEST_TMPDIR/records" >"$BATS_TEST_TMPDIR/text"
	grep -q "^job $id" "$BATS_TEST_TMPDIR/text"
	grep -qx '  fs.make_reg, fs.refer  /a b, 2 times' "$BATS_TEST_TMPDIR/text"
}

@test "of each source is said whether it was read or why not, and that decides the end" {
	local status=0
	as_uid "$WS_UID" "$WS_BIN/agent-safe" doctor --denials >"$BATS_TEST_TMPDIR/report" 2>/dev/null || status=$?
	jq -e '[.sources[].name] == ["/var/log/audit/audit.log", "/dev/kmsg"] and
	    all(.sources[]; .read == (.why == null)) and .ok == any(.sources[]; .read)' "$BATS_TEST_TMPDIR/report"
	[ "$status" = "$(jq 'if .ok then 0 else 2 end' "$BATS_TEST_TMPDIR/report")" ]
	run --separate-stderr agent_safe doctor --denials --records "$BATS_TEST_TMPDIR/none"
	[ "$status" = 2 ]
	jq -e '.ok == false and .sources[0].why == "No such file or directory"' <<<"$output"
	run --separate-stderr agent_safe doctor --live
	[ "$status" = 2 ] && jq -e '.error.code == "invalid_input"' <<<"$stderr"
}

@test "what the kernel tells of a real job arrives: what it was denied, and none of our own probes" {
	local id pid said=$BATS_TEST_TMPDIR/said
	need_root
	agent_safe doctor --denials --records /dev/null | jq -e '.audit == "on"' >/dev/null ||
	    skip "the kernel's audit is not on here, or this kernel's Landlock does not tell: $(
	        agent_safe doctor --denials --records /dev/null | jq -r .audit)"
	id=$(propose -- sh -c 'cat /run/fence')
	agent_safe approve "$id" --by tester >/dev/null
	"$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" doctor --denials --live >"$BATS_TEST_TMPDIR/report" \
	    2>"$said" 3>&- 4>&- &
	pid=$!
	until grep -q listening "$said" || ! kill -0 $pid; do sleep 0.1; done
	agent_safe run "$id" --execute >/dev/null || [ $? = 1 ]
	kill -INT $pid
	wait $pid
	jq -e --arg id "$id" '.domains | map(select(.job == $id)) | length == 1 and (.[0] | .certain and
	    ([.records[] | [.blockers, .path, .count]] == [[["fs.read_file"], "/run/fence", 1]]))' "$BATS_TEST_TMPDIR/report"
}
