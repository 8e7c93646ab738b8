#!/usr/bin/env bats
# Checkpoints leave the host: export, witnesses, and runs that wait for them.

load ../support/workspace
load ../support/courier

setup() {
	need_root
	courier_setup
}

teardown() { workspace_clean; }

@test "a policy's commands run only after somebody has allowed them, and others not by that" {
	courier_policy '{ export_command: $keep }'
	run agent_safe status
	[ "$status" = 2 ]
	jq -e '.error.code == "not_permitted" and (.error.message | contains("--allow-commands"))' <<<"$output"
	[ ! -e "$OUT/asked" ]
	courier_start
	agent_safe status | jq -e '.pids.courier > 0'
	agent_safe serve --stop >/dev/null
	agent_safe status | jq -e '.pids.courier > 0'
	agent_safe serve --stop >/dev/null
	courier_policy '{ export_command: ($keep + ["more"]) }'
	run agent_safe status
	[ "$status" = 2 ]
}

@test "without the section there is no courier" {
	agent_safe status | jq -e '.pids.courier == null and .witnesses == [] and (.log_vkey | length > 60)'
	[ ! -e "$WS_STATE/courier" ]
}

@test "each new seal goes out as a signed note, and the kept notes find a log that was cut" {
	courier_policy '{ export_command: $keep }'
	courier_start
	courier_await '.export.state == "good"'
	run_job true >/dev/null
	courier_await '.export.size > 8'
	agent_safe serve --stop >/dev/null
	# The newest note: its text is what the seal has signed, its second signature the log's own key's.
	awk -v o="$(jq -r .origin "$WS_TOP/first")" '$0 == o { n = "" } { n = n $0 "\n" } END { printf "%s", n }' "$OUT/exported" >"$WS_TOP/note"
	grep -q "^— $(jq -r .origin "$WS_TOP/first")/fs/[0-9]* " "$WS_TOP/note"
	"$BUILD_DIR/agent-safe-audit-verify" --note "$WS_TOP/note" "$WS_STATE/audit/log"
	mkdir "$WS_TOP/cut"
	size=$(sed -n 2p "$WS_TOP/note")
	head -n $((size - 3)) "$(ls "$WS_STATE"/audit/log/seg-* | head -1)" >"$WS_TOP/cut/seg-00000000000000000000.jsonl"
	run "$BUILD_DIR/agent-safe-audit-verify" --json --note "$WS_TOP/note" "$WS_TOP/cut"
	[ "$status" = 5 ]
}

@test "witnesses cosign, the log has it on record, and the verifier checks it with their keys" {
	courier_policy '{ witnesses: [$w1, $w2] }'
	courier_start
	run_job true | jq -e '.warnings == []'
	courier_await '[.witnesses[] | .state == "good" and .cosigned > 8] == [true, true]'
	agent_safe audit-verify --witness "$VKEY_w1" --witness "$VKEY_w2" | jq -e '.valid and .cosigned > 0'
	agent_safe serve --stop >/dev/null
	[ "$(log_types | grep -c log.cosign)" -ge 2 ]
	verify=("$BUILD_DIR/agent-safe-audit-verify" --json --key "$(jq -r .public_key "$WS_TOP/first")")
	"${verify[@]}" --witness "$VKEY_w1" --witness "$VKEY_w2" "$WS_STATE/audit/log" | jq -e '.valid and .cosigned > 8'
	printf 'log %s\nwitness a %s\nwitness\tb  %s\ngroup both all a b\nquorum both\n' "$LOG_VKEY" "$VKEY_w1" "$VKEY_w2" >"$WS_TOP/policy"
	"${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log" | jq -e '.valid and (.witnesses | length == 2)'
	# Groups of groups; a witness that the log has nothing of leaves it unwitnessed where it is needed.
	more=$("$WS_TOP/witness" init "$WS_TOP/w3" example.org/w3)
	printf 'witness a %s\nwitness b %s\nwitness c %s\ngroup ab all a b\ngroup top %s ab c\nquorum top\n' \
	    "$VKEY_w1" "$VKEY_w2" "$more" any >"$WS_TOP/policy"
	"${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log" | jq -e '.valid and .cosigned > 8'
	sed -i 's/ top any/ top all/' "$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log"
	[ "$status" = 6 ]
	jq -e '.verdict == "unwitnessed" and .cosigned == 0' <<<"$output"
	# A policy about other logs says nothing of this one; a group of nobody, a NUL and a file that is too long say nothing.
	printf 'log other.example/x+00000000+AAAA\nwitness a %s\nquorum a\n' "$VKEY_w1" >"$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log"
	[ "$status" = 4 ]
	jq -e '.reason == "genesis: a log that the policy does not name"' <<<"$output"
	printf 'witness a %s\ngroup g any\nquorum g\n' "$VKEY_w1" >"$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log"
	[ "$status" = 2 ]
	[[ $output == *": line 2: "* ]]
	printf 'quorum none\n\0witness a %s\n' "$VKEY_w1" >"$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log"
	[ "$status" = 2 ]
	{ printf 'witness a %s\nquorum a\n' "$VKEY_w1"; head -c 70000 /dev/zero | tr '\0' '#'; } >"$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" "$WS_STATE/audit/log"
	[ "$status" = 2 ]
	printf 'witness a %s\nquorum a\n' "$VKEY_w1" >"$WS_TOP/policy"
	run "${verify[@]}" --witness-policy "$WS_TOP/policy" --witness "$VKEY_w2" "$WS_STATE/audit/log"
	[ "$status" = 2 ]
	# What a witness keeps is a note, believed by its cosignature.
	"${verify[@]}" --witness "$VKEY_w1" --quorum 1 --note "$(echo "$OUT"/w1/cosigned/*)" "$WS_STATE/audit/log"
	sed 's/^\(— example.org\/w1 .\{40\}\)A/\1B/; t; s/^\(— example.org\/w1 .\{40\}\)./\1A/' "$OUT"/w1/cosigned/* >"$WS_TOP/forged"
	run "${verify[@]}" --witness "$VKEY_w1" --note "$WS_TOP/forged" "$WS_STATE/audit/log"
	[ "$status" = 2 ]
	# Nobody asks a proof, which has no cosignatures, for witnesses without being told so.
	"${verify[@]}" --prove "$(jq -r .d.job "$WS_STATE"/audit/log/seg-*.jsonl | grep -m 1 -)" "$WS_STATE/audit/log" >"$WS_TOP/proof"
	run "${verify[@]}" --witness "$VKEY_w1" --proof "$WS_TOP/proof"
	[ "$status" = 2 ]
	"${verify[@]}" --witness "$VKEY_w1" --note "$(echo "$OUT"/w1/cosigned/*)" --proof "$WS_TOP/proof"
}

@test "a cosignature on record that another key made is tampering, one by strangers is nothing" {
	courier_policy '{ witnesses: [$w1] }'
	courier_start
	courier_await '.witnesses[0].state == "good"'
	agent_safe serve --stop >/dev/null
	other=$("$WS_TOP/witness" init "$WS_TOP/w3" example.org/w1)
	verify=("$BUILD_DIR/agent-safe-audit-verify" --json)
	run "${verify[@]}" --witness "$other" "$WS_STATE/audit/log"
	[ "$status" = 4 ]
	jq -e '.reason | contains("cosign")' <<<"$output"
	run "${verify[@]}" --witness "$VKEY_w2" "$WS_STATE/audit/log"
	[ "$status" = 6 ]
	jq -e '.verdict == "unwitnessed" and .cosigned == 0' <<<"$output"
}

@test "cosignature, seal, export: the circle is broken, an idle log asks nobody" {
	courier_policy '{ export_command: $keep, witnesses: [$w1, $w2] }'
	courier_start
	run_job true >/dev/null
	courier_await '[.witnesses[].state, .export.state] | all(. == "good")'
	sleep 2.5
	before=$(wc -l <"$OUT/asked")
	lines=$(cat "$WS_STATE"/audit/log/seg-* | wc -l)
	sleep 4
	[ "$(wc -l <"$OUT/asked")" = "$before" ]
	[ "$(cat "$WS_STATE"/audit/log/seg-* | wc -l)" -le $((lines + 2)) ]
}

@test "many jobs are few runs of a command: the newest wins" {
	courier_policy '{ export_command: $keep, witnesses: [$w1] }'
	courier_mode w1 'sleep 0.5'
	courier_start
	for i in $(seq 12); do run_job true >/dev/null; done
	[ "$(grep -c w1 "$OUT/asked")" -lt 12 ]
	courier_mode w1
	courier_await '.witnesses[0].cosigned > 80'
	agent_safe audit-verify | jq -e .valid
}

@test "require exec: the permit comes after the cosignature over its intent" {
	courier_policy '{ witnesses: [$w1, $w2], require: "exec", deadline_seconds: 20 }'
	courier_start
	run_job true | jq -e '.status == "succeeded"'
	run_job true | jq -e '.status == "succeeded"'
	agent_safe serve --stop >/dev/null
	cat "$WS_STATE"/audit/log/seg-* | jq -es '
	    [.[] | select(.type == "exec.intent" or .type == "exec.start" or .type == "log.cosign")] |
	    [.[] | select(.type == "exec.intent")] as $intents | . as $all |
	    ($intents | length) == 2 and all($intents[]; . as $i |
	        (first($all[] | select(.type == "exec.start" and .d.job == $i.d.job)).seq) as $start |
	        [$all[] | select(.type == "log.cosign" and .seq > $i.seq and .seq < $start and .d.size > $i.seq).d.witness] |
	        unique == ["example.org/w1", "example.org/w2"])'
}

@test "require exec: without the quorum a run is refused, and runs when the witness is back" {
	courier_policy '{ witnesses: [$w1, $w2], require: "exec", deadline_seconds: 2 }'
	courier_mode w2 'exit 7'
	courier_start
	run run_job echo never
	[ "$status" = 1 ]
	jq -e '.status == "failed" and .error_class == "spawn_error" and (.warnings | any(contains("example.org/w2")))' <<<"$output"
	jq -e '.result | .stage == "audit" and .errno == 110 and (.error | contains("no quorum of witnesses"))' <<<"$output"
	log_types | grep -q '^exec.refused'
	refute grep -q '^exec.start' <(log_types)
	courier_mode w2
	run_job echo now | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

@test "require exec: a quorum of one of two is enough" {
	courier_policy '{ witnesses: [$w1, $w2], quorum: 1, require: "exec", deadline_seconds: 10 }'
	courier_mode w2 'sleep 60'
	courier_start
	run_job true | jq -e '.status == "succeeded"'
}

@test "require exec: no courier, no permit; require report: work goes on and it is said" {
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 1 }'
	courier_start
	kill -KILL "$(agent_safe status | jq -er .pids.courier)"
	courier_await '.witnesses[0].state == "courier_gone"'
	run run_job true
	[ "$status" = 1 ]
	agent_safe serve --stop >/dev/null
	courier_policy '{ witnesses: [$w1], require: "report" }'
	courier_start
	courier_await '.witnesses[0].state == "good"'
	kill -KILL "$(agent_safe status | jq -er .pids.courier)"
	courier_await '.witnesses[0].state == "courier_gone"'
	run_job true | jq -e '.status == "succeeded" and (.warnings | any(contains("courier has ended")))'
	agent_safe audit-verify | jq -e .valid
	agent_safe serve --stop >/dev/null
	workspace_start
	courier_await '.witnesses[0].state == "good"'
}

@test "a command that hangs, prints megabytes, fails, lies or is killed stops nothing, and heals" {
	courier_policy '{ witnesses: [$w1], deadline_seconds: 1 }'
	courier_start
	local mode
	for mode in 'sleep 100' 'head -c 3000000 /dev/zero; exit 0' 'head -c 3000000 /dev/zero >&2' 'exit 9' 'kill -KILL $$' \
	    'echo garbage; exit 0' 'exit 0' '(sleep 100 & sleep 100)'; do
		courier_mode w1 "$mode"
		run_job true | jq -e '.status == "succeeded"'
		courier_await '.witnesses[0].state | . == "failing" or . == "wrong_answer"'
		courier_mode w1
		courier_await '.witnesses[0].state == "good"'
	done
	agent_safe status | jq -e '.pids.courier as $p | .pids | length == 4'
	# Nothing of them is left.
	refute pgrep -u "$COURIER_UID" sleep
	agent_safe audit-verify | jq -e .valid
}

@test "an answer for what another witness, or nobody, has signed is no cosignature" {
	courier_policy '{ witnesses: [$w1, $w2], require: "exec", deadline_seconds: 2, quorum: 2 }'
	courier_mode w2 "exec $WS_TOP/witness add $OUT/w1b"
	cp -a "$OUT/w1" "$OUT/w1b"
	courier_start
	run run_job true
	[ "$status" = 1 ]
	[ "$(witness_state w2)" = wrong_answer ]
}

@test "rollback drill: state, log and key put back together are found by the witness" {
	courier_policy '{ witnesses: [$w1], require: "exec", deadline_seconds: 2 }'
	courier_start
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	chattr -R -a "$WS_STATE/audit"
	cp -a "$WS_STATE" "$WS_TOP/snapshot"
	courier_start
	run_job true >/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	far=$(cosigned w1)
	chattr -R -a "$WS_STATE/audit"
	rm -rf "$WS_STATE"
	mv "$WS_TOP/snapshot" "$WS_STATE"
	# On this host alone all is well: log, key and database agree.
	"$BUILD_DIR/agent-safe-audit-verify" --key "$(jq -r .public_key "$WS_TOP/first")" "$WS_STATE/audit/log"
	courier_start
	courier_await '.witnesses[0].state == "ahead"'
	run run_job true
	[ "$status" = 1 ]
	jq -e '.warnings | any(contains("put back"))' <<<"$output"
	# What the witness has kept proves it, offline, with public keys only.
	agent_safe serve --stop >/dev/null
	run "$BUILD_DIR/agent-safe-audit-verify" --json --witness "$VKEY_w1" --note "$(echo "$OUT"/w1/cosigned/*)" "$WS_STATE/audit/log"
	[ "$status" = 5 ]
	# And when the other past has grown longer than the true one, it is a fork.
	for i in $(seq 12); do agent_safe list >/dev/null; propose -- true >/dev/null; done
	courier_await ".witnesses[0].state == \"forked\""
	[ "$(cosigned w1)" = "$far" ]
	refute run_job true
	agent_safe serve --stop >/dev/null
	run "$BUILD_DIR/agent-safe-audit-verify" --json --witness "$VKEY_w1" --note "$(echo "$OUT"/w1/cosigned/*)" "$WS_STATE/audit/log"
	[ "$status" = 5 ]
	jq -e '.verdict == "forked"' <<<"$output"
}

@test "a witness that lost its state is cosigned to from the beginning again, one that is further on from there" {
	courier_policy '{ witnesses: [$w1] }'
	courier_start
	run_job true >/dev/null
	courier_await '.witnesses[0].cosigned > 8'
	rm -rf "$OUT/w1/cosigned"
	run_job true >/dev/null
	courier_await '.witnesses[0].cosigned > 16'
	[ "$(cosigned w1)" -gt 16 ]
	# A restart begins with what is on record, which may be older than what was cosigned.
	agent_safe serve --stop >/dev/null
	courier_start
	run_job true >/dev/null
	courier_await '.witnesses[0].cosigned > 24'
	agent_safe audit-verify | jq -e .valid
}

@test "the courier: a uid of its own, no capability, a filter, a folder of its own, nothing of the trio's" {
	courier_policy '{ export_command: $keep }'
	courier_start
	courier_await '.export.state == "good"'
	pid=$(agent_safe status | jq -er .pids.courier)
	[ "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$pid/status")" = "$COURIER_UID $COURIER_UID $COURIER_UID $COURIER_UID" ]
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		grep -qP "^$set:\t0{16}$" "/proc/$pid/status"
	done
	grep -qP '^NoNewPrivs:\t1' "/proc/$pid/status"
	grep -qP '^Seccomp:\t2' "/proc/$pid/status"
	# What it starts has the same, an empty environment, and no descriptor but its own three.
	courier_mode export "env >$OUT/env; ls -l /proc/self/fd >$OUT/fds; grep -E 'NoNewPrivs|Seccomp:|CapBnd' /proc/self/status >$OUT/status; unshare -U true 2>$OUT/unshare || :"
	run_job true >/dev/null
	wait_until 5 test -s "$OUT/unshare"
	[ "$(grep -vE '^(PATH|HOME|PWD|OLDPWD|SHLVL|_)=' "$OUT/env" | wc -l)" = 0 ]
	grep -q "^HOME=$WS_STATE/courier$" "$OUT/env"
	[ "$(grep -c -- '->' "$OUT/fds")" -le 4 ]
	grep -qP '^Seccomp:\t2' "$OUT/status"
	grep -q 'not permitted' "$OUT/unshare"
}

@test "root's courier starts only what root alone can change" {
	printf '#!/bin/sh\ncat >/dev/null\n' >"$WS_TOP/mine"
	chmod 755 "$WS_TOP/mine"
	courier_policy '{ export_command: ["'"$WS_TOP"'/mine"] }'
	agent_safe check-policy | jq -e '.warnings | any(contains("others than root can change it"))'
	courier_start
	courier_await '.export.state == "failing" and .export.last == "unstarted"'
	grep -q 'others than root can change it' "$WS_STATE/trio.log"
}

@test "doctor and status name who is behind" {
	courier_policy '{ witnesses: [$w1, $w2] }'
	courier_mode w1 'echo "no route to host" >&2; exit 255'
	courier_start
	courier_await '.witnesses[0].state == "failing" and .witnesses[1].state == "good"'
	agent_safe status | jq -e '.warnings | length == 1 and (.[0] | contains("example.org/w1"))'
	agent_safe doctor | jq -e '[.checks[] | select(.name | startswith("witness")) | .state] == ["less", "ok"]'
	grep -q 'exit status 255: no route to host' "$WS_STATE/trio.log"
}

# Lines enough that no leaf of the beginning is in memory: each challenge is two.
many_lines() {
	python3 - "$WS_STATE/control.sock" "$1" <<-'END'
	import json, socket, sys
	peer = socket.socket(socket.AF_UNIX)
	peer.connect(sys.argv[1])
	lines = peer.makefile("rb")
	for n in range(int(sys.argv[2])):
	    peer.send(b'{"jsonrpc":"2.0","id":1,"method":"audit.head","params":{"nonce":"%064x"}}\n' % n)
	    answer = json.loads(lines.readline())
	    assert "result" in answer, answer
	END
}

@test "a proof from far back: the old lines are read again, also from a compressed segment, by the confined auditor" {
	courier_policy '{ witnesses: [$w1] }'
	courier_start
	run_job true >/dev/null
	courier_await '.witnesses[0].state == "good" and .witnesses[0].cosigned > 8'
	cp -a "$OUT/w1/cosigned" "$WS_TOP/old"
	old=$(cosigned w1)
	many_lines 2400
	agent_safe audit rotate >/dev/null
	agent_safe audit compress >/dev/null
	ls "$WS_STATE"/audit/log/*.zst
	courier_await '.witnesses[0].cosigned > 4800'
	# The witness' disk is an old copy: it cannot know, and goes on from there.
	rm -rf "$OUT/w1/cosigned"
	cp -a "$WS_TOP/old" "$OUT/w1/cosigned"
	[ "$(cosigned w1)" = "$old" ]
	run_job true >/dev/null
	wait_until 10 cosigned_more_than 4810
	courier_await '.witnesses[0].state == "good"'
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}

cosigned_more_than() { [ "$(cosigned w1)" -gt "$1" ]; }

# FC-901: what was cut, taken out, swapped or made up, with the head that a witness has kept.
@test "with a witness' note every cut has its kind: last lines, first lines, all, swapped, changed, made up" {
	courier_policy '{ witnesses: [$w1] }'
	courier_start
	for i in 1 2 3; do propose -- true >/dev/null; done
	run_job true >/dev/null
	courier_await '.witnesses[0].cosigned > 10'
	agent_safe serve --stop >/dev/null
	note=$(echo "$OUT"/w1/cosigned/*)
	size=$(sed -n 2p "$note")
	seg=$(ls "$WS_STATE"/audit/log/seg-* | head -1)
	[ "$(ls "$WS_STATE"/audit/log/seg-* | wc -l)" = 1 ]
	mkdir "$WS_TOP/cut"
	verdict() {
		local status=0
		"$BUILD_DIR/agent-safe-audit-verify" --json --key "$(jq -r .public_key "$WS_TOP/first")" --witness "$VKEY_w1" \
		    --note "$note" "$WS_TOP/cut" >"$WS_TOP/verdict" || status=$?
		[ "$status" = "$1" ] && jq -e ".verdict == \"$2\"" "$WS_TOP/verdict" || { cat "$WS_TOP/verdict"; return 1; }
	}
	cut=$WS_TOP/cut/seg-00000000000000000000.jsonl
	cp "$seg" "$cut" && verdict 0 ok
	head -n $((size - 2)) "$seg" >"$cut" && verdict 5 truncated
	head -n 2 "$seg" >"$cut" && verdict 5 truncated
	rm "$cut" && verdict 4 tampered
	tail -n +3 "$seg" >"$cut" && verdict 4 tampered
	sed '4{h;d};5{G}' "$seg" >"$cut" && verdict 4 tampered
	sed '5s/"t":"2/"t":"3/' "$seg" >"$cut" && verdict 4 tampered
	{ head -n $((size - 1)) "$seg"; sed -n '$p' "$seg"; } >"$cut" && verdict 4 tampered
}
