#!/usr/bin/env bats
# The queue's database: looked through, copied, put back, cut off from its log; and the first system's.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() {
	workspace_stop
	umount "$WS_STATE/broker" 2>/dev/null || true
	workspace_clean
}

stop() {
	local pids
	pids=$(workspace_pids | sed 's/.* //')
	agent_safe serve --stop >/dev/null
	wait_gone 30 $pids
}
put_back() {
	rm -f "$WS_STATE/broker/queue.db-wal"
	cat "$1" >"$WS_STATE/broker/queue.db"
}
approved() {
	local id
	id=$(propose -- "$@") || return
	agent_safe approve "$id" --by tester >/dev/null
	echo "$id"
}

@test "db check finds nothing in a sound queue" {
	run_job true >/dev/null
	agent_safe db check | jq -e '.sound and .found == []'
}

@test "a backup is a whole database, into a new file only" {
	local id
	id=$(approved true)
	agent_safe db backup "$WS_TOP/copy.db" | jq -e '.bytes > 0'
	python3 - "$WS_TOP/copy.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
	assert db.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
	END
	run agent_safe db backup "$WS_TOP/copy.db"
	[ "$status" = 2 ]
}

@test "an old database put back is refused with the reason; db resync goes on, on record, and nothing stays approved" {
	local id ran
	ran=$(approved sh -c 'echo x >>twice')
	agent_safe db backup "$WS_TOP/old.db" >/dev/null
	agent_safe run "$ran" --execute >/dev/null
	id=$(approved true)
	stop
	put_back "$WS_TOP/old.db"
	run --separate-stderr agent_safe status
	[ "$status" != 0 ]
	grep -q 'the database was put back' <<<"$stderr"
	run agent_safe db resync
	[ "$status" = 2 ]
	agent_safe db resync --by ana | jq -e .policy_loaded
	agent_safe show "$ran" | jq -e '.status == "queued" and .approval_status == "pending"'
	run agent_safe run "$ran" --execute
	[ "$status" = 2 ]
	[ "$(wc -l <"$WS/proj/twice")" = 1 ]
	agent_safe watch --cursor 0 --once | jq -se 'any(.type == "db.resync" and .data.by == "ana")'
	grep -q '"type":"log.recover".*db_resync' "$WS_STATE"/audit/log/*.jsonl
	# and it can be approved again, and runs under a number of its own
	agent_safe approve "$ran" --by ana >/dev/null
	agent_safe run "$ran" --execute | jq -e '.status == "succeeded" and .attempts_log[-1].attempt > 1'
	agent_safe audit-verify | jq -e .valid
	stop
	agent_safe status | jq -e .policy_loaded
}

@test "after a resync no run takes the end of another one that the old database did not know" {
	local id
	id=$(approved sh -c 'echo x >>ran; until [ -e go ]; do sleep 0.1; done; wc -l <ran; [ "$(wc -l <ran)" -gt 1 ]')
	agent_safe run "$id" --execute >/dev/null 2>&1 &
	wait_until 20 test -s "$WS/proj/ran"
	agent_safe db backup "$WS_TOP/old.db" >/dev/null
	touch "$WS/proj/go"
	agent_safe wait "$id" --timeout 30 | jq -e '.status == "failed"'
	agent_safe retry "$id" >/dev/null
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute | jq -e '.status == "succeeded" and .result.stdout == "2\n"'
	stop
	put_back "$WS_TOP/old.db"
	agent_safe db resync --by ana | jq -e .policy_loaded
	# The run that was going on then has ended as it did.
	agent_safe wait "$id" --timeout 30 | jq -e '.status == "failed" and (.attempts_log | length == 1)'
	agent_safe retry "$id" >/dev/null
	agent_safe approve "$id" --by ana >/dev/null
	run agent_safe run "$id" --execute
	[ "$status" = 1 ]
	jq -e '.status == "failed" and (.result.error | contains("put back"))' <<<"$output"
	[ "$(wc -l <"$WS/proj/ran")" = 2 ]
	agent_safe retry "$id" >/dev/null
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute | jq -e '.status == "succeeded" and .result.stdout == "3\n"'
	agent_safe audit-verify | jq -e .valid
}

loaded() { cat "$WS_STATE"/audit/log/*.jsonl | jq -rs "[.[] | select($1)][-1].d.policy_sha256"; }

@test "after a resync the log says which policy is in force, also when the old database knew it" {
	local before policy
	policy=$(<"$WS/agent-safe-policy.json")
	before=$(sha256sum <"$WS/agent-safe-policy.json" | cut -d' ' -f1)
	agent_safe db backup "$WS_TOP/old.db" >/dev/null
	stop
	jq '.limits = { timeout_seconds: 5 }' <<<"$policy" | workspace_policy
	agent_safe status | jq -e .policy_loaded
	[ "$(loaded '.type == "policy.loaded"')" = "$(sha256sum <"$WS/agent-safe-policy.json" | cut -d' ' -f1)" ]
	stop
	put_back "$WS_TOP/old.db"
	printf '%s\n' "$policy" | workspace_policy
	[ "$(sha256sum <"$WS/agent-safe-policy.json" | cut -d' ' -f1)" = "$before" ]
	agent_safe db resync --by ana | jq -e .policy_loaded
	stop
	[ "$(loaded '.type == "policy.loaded"')" = "$before" ]
	cat "$WS_STATE"/audit/log/*.jsonl | jq -es '[.[] | select(.src == "broker").type][-2:] == ["db.resync", "policy.loaded"] and
	    (.[] | select(.type == "db.resync").d.dropped == 0)'
}

@test "resync while queue and log agree is refused" {
	run --separate-stderr agent_safe db resync --by ana
	[ "$status" = 2 ]
	jq -e '.error.code == "invalid_input"' <<<"$stderr"
}

@test "a log that lost acknowledged records is refused with the reason" {
	local log last
	run_job true >/dev/null
	stop
	log=$(ls "$WS_STATE"/audit/log/seg-*.jsonl | tail -1)
	chattr -a "$log" 2>/dev/null || true
	last=$(wc -l <"$log")
	head -n $((last - 4)) "$log" >"$WS_TOP/cut"
	cat "$WS_TOP/cut" >"$log"
	run --separate-stderr agent_safe status
	[ "$status" != 0 ]
	echo "$stderr" >&3
}

@test "two trios on one state folder: the second command uses the first" {
	local before
	before=$(workspace_pids)
	"$WS_BIN/agent-safe-launch" --workspace "$WS" --state "$WS_STATE" 3>&- 4>&-
	[ "$(workspace_pids)" = "$before" ]
}

@test "a database of version 1 is brought to this version, its copy stays" {
	local id done
	done=$(run_job sh -c 'exit 3' | jq -r .id) || true
	id=$(approved true)
	stop
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	for name in ("jobs_ready", "jobs_due", "jobs_timed", "jobs_hooks"):
	    db.execute("DROP INDEX " + name)
	db.execute("DROP TABLE needs")
	for table, columns in (("jobs", ("retry_safe", "group_name", "mutex", "expires_us", "held", "needs", "hook",
	                                 "stdin_bytes", "secrets")),
	                       ("attempts", ("boot_id",)), ("meta", ("held", "hook_sn", "hook_skipped"))):
	    for column in columns:
	        db.execute("ALTER TABLE %s DROP COLUMN %s" % (table, column))
	db.execute("CREATE INDEX jobs_ready ON jobs (priority DESC, available_us, seq) "
	           "WHERE status IN (1, 3) AND approval = 2")
	db.execute("PRAGMA user_version = 1")
	db.commit()
	db.close()
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
	[ -s "$WS_STATE/broker/queue.db.v1" ]
	agent_safe show "$done" | jq -e '.attempts_log[0].exit_code == 3 and .attempts_log[0].boot_id == null'
	agent_safe db check | jq -e .sound
}

@test "import: waiting jobs are pending, ended ones are history, nothing is approved; again changes nothing" {
	python3 - "$WS_TOP/first.db" "$WS/proj" <<-'END'
	import sqlite3, sys, uuid, json
	db = sqlite3.connect(sys.argv[1])
	db.execute("""create table jobs (id text primary key, idempotency_key text unique, command text, status text,
	  created_at real, updated_at real, available_at real, attempts int, max_attempts int, timeout int, cwd text,
	  lease_owner text, lease_until real, result text, error_class text, approval_status text, decided_by text,
	  decided_at real, decision_reason text, source text)""")
	rows = [("queued", "approved", ["true"]), ("retry_wait", "pending", ["true"]), ("running", "approved", ["true"]),
	        ("succeeded", "approved", ["true"]), ("failed", "legacy", ["false"]),
	        ("queued", "pending", ["env", "gh" + "p_" + "a1B2" * 9])]
	for n, (status, approval, command) in enumerate(rows):
	    db.execute("insert into jobs values (?,?,?,?,?,?,0,1,1,60,?,null,null,?,null,?,'bob',1.5,null,'cli')",
	               (str(uuid.uuid4()), "k%d" % n, json.dumps(command), status, 1700000000.25 + n, 1700000001.0,
	                sys.argv[2], json.dumps({"returncode": 0}) if status == "succeeded" else None, approval))
	db.commit()
	END
	agent_safe import "$WS_TOP/first.db" | jq -e '.imported == 5 and .refused == 1 and (.waiting | length) == 2'
	agent_safe list --all | jq -e 'all(.approval_status == "pending" or .approval_status == "legacy") and
	    (map(.status) | sort) == ["failed", "lost", "queued", "queued", "succeeded"] and .[0].created_at == 1700000000.25'
	agent_safe import "$WS_TOP/first.db" | jq -e '.imported == 0 and .known == 5'
	# What may still run is on record, each with its command, before anybody decides about it.
	agent_safe audit export | jq -es 'map(select(.type == "job.imported")) | length == 2 and
	    all(.d.command == ["true"] and (.d.who.uid | type) == "number" and (.d.job | type) == "string")'
	local id
	id=$(agent_safe list --status queued | jq -r '.[0].id')
	run agent_safe run "$id" --execute
	[ "$status" = 2 ]
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

# first_database FILE < "column = value" lines of Python, one job each: jobs of the first system, with these values.
first_database() {
	python3 - "$1" "$WS/proj" 3<&0 <<-'END'
	import json, os, sqlite3, sys, uuid
	db = sqlite3.connect(sys.argv[1])
	columns = ("id idempotency_key command status created_at updated_at attempts max_attempts timeout cwd result "
	           "error_class approval_status decided_by decision_reason source").split()
	db.execute("CREATE TABLE jobs (%s)" % ", ".join(c + " TEXT" for c in columns))
	db.execute("CREATE INDEX by_status ON jobs (status, created_at)")
	for n, line in enumerate(os.fdopen(3)):
	    row = dict(zip(columns, [str(uuid.uuid4()), "k%d" % n, '["true"]', "failed", 1700000000 + n, 1700000001, 1, 1,
	                             60, sys.argv[2], None, None, "approved", "bob", "because", "cli"]))
	    exec(line, {"SECRET": "gh" + "p_" + "a1B2" * 9}, row)
	    names = [c for c in columns]
	    marks = ["CAST(? AS TEXT)" if isinstance(row[c], bytes) else "?" for c in names]
	    db.execute("INSERT INTO jobs (%s) VALUES (%s)" % (", ".join(names), ", ".join(marks)), [row[c] for c in names])
	db.commit()
	END
}

@test "a job that ran and was pruned may be imported again, and runs again" {
	local id i
	first_database "$WS_TOP/first.db" <<<'status = "queued"; command = "[\"sh\", \"-c\", \"echo x >>again\"]"'
	for i in 1 2; do
		agent_safe import "$WS_TOP/first.db" | jq -e '.imported == 1'
		id=$(agent_safe list --status queued | jq -r '.[0].id')
		agent_safe approve "$id" --by ana >/dev/null
		agent_safe run "$id" --execute | jq -e '.status == "succeeded" and .attempts == 1'
		[ "$(wc -l <"$WS/proj/again")" = "$i" ]
		agent_safe prune --older-than 0 | jq -e '.pruned == 1'
	done
	agent_safe audit-verify | jq -e .valid
}

@test "import: odd bytes, secrets, large and damaged rows leave the rest and the broker whole, and nothing secret is taken over" {
	local broker
	broker=$(agent_safe status | jq -r .pids.broker)
	first_database "$WS_TOP/odd.db" <<-'END'
	status = "queued"
	status = "queued"; cwd = b"/tmp/\xff"
	status = "queued"; cwd = "/tmp/" + SECRET
	status = "queued"; command = '["true", "\\ud800"]'
	status = "queued"; command = '["true", "a\\u0000b"]'
	idempotency_key = b"\xff\xfe"; decided_by = b"\xed\xa0\x80"; error_class = b"\x80"
	idempotency_key = SECRET; decided_by = SECRET; decision_reason = SECRET; result = '{"stdout":"%s"}' % SECRET
	result = '{"a":1,"a":2}'; updated_at = -1e300; attempts = 2**60; timeout = -5
	id = "../../etc/passwd"
	END
	agent_safe import "$WS_TOP/odd.db" | jq -e '.imported == 4 and .refused == 5 and (.waiting | length) == 1'
	agent_safe list --all | jq -e '[.[] | select(.status == "failed") | .decided_by] | sort == [null, null, "bob"]'
	refute grep -rqF "$(printf 'gh%s' p_a1B2a1B2)" "$WS_STATE"
	# Larger than what is sorted without files, in rows that would not fit an answer.
	first_database "$WS_TOP/large.db" < <(for _ in $(seq 8); do echo 'result = "\"" + "y" * 1500000 + "\""'; done)
	agent_safe import "$WS_TOP/large.db" | jq -e '.imported == 8'
	agent_safe list --all | jq -e '[.[] | select(.result.error != null)] | length == 10'
	# An index that tells something else than its table.
	first_database "$WS_TOP/damaged.db" <<<'status = "queued"'
	python3 - "$WS_TOP/damaged.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	page, = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'by_status'").fetchone()
	db.close()
	with open(sys.argv[1], "r+b") as file:
	    data = bytearray(file.read())
	    at = data.index(b"queued", (page - 1) * 4096)
	    data[at:at + 6] = b"failed"
	    file.seek(0)
	    file.write(data)
	END
	run --separate-stderr agent_safe import "$WS_TOP/damaged.db"
	[ "$status" = 2 ]
	jq -e '.error.code == "invalid_input" and (.error.message | contains("damaged"))' <<<"$stderr"
	# A transaction that the first system did not end; a file that is none.
	cp "$WS_TOP/odd.db" "$WS_TOP/hot.db"
	echo x >"$WS_TOP/hot.db-journal"
	run --separate-stderr agent_safe import "$WS_TOP/hot.db"
	[ "$status" = 2 ] && grep -q 'hot.db-journal is not empty' <<<"$stderr"
	mkfifo "$WS_TOP/pipe"
	run --separate-stderr agent_safe import "$WS_TOP/pipe"
	[ "$status" = 2 ]
	[ "$(agent_safe status | jq -r .pids.broker)" = "$broker" ]
	agent_safe db check | jq -e .sound
	agent_safe audit-verify | jq -e .valid
}

@test "import of something else is refused and changes nothing" {
	echo 'SQLite format 3, not really' >"$WS_TOP/other"
	run --separate-stderr agent_safe import "$WS_TOP/other"
	[ "$status" = 2 ]
	jq -e '.error.code == "invalid_input"' <<<"$stderr"
	agent_safe list | jq -e 'length == 0'
}

# 24 jobs of 100 KiB each: more than the pages that the broker keeps in memory.
fill_queue() {
	local i long
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	for i in $(seq 24); do propose -- echo "$long" "$i"; done
}

@test "a database that is damaged while it is in use: told, kept, held until a copy is back, then resynced" {
	local ids before backup=$WS_TOP/copy.db
	mapfile -t ids < <(fill_queue)
	agent_safe db backup "$backup" >/dev/null
	# What the write-ahead log holds is moved into the database at the latest when the broker ends.
	stop
	[ ! -s "$WS_STATE/broker/queue.db-wal" ]
	workspace_start
	# Somebody overwrites the rows, not the head of the file.
	dd if=/dev/urandom of="$WS_STATE/broker/queue.db" bs=4096 seek=40 count=200 conv=notrunc status=none
	before=$(sha256sum <"$WS_STATE/broker/queue.db")
	local id text=
	for id in "${ids[@]}"; do
		run --separate-stderr agent_safe show "$id"
		[ "$status" = 0 ] || { text=$stderr; break; }
	done
	echo "$text"
	jq -e '.error.code == "storage_error" and (.error.message | test("damaged.*RESTORING"))' <<<"$text"
	# Held: nothing starts, whatever is asked, and the files are as they were.
	for command in status "db check" list; do
		# shellcheck disable=SC2086
		run --separate-stderr agent_safe $command
		[ "$status" != 0 ]
		jq -e '.error.code == "storage_error" and (.error.message | test("damaged.*RESTORING"))' <<<"$stderr"
	done
	[ "$(sha256sum <"$WS_STATE/broker/queue.db")" = "$before" ]
	[ -s "$WS_STATE/broker/queue.db.damaged" ]
	put_back "$backup"
	agent_safe db resync --by ana >/dev/null
	agent_safe db check | jq -e .sound
	[ ! -e "$WS_STATE/broker/queue.db.damaged" ]
	agent_safe list | jq -e 'length == 24'
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "a damage that only an index shows is found at the next start, once something in it could not be read" {
	local id
	id=$(approved true)
	stop
	python3 - "$WS_STATE/broker/queue.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs_id'").fetchone()[0]
	size = db.execute("PRAGMA page_size").fetchone()[0]
	db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
	db.close()
	with open(sys.argv[1], "r+b") as f:
	    f.seek((root - 1) * size + size - 8)
	    f.write(bytes(8))
	END
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/*
	touch "$WS_STATE/broker/queue.db.damaged"
	chown --reference="$WS_STATE/broker" "$WS_STATE"/broker/queue.db.damaged
	run --separate-stderr agent_safe status
	[ "$status" != 0 ]
	jq -e '.error.code == "storage_error" and (.error.message | test("jobs_id"))' <<<"$stderr"
}

@test "a backup for which there is no room is refused, leaves nothing behind, and the queue goes on" {
	local folder=$WS_STATE/broker broker left
	stop
	cp -a "$folder" "$WS_TOP/aside"
	mount -t tmpfs -o size=3m,mode=0700 tmpfs "$folder" || skip "no mounts here"
	chown --reference="$WS_TOP/aside" "$folder"
	cp -a "$WS_TOP/aside/." "$folder/"
	# What a broker left that was killed while it made one.
	head -c 100000 /dev/zero >"$folder/backup.db"
	broker=$(agent_safe status | jq -r .pids.broker)
	[ ! -e "$folder/backup.db" ]
	mkdir "$WS_TOP/small"
	mount -t tmpfs -o size=16k tmpfs "$WS_TOP/small"
	run --separate-stderr agent_safe db backup "$WS_TOP/small/copy.db"
	left=$(ls "$WS_TOP/small")
	umount "$WS_TOP/small"
	[ "$status" != 0 ] && [ -z "$left" ]
	jq -e '.error.code == "storage_error"' <<<"$stderr"
	# Nor is there room for the copy beside the database.
	head -c $(($(df --output=avail -B1 "$folder" | tail -1) - 65536)) /dev/zero >"$folder/ballast"
	run --separate-stderr agent_safe db backup "$WS_TOP/copy.db"
	[ "$status" != 0 ]
	jq -e '.error.code == "storage_error" and (.error.message | test("full"))' <<<"$stderr"
	[ ! -e "$WS_TOP/copy.db" ] && [ -z "$(find "$folder" -name 'backup*')" ]
	[ "$(agent_safe status | jq -r .pids.broker)" = "$broker" ]
	rm "$folder/ballast"
	run_job true | jq -e '.status == "succeeded"'
	stop
	umount "$folder"
}

@test "a full state filesystem under the running trio: a clear error, nothing told is lost, and it heals" {
	local broker=$WS_STATE/broker id before after text=
	before=$(run_job true | jq -r .id)
	stop
	cp -a "$broker" "$WS_TOP/aside"
	mount -t tmpfs -o size=8m,mode=0700 tmpfs "$broker" || skip "no mounts here"
	chown --reference="$WS_TOP/aside" "$broker"
	cp -a "$WS_TOP/aside/." "$broker/"
	workspace_start
	dd if=/dev/zero of="$broker/ballast" bs=64k count=108 status=none 2>/dev/null || true
	local long ids=() i
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	for i in $(seq 40); do
		run --separate-stderr agent_safe submit --new --cwd "$WS/proj" -- echo "$long" "$i"
		[ "$status" = 0 ] || { text=$stderr; break; }
		ids+=("$(jq -r .id <<<"$output")")
	done
	echo "${#ids[@]} $text"
	[ -n "$text" ]
	[ "${#ids[@]}" -gt 0 ]
	jq -e '.error.code == "storage_error" and (.error.message | test("full"))' <<<"$text"
	rm "$broker/ballast"
	for id in "$before" "${ids[@]}"; do agent_safe show "$id" | jq -e .id >/dev/null; done
	agent_safe list --all | jq -e --argjson n "${#ids[@]}" 'length == $n + 1'
	run_job true | jq -e '.status == "succeeded"'
	agent_safe db check | jq -e .sound
	agent_safe audit-verify | jq -e .valid
	stop
	umount "$broker"
}
