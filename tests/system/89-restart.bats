#!/usr/bin/env bats
# What a new start finds after the old one ended at an odd moment.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	workspace_make
}
teardown() { workspace_clean; }

approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null
	echo "$id"
}
field() { agent_safe show "$1" | jq -r ".$2"; }
is() { [ "$(field "$1" status)" = "$2" ]; }

# The queue as a power cut leaves it that takes back every note of an acknowledgement from the newest dispatch on.
forget_acknowledgements() {
	/usr/bin/python3 - "$WS_STATE" <<-'END'
	import glob, hashlib, json, sqlite3, sys
	db = sqlite3.connect(glob.glob(sys.argv[1] + "/**/queue.db", recursive=True)[0])
	sn, = db.execute("SELECT max(sn) FROM outbox WHERE type = 'job.dispatch'").fetchone()
	for name in sorted(glob.glob(sys.argv[1] + "/audit/log/seg-*")):
	    for line in open(name, "rb"):
	        record = json.loads(line)
	        if record["src"] == "broker" and record["sn"] == sn - 1:
	            db.execute("UPDATE meta SET acked_sn = ?, acked_seq = ?, acked_hash = ?",
	                       (sn - 1, record["seq"], hashlib.sha256(line).digest()))
	assert db.total_changes == 1
	db.execute("UPDATE outbox SET acked_seq = NULL WHERE sn >= ?", (sn,))
	db.commit()
	END
}

# A running job whose file WS/proj/n has a line; its id.
begun() {
	local id
	id=$(approved -- sh -c 'echo x >>n; until [ -e go ]; do sleep 0.1; done')
	agent_safe run "$id" --execute >/dev/null 2>&1 &
	wait_until 20 test -s "$WS/proj/n"
	echo "$id"
}

kill_daemons() {
	local pids
	mapfile -t pids < <(workspace_pids | cut -d' ' -f2)
	kill -9 "${pids[@]}"
	wait_gone 100 "${pids[@]}"
}

@test "a power cut takes back that a plan has left: the run is lost, not started twice, and the queue goes on by itself" {
	need_root
	workspace_start
	local id holders
	id=$(begun)
	kill_daemons
	mapfile -t holders < <(workspace_holders)
	[ "${#holders[@]}" -gt 0 ]
	kill -9 "${holders[@]}"
	wait_gone 100 "${holders[@]}"
	forget_acknowledgements
	# The first answer is already the truth.
	agent_safe show "$id" >"$WS_TOP/shown"
	jq -e '.status == "lost" and .attempts == 1' "$WS_TOP/shown" || { cat "$WS_TOP/shown" "$WS_STATE/trio.log"; false; }
	[ "$(wc -l <"$WS/proj/n")" = 1 ]
	refute grep breach "$WS_STATE/trio.log"
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "the same, but its keeper lives: the run is found again and its end is stored once" {
	need_root
	workspace_start
	local id
	id=$(begun)
	kill_daemons
	forget_acknowledgements
	agent_safe show "$id" | jq -e '.status == "running"'
	refute grep breach "$WS_STATE/trio.log"
	touch "$WS/proj/go"
	agent_safe wait "$id" --timeout 20 | jq -e '.status == "succeeded" and .attempts == 1'
	[ "$(wc -l <"$WS/proj/n")" = 1 ]
}

@test "of a run that ended there is no list left of what was watched, and one that was refused keeps its end" {
	need_root
	workspace_start
	local folder
	run_job true | jq -e '.status == "succeeded"'
	mapfile -t folder < <(find "$WS_STATE/runs" -name '*.1')
	[ "${#folder[@]}" = 1 ]
	wait_until 10 test -e "$folder/collected"
	[ ! -s "$folder/collected" ]
	[ -z "$(find "$folder" -name begun -o -name recorded -o -name watched)" ]
	# What a folder takes is what prune reckons with.
	agent_safe prune --max-bytes 0 --dry-run | jq -e --argjson s "$(du -s -B1 "$folder" | cut -f1)" '.bytes >= $s'
}

uncollected() { find "$WS_STATE/runs" -name recorded | wc -l; }
all_collected() { [ "$(uncollected)" = 0 ]; }

@test "many folders whose mark a power cut took back hinder no start and no run, and are all collected" {
	need_root
	local folder i
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe serve --stop >/dev/null
	folder=$(find "$WS_STATE/runs" -name '*.1')
	wait_until 20 test -e "$folder/collected"
	mv "$folder/collected" "$folder/recorded"
	# More than there are attempts at once.
	for i in $(seq 300); do cp -a "$folder" "${folder%/*}/$(cat /proc/sys/kernel/random/uuid).1"; done
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	wait_until 60 all_collected
	[ "$(find "$WS_STATE/runs" -name collected | wc -l)" -ge 301 ]
	refute grep -E 'more runs than slots|EBUSY|refused at' "$WS_STATE/trio.log"
	agent_safe audit-verify | jq -e .valid
}
