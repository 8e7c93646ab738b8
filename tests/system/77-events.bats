#!/usr/bin/env bats
# Every name that a record can have, one scenario each: the real programs write it, with the members
# that agent-safe-audit(7) promises.  The last test holds the list against that page.

bats_require_minimum_version 1.5.0
load ../support/workspace
load ../support/events
load ../support/courier
load ../support/procs

setup() {
	need_root
	workspace_make
	workspace_start
}
teardown() {
	if mountpoint -q "$WS_STATE/audit"; then
		workspace_stop
		umount "$WS_STATE/audit"
	fi
	workspace_clean
}

# --- the life of a job ---

@test "job.proposed, job.approved, job.dispatch, exec.intent, exec.start, exec.exit, job.finished: a run that succeeds" {
	mark
	run_job true >/dev/null
	emits job.proposed job who key command cwd timeout max_attempts source 'label*' 'meta*' allowed reason 'spec_sha256*' 'hook*'
	one_is '.allowed and .who.uid == '"$WS_UID"' and .command == ["true"]'
	emits job.approved job who 'reason*' spec_sha256 expires_us self_approved 'policy_sha256*'
	one_is '.who.by == "tester" and .who.uid == 0 and (.self_approved | not)'
	emits job.dispatch job attempt slot spec_sha256
	emits exec.intent job attempt slot spec_sha256 argv cwd env_sha256 uid exe profile network policy_sha256 limits
	one_is '.exe.path == "/usr/bin/true" and (.exe.sha256 | length) == 64 and .profile == "default" and .network == "none" and
	    .limits.timeout_ms == 60000 and .limits.processes > 0'
	[ "$(jq -r .d.policy_sha256 "$SEEN")" = "$(sha256sum <"$WS/agent-safe-policy.json" | cut -c1-64)" ]
	emits exec.start job attempt slot time_us layers landlock_abi filter_sha256 landlock
	one_is '(.layers | index("landlock")) and (.layers | index("seccomp"))'
	emits exec.exit job attempt slot outcome exit_code signal stage error core_dumped leftovers forced capture_fault idle \
	    process_limit started_us ended_us duration_us user_us system_us max_rss_kb memory_peak layers 'denied*' \
	    'denied_sha256*' $STREAMS 'detail*'
	one_is '.outcome == "succeeded" and .exit_code == 0'
	emits job.finished job attempt outcome status 'error_class*' 'exit_code*' 'signal*' 'stage*' 'errno*' 'next_try_us*' stdout stderr
	agent_safe audit export --from "$FROM" | jq -r 'select(.src != "auditor") | .type' | paste -sd' ' >"$BATS_TEST_TMPDIR/order"
	[ "$(cat "$BATS_TEST_TMPDIR/order")" = \
	    'job.proposed job.approved job.queued job.dispatch exec.intent exec.start exec.output exec.exit job.finished' ]
}

@test "job.refused, job.denied, job.decision_refused, job.dry_run: what did not go on" {
	mark
	run agent_safe submit --new --cwd "$WS/proj" -- echo --password hunter2hunter2
	emits job.refused who code what 'rule*'
	one_is '.code == "sensitive_input" and .rule == "option_secret"'
	id=$(propose -- true)
	agent_safe deny "$id" --by ana --reason no >/dev/null
	emits job.denied job who 'reason*' 'spec_sha256*'
	run agent_safe approve "$id" --by ana
	emits job.decision_refused job who decision code reason
	id=$(approved -- true)
	agent_safe run "$id" >/dev/null
	emits job.dry_run job 'who*' allowed reason
}

@test "job.held, job.released, queue.paused, queue.resumed, job.cancelled, job.retry, job.pruned: an operator orders the queue" {
	id=$(approved -- true)
	mark
	agent_safe hold "$id" >/dev/null
	agent_safe release "$id" >/dev/null
	agent_safe hold >/dev/null
	agent_safe release >/dev/null
	agent_safe cancel "$id" >/dev/null
	agent_safe retry "$id" >/dev/null
	agent_safe cancel "$id" >/dev/null
	agent_safe prune --older-than 0 >/dev/null
	for name in job.held job.released job.cancelled job.retry; do see $name; done
	emits job.held job 'who*' status
	emits job.released job 'who*' status
	emits queue.paused 'who*'
	emits queue.resumed 'who*'
	emits job.cancelled job 'who*' status
	emits job.retry job 'who*' status
	one_is '.who.uid == 0 and .status == "queued"'
	emits job.pruned job 'who*' status runs
}

# $1: a job that writes "begun" in its directory; runs it in the background.
begin() {
	agent_safe run "$1" --execute >/dev/null 2>&1 3>&- &
	for _ in $(seq 200); do
		[ -e "$WS/proj/begun" ] && return
		sleep 0.1
	done
	return 1
}

@test "job.cancel_requested, exec.signal: a running job is told to end" {
	id=$(approved -- sh -c 'echo begun >begun; sleep 60')
	mark
	begin "$id"
	agent_safe cancel "$id" >/dev/null
	emits job.cancel_requested job 'who*' status
	emits exec.signal job attempt slot signal
	one_is '.signal == 15'
	wait || true
}

@test "exec.lost, job.lost: nobody knows how it ended" {
	id=$(approved -- sh -c 'echo begun >begun; sleep 60')
	mark
	begin "$id"
	kill -KILL "$(running "$WS_BIN/agent-safe-keeper" | head -n 1)"
	wait || true
	agent_safe wait "$id" --timeout 30 >/dev/null || true
	emits exec.lost job attempt slot detail
	emits job.lost job attempt started 'next_try_us*'
	one_is '.started'
}

@test "job.stale, job.expired, job.dead, job.policy, policy.loaded, policy.refused: what was approved is not what may run" {
	mark
	id=$(approved -- true)
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "approvals": { "expires_seconds": 1 },
	  "rules": [ { "program": "true" }, { "program": "echo" } ] }
	END
	agent_safe policy reload >/dev/null
	emits policy.loaded 'who*' policy_sha256 version rules roots
	run agent_safe run "$id" --execute
	emits job.stale job 'spec_sha256*' changes
	one_is '.changes == ["policy: its file"]'
	late=$(approved -- true)
	for _ in $(seq 100); do
		[ "$(agent_safe show "$late" | jq -r .approval_status)" != expired ] || break
		sleep 0.1
	done
	emits job.expired job expired_us 'spec_sha256*'
	sed 's/"expires_seconds": 1/"expires_seconds": 600/' "$WS/agent-safe-policy.json" >"$WS_TOP/longer"
	workspace_policy <"$WS_TOP/longer"
	agent_safe policy reload >/dev/null
	id=$(approved -- true)
	dead=$(approved -- echo dead)
	sed 's/, { "program": "echo" }//' "$WS_TOP/longer" | workspace_policy
	agent_safe policy reload >/dev/null
	run agent_safe run "$dead" --execute
	emits job.dead job 'who*' allowed reason
	echo '{' | workspace_policy
	run agent_safe policy reload
	emits policy.refused 'who*' reason
	agent_safe approve "$id" --by ana >/dev/null || true
	agent_safe serve --stop >/dev/null
	run agent_safe run "$id" --execute
	emits job.policy job 'who*' allowed reason
}

@test "job.imported, db.import, job.placed: jobs of the first system" {
	python3 - "$WS_TOP/first.db" "$WS/proj" <<-'END'
	import sqlite3, sys, uuid
	db = sqlite3.connect(sys.argv[1])
	db.execute("""create table jobs (id text primary key, idempotency_key text unique, command text, status text,
	  created_at real, updated_at real, available_at real, attempts int, max_attempts int, timeout int, cwd text,
	  lease_owner text, lease_until real, result text, error_class text, approval_status text, decided_by text,
	  decided_at real, decision_reason text, source text)""")
	db.execute("insert into jobs values (?,'k','[\"true\"]','queued',1.5,1.5,0,1,1,60,?,null,null,null,null,'pending',null,null,null,'cli')",
	           (str(uuid.uuid4()), sys.argv[2]))
	db.commit()
	END
	mark
	agent_safe import "$WS_TOP/first.db" >/dev/null
	emits job.imported job who key command cwd timeout max_attempts source
	emits db.import 'who*' imported known refused
	emits job.placed job 'who*' status
}

@test "db.resync, log.recover: an older database is put back, and the operator knows it" {
	agent_safe db backup "$WS_TOP/old.db" >/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	rm -f "$WS_STATE/broker/queue.db-wal"
	cat "$WS_TOP/old.db" >"$WS_STATE/broker/queue.db"
	agent_safe db resync --by ana >/dev/null
	emits db.resync by log_next_sn queue_next_sn dropped
	emits log.recover reason 'unsealed*' 'torn*' 'log_next_sn*' 'database_next_sn*'
	one_is '.reason == "db_resync"'
}

# --- of the auditor ---

@test "log.genesis, log.seal, log.segment, log.challenge, log.prune: a log that is kept" {
	run_job true >/dev/null
	agent_safe audit head --nonce "$(printf 'ab%.0s' $(seq 32))" >/dev/null
	emits log.genesis origin key
	emits log.seal n size root next sig
	emits log.challenge nonce
	agent_safe audit rotate >/dev/null
	emits log.segment after torn torn_sha256
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 >/dev/null
	emits log.prune from to head_hash root seals sn segments
}

@test "log.refused: the broker tells another story about a record that the log has" {
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	# What a broker would do that has lost the acknowledgement of its newest record, and the record's truth.
	python3 - "$WS_STATE" <<-'END'
	import glob, hashlib, json, sqlite3, sys
	lines = open(sorted(glob.glob(sys.argv[1] + "/audit/log/seg-*"))[-1], "rb").read().splitlines(True)
	mine = [line for line in lines if json.loads(line)["src"] == "broker"]
	last, before = json.loads(mine[-1]), mine[-2]
	db = sqlite3.connect(sys.argv[1] + "/broker/queue.db")
	db.execute("update outbox set acked_seq = null, d = cast('{\"other\":1}' as blob) where sn = ?", (last["sn"],))
	db.execute("update meta set acked_sn = ?, acked_seq = ?, acked_hash = ?",
	           (last["sn"] - 1, json.loads(before)["seq"], hashlib.sha256(before).digest()))
	db.commit()
	db.close()
	END
	workspace_start || true
	emits log.refused src code 'sn*' 'seq*' 'body_sha256*' 'job*' 'attempt*' 'spec_sha256*'
	one_is '.src == "broker" and .code == "equivocation" and (.body_sha256 | length) == 64'
}

@test "log.space: the log's filesystem is nearly full" {
	agent_safe serve --stop >/dev/null
	chattr -R -a "$WS_STATE/audit" 2>/dev/null || true
	cp -a "$WS_STATE/audit" "$WS_TOP/aside"
	mount -t tmpfs -o size=12m,mode=0711 tmpfs "$WS_STATE/audit" || skip "no mounts here"
	chown --reference="$WS_TOP/aside" "$WS_STATE/audit"
	cp -a "$WS_TOP/aside/." "$WS_STATE/audit/"
	dd if=/dev/zero of="$WS_STATE/audit/ballast" bs=64k status=none 2>/dev/null || true
	workspace_start
	emits log.space state room
	one_is '.state == "low"'
	agent_safe serve --stop >/dev/null
	umount "$WS_STATE/audit"
}

@test "log.rekey: a log that has lost its key goes on by the operator's word" {
	key=$(agent_safe status | jq -er .public_key)
	verify=$WS_BIN/agent-safe-audit-verify
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	"$verify" --make-operator-key "$WS_TOP/secret" >"$WS_STATE/audit/key/operator"
	rm "$WS_STATE/audit/key/key.state"
	run agent_safe status
	"$verify" --key "$key" --sign-rekey "$WS_STATE/audit/key/rekey.request" --secret "$WS_TOP/secret" --reason 'disk died' \
	    "$WS_STATE/audit/log" >"$WS_STATE/audit/key/rekey.statement"
	workspace_start
	emits log.rekey size head key reason sig
}

@test "log.cosign, exec.refused: a witness has seen a checkpoint, and without it nothing runs" {
	workspace_clean
	courier_setup
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 2 }'
	courier_start
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "good" and .witnesses[0].cosigned > 8'
	emits log.cosign witness size cosignature
	courier_mode w1 'exit 7'
	run run_job echo never
	emits exec.refused job attempt slot stage error
	one_is '.stage == "audit" and .error == 110'
}

# --- the list ---

# Names and members of agent-safe-audit(7), one "name member member ..." a line; several names share a paragraph.
page_names() { sed -n '/^\.Sh EVENTS/,/^\.Sh REMOVAL/p' "$ROOT/packaging/man/agent-safe-audit.7" | grep '^\.It Cm ' | grep -oE '[a-z_]+\.[a-z_]+'; }

@test "every name of agent-safe-audit(7) has its scenario here, and no other has" {
	grep -ohE '^[[:space:]]*emits [a-z_]+\.[a-z_]+' "$ROOT"/tests/system/77-*.bats | awk '{ print $2 }' | sort -u >"$BATS_TEST_TMPDIR/here"
	page_names | sort -u >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/page")" -gt 45 ]
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/here"
	# Each name of one paragraph stands on a line of its own or with its like: none is there twice.
	[ "$(page_names | sort | uniq -d)" = "" ]
}
