#!/usr/bin/env bats
# Run folders that another version left: one release back is understood, anything else is never misread.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() { workspace_clean; }

# A job that ends while nobody of the trio is there to see it; its id in $id, its run folder in $folder.
ends_alone() {
	local pids
	id=$(propose -- sh -c 'echo begun >begun; sleep 1; echo out')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- &
	wait_until 10 test -e "$WS/proj/begun"
	pids=$(workspace_pids | sed 's/.* //')
	# shellcheck disable=SC2086
	kill -KILL $pids
	wait
	folder=$(find "$WS_STATE/runs" -name "$id.1")
	wait_until 10 test -s "$folder/result"
	wait_until 10 flock -n "$folder/begun" true # its keeper is gone, and cannot tell what it knows
}
status_of() { agent_safe show "$1" | jq -r .status; }

# A dispatch whose acknowledgement was noted by nobody is running until the executor has said otherwise.
is_lost() { [ "$(status_of "$1")" = lost ]; }
has_succeeded() { [ "$(status_of "$1")" = succeeded ]; }

@test "a folder of a release that wrote neither what was watched nor the cage in words: its end is collected" {
	local id folder
	ends_alone
	rm -f "$folder/watched" "$folder/cage"
	wait_until 10 has_succeeded "$id"
	agent_safe show "$id" | jq -e '.result.stdout == "out\n" and (.attempts_log | length) == 1'
	agent_safe audit-verify | jq -e .valid
	run_job true | jq -e '.status == "succeeded"'
}

@test "a result of another version, or of another size, is no result: the run is lost, and never run again" {
	local id folder
	ends_alone
	printf 'ASRUN009' | dd of="$folder/result" conv=notrunc status=none
	wait_until 10 is_lost "$id"
	agent_safe show "$id" | jq -e '(.attempts_log | length) == 1 and .error_class == "unknown_outcome"'
	rm "$WS/proj/begun"
	ends_alone
	printf 'x' >>"$folder/result"
	wait_until 10 is_lost "$id"
	agent_safe audit-verify | jq -e .valid
	run_job true | jq -e '.status == "succeeded"'
}

@test "a database of a later version is refused, and left as it is" {
	agent_safe serve --stop >/dev/null
	wait_until 10 test ! -s "$WS_STATE/broker/queue.db-wal"
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("PRAGMA user_version = 99")
	db.commit()
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	local before
	before=$(sha256sum <"$WS_STATE/broker/queue.db")
	run --separate-stderr agent_safe status
	[ "$status" != 0 ]
	jq -e '.error.code == "storage_error" and (.error.message | test("version 99"))' <<<"$stderr"
	[ "$(sha256sum <"$WS_STATE/broker/queue.db")" = "$before" ]
}
