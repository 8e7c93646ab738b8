#!/usr/bin/env bats
# Keeping a log: segments on request, old ones removed, checkpoints, proofs, memory, stored output, other formats.

load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
	ID=$(run_job echo one | jq -er .id)
	run_job false >/dev/null || true
	KEY=$(agent_safe status | jq -er .public_key)
	LOG=$WS_STATE/audit/log
	VERIFY=$WS_BIN/agent-safe-audit-verify
}

teardown() { workspace_clean; }

segments() { find "$LOG" -name 'seg-*' | sort; }

@test "audit rotate begins a segment, and the log verifies across it" {
	agent_safe audit rotate | jq -e '.size > 5'
	[ "$(segments | wc -l)" = 2 ]
	run_job true >/dev/null
	agent_safe audit-verify | jq -e '.valid and .segments == 2'
}

@test "audit prune removes what is old; what stays verifies from the first key on, and a restart goes on with it" {
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 | jq -e '.segments == 1'
	[ "$(segments | wc -l)" = 1 ]
	lsattr -d "$LOG" | cut -d' ' -f1 | grep -q a
	agent_safe audit-verify | jq -e '.valid and .key_trusted'
	agent_safe audit export | jq -es 'any(.type == "log.prune") and (.[0].seq > 0)'
	agent_safe serve --stop >/dev/null
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 | jq -e '.segments == 1'
	agent_safe audit-verify | jq -e '.valid and .key_trusted'
	"$VERIFY" --key "$KEY" "$LOG"
}

@test "audit prune: nothing to remove is said, and a wrong time is refused" {
	agent_safe audit prune --before 99999999 | jq -e '.segments == 0'
	[ "$(segments | wc -l)" = 1 ]
	agent_safe audit rotate >/dev/null
	agent_safe audit prune --before 2001-01-01T00:00:00Z | jq -e '.segments == 0'
	run agent_safe audit prune --before yesterday
	[ "$status" = 2 ]
	run agent_safe audit prune
	[ "$status" = 2 ]
}

@test "audit prune and audit compress where nothing can be written: nothing goes, it is said, and it can be done later" {
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	segments >"$WS_TOP/before"
	# As on a full disk: each write fails.
	for command in "compress" "prune --before 99999999"; do
		run bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@"' - "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" \
		    audit $command
		[ "$status" = 2 ]
		[[ $output == *storage_error* ]]
		segments | cmp - "$WS_TOP/before"
		"$VERIFY" --key "$KEY" "$LOG" | grep -v 'not part of the log'
	done
	agent_safe audit compress | jq -e '.segments == 2'
	agent_safe audit prune --before 99999999 | jq -e '.segments == 2'
	"$VERIFY" --key "$KEY" "$LOG"
}

@test "audit prune keeps what an approved job still refers to" {
	id=$(propose -- true)
	agent_safe approve "$id" --by ana >/dev/null
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 | jq -e '.segments == 0'
	agent_safe run "$id" --execute | jq -e '.status == "succeeded"'
	agent_safe audit prune --before 99999999 | jq -e '.segments == 1'
}

@test "segments that were removed by hand are missed, at a check and at a start" {
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	chattr -R -a "$LOG"
	"$VERIFY" --key "$KEY" --anchors "$(segments | tail -n 1 | grep -o '[0-9]\{20\}' | sed 's/^0*//')" "$LOG" >"$WS_TOP/anchors"
	mv "$(segments | head -n 1)" "$WS_TOP/gone"
	run "$VERIFY" --key "$KEY" "$LOG"
	[ "$status" = 4 ]
	# Right anchors do not help: no log.prune tells of it.
	cp "$WS_TOP/anchors" "$LOG/anchors.jsonl"
	chown --reference="$LOG" "$LOG/anchors.jsonl"
	run "$VERIFY" --key "$KEY" "$LOG"
	[ "$status" = 4 ]
	[[ $output == *"no log.prune tells it"* ]]
	run agent_safe status
	[ "$status" -ne 0 ]
}

@test "audit prove: the records of a job hold with the first key alone, a changed one does not" {
	agent_safe audit prove "$ID" >"$WS_TOP/proof"
	"$VERIFY" --proof "$WS_TOP/proof" --key "$KEY" >"$WS_TOP/proven"
	jq -r .type "$WS_TOP/proven" | paste -sd' ' | grep -qx \
	    'job.proposed job.approved job.queued job.dispatch exec.intent exec.start exec.output exec.exit job.finished'
	sed 's/"exit_code":0/"exit_code":1/' "$WS_TOP/proof" >"$WS_TOP/false"
	run "$VERIFY" --proof "$WS_TOP/false" --key "$KEY"
	[ "$status" = 4 ]
	run "$VERIFY" --proof "$WS_TOP/proof" --key AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
	[ "$status" = 4 ]
	# What is printed is what was checked: the file is read once, and may be a pipe.
	"$VERIFY" --proof <(cat "$WS_TOP/proof") --key "$KEY" >"$WS_TOP/piped" 2>/dev/null
	cmp "$WS_TOP/piped" "$WS_TOP/proven"
	# A line longer than any takes no more memory than one.
	run bash -c 'ulimit -v 100000; { cat "$1"; head -c 300000000 /dev/zero; } | "$2" --proof /dev/stdin --key "$3"' - \
	    "$WS_TOP/proof" "$VERIFY" "$KEY"
	[ "$status" = 4 ]
}

@test "a checkpoint is a note that openssl believes" {
	command -v openssl >/dev/null || skip "no openssl"
	agent_safe audit note >"$WS_TOP/note" 2>/dev/null
	sed '/^$/,$d' "$WS_TOP/note" >"$WS_TOP/text"
	tail -n 1 "$WS_TOP/note" | awk '{ print $NF }' | base64 -d | tail -c 64 >"$WS_TOP/signature"
	# The key of that seal is what the seal before announced.
	n=$(sed -n 's/^seal \([0-9]*\) .*/\1/p' "$WS_TOP/note")
	agent_safe audit export | jq -r "select(.type == \"log.seal\" and .d.n == $n - 1) | .d.next" | base64 -d >"$WS_TOP/key"
	{ printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; cat "$WS_TOP/key"; } >"$WS_TOP/key.der"
	openssl pkeyutl -verify -rawin -pubin -inkey "$WS_TOP/key.der" -keyform DER -in "$WS_TOP/text" -sigfile "$WS_TOP/signature"
}

@test "--remember: the head is kept when the log is valid, and a log cut behind it is found" {
	agent_safe audit-verify --remember "$WS_TOP/head" | jq -e .valid
	cp "$WS_TOP/head" "$WS_TOP/before"
	run_job true >/dev/null
	agent_safe audit-verify --remember "$WS_TOP/head" | jq -e '.valid and .head_known'
	refute cmp -s "$WS_TOP/head" "$WS_TOP/before"
	cp -r "$LOG" "$WS_TOP/log"
	keep=$(grep -n '"type":"log.seal"' "$WS_TOP"/log/seg-* | tail -n 6 | head -n 1 | cut -d: -f1)
	head -n "$keep" "$WS_TOP"/log/seg-* >"$WS_TOP/cut"
	cat "$WS_TOP/cut" >"$(echo "$WS_TOP"/log/seg-*)"
	cp "$WS_TOP/head" "$WS_TOP/before"
	run "$VERIFY" --remember "$WS_TOP/head" "$WS_TOP/log"
	[ "$status" = 5 ]
	cmp "$WS_TOP/head" "$WS_TOP/before"
}

@test "a live log must answer a challenge: an old copy of it does not" {
	nonce=$(printf 'ab%.0s' $(seq 32))
	cp -r "$LOG" "$WS_TOP/old"
	agent_safe audit head --nonce "$nonce" | jq -e '.size > 5'
	"$VERIFY" --challenge "$nonce" --key "$KEY" "$LOG"
	run "$VERIFY" --challenge "$nonce" --key "$KEY" "$WS_TOP/old"
	[ "$status" = 6 ]
}

@test "stored output is compared with its digest: a change is named by its record's line" {
	agent_safe audit-verify --runs "$WS_STATE/runs" | jq -e .valid
	out=$(find "$WS_STATE/runs" -path "*$ID*" -name out)
	printf two >"$out"
	run agent_safe audit-verify --runs "$WS_STATE/runs"
	[ "$status" = 4 ]
	jq -e '.reason == "the output that is stored is not the one that was recorded" and .line > 5' <<<"${lines[0]}"
}

@test "export as ECS and OCSF: one event per line, each with the raw line and its true hash" {
	agent_safe audit export --format ecs >"$WS_TOP/ecs"
	agent_safe audit export --format ocsf >"$WS_TOP/ocsf"
	jq -e -s 'all(."@timestamp" and .event.hash and .event.original and .event.sequence >= 0)' "$WS_TOP/ecs"
	jq -e -s 'map(select(.event.action == "exec.exit")) | .[0].event.outcome == "success" and .[1].event.outcome == "failure"' "$WS_TOP/ecs"
	jq -e -s 'all(.class_uid * 100 + .activity_id == .type_uid and .time > 1700000000000)' "$WS_TOP/ocsf"
	jq -e -s 'map(select(.class_uid == 1007) | .activity_id) == [1, 2, 1, 2]' "$WS_TOP/ocsf"
	jq -r '.event.original, .event.hash' "$WS_TOP/ecs" | while IFS= read -r line && read -r hash; do
		[ "$(printf '%s\n' "$line" | sha256sum | cut -c1-64)" = "$hash" ] || exit 1
	done
	run agent_safe audit export --format leef
	[ "$status" = 2 ]
}

@test "audit show of one job is its timeline" {
	agent_safe -o table audit show "$ID" >"$WS_TOP/shown"
	[ "$(wc -l <"$WS_TOP/shown")" = 9 ]
	grep -q 'who.by=tester' "$WS_TOP/shown"
	agent_safe audit show "$ID" >"$WS_TOP/lines"
	refute grep -qv "$ID" "$WS_TOP/lines"
	agent_safe audit export --from 5 | head -n 1 | jq -e '.seq == 5'
}

@test "a job that the log has nothing of, or nothing any more, is said so: exit 2" {
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	agent_safe audit prune --before 99999999 >"$WS_TOP/pruned" 2>&1
	refute grep -q 'not part of the log' "$WS_TOP/pruned"
	for id in "$ID" 00000000-0000-0000-0000-000000000000; do
		run agent_safe audit show "$id"
		[ "$status" = 2 ]
		[[ $output == *job_not_found* ]]
		run agent_safe audit prove "$id"
		[ "$status" = 2 ]
		[[ $output == *"no record of this job"* ]]
	done
}

# Reads CEF as a collector does: seven header fields, then keys; prints one JSON object per line.
read_cef() {
	python3 -c '
import json, re, sys
for line in sys.stdin.buffer.read().decode().split("\n")[:-1]:
    head, at = [], 0
    for part in re.finditer(r"((?:[^\\|]|\\.)*)\|", line):
        head.append(re.sub(r"\\(.)", r"\1", part.group(1)))
        at = part.end()
        if len(head) == 7:
            break
    assert len(head) == 7 and head[0] == "CEF:0", line
    found = re.findall(r" ([A-Za-z0-9]+)=((?:[^\\=]|\\.)*?)(?= [A-Za-z0-9]+=|$)", " " + line[at:].lstrip())
    fields = {key: re.sub(r"\\(.)", r"\1", value) for key, value in found}
    assert len(fields) == len(found), line
    print(json.dumps({"type": head[4], "severity": int(head[6]), **fields}))'
}

@test "export as CEF: hostile arguments end no field, no value and no line, and the raw line comes back" {
	odd=$'a=b|c\\|d\\=e cs1=forged\nCEF:0|x|y\r\e[2J "q" \xff'
	agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- echo "$odd" $'suser=root|x' '\' '=' >/dev/null
	run_job echo "$odd" >/dev/null
	agent_safe audit export --format cef >"$WS_TOP/cef"
	agent_safe audit export >"$WS_TOP/raw"
	refute grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$WS_TOP/cef"
	read_cef <"$WS_TOP/cef" >"$WS_TOP/read"
	head -n "$(wc -l <"$WS_TOP/cef")" "$WS_TOP/raw" >"$WS_TOP/lines"
	jq -r .rawEvent "$WS_TOP/read" | cmp - "$WS_TOP/lines"
	jq -es 'all(.cs1Label == "lineSha256" and (.externalId | tonumber) >= 0)' "$WS_TOP/read"
	jq -r '.rawEvent, .cs1' "$WS_TOP/read" | while IFS= read -r line && read -r hash; do
		[ "$(printf '%s\n' "$line" | sha256sum | cut -c1-64)" = "$hash" ] || exit 1
	done
	jq -es 'map(select(.type == "job.proposed")) | .[-2].suid == "'"$WS_UID"'" and (.[-2].cs3 | fromjson | .[2:]) == ["suser=root|x", "\\", "="]' "$WS_TOP/read"
	jq -es 'map(select(.type == "exec.exit")) | .[0].outcome == "success" and .[1].outcome == "failure" and .[1].cn2 == "1" and .[1].severity == 5' "$WS_TOP/read"
}
