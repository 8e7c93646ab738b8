#!/usr/bin/env bats
# What happened to other people's audit logs: cut tails, mixed writers, injected lines, rotators.

load ../support/workspace

setup_file() {
	is_root || return 0
	workspace_make
	workspace_start
	# Files: a NUL cannot stand in an argument, everything else can.
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# The last job.proposed on record.
proposed() { agent_safe audit export | jq -c 'select(.type == "job.proposed")' | tail -n 1; }

# $1: an argument; it must come back from the log and be one line there
inject() {
	local before after
	before=$(agent_safe audit head | jq -r .size)
	agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- echo "$1" >/dev/null
	after=$(agent_safe audit export --from "$before" | jq -r .type | grep -c '^job.proposed$')
	[ "$after" = 1 ]
	proposed | jq -j '.d.command[1] | if type == "object" then .b64 else @base64 end' | base64 -d >"$BATS_TEST_TMPDIR/back"
	printf '%s' "$1" | cmp - "$BATS_TEST_TMPDIR/back"
	# No byte of it that a terminal or a line reader would act on.
	refute grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$(find "$WS_STATE/audit/log" -name 'seg-*' | sort | tail -n 1)"
}

@test "a newline with a forged record behind it stays inside one record" {
	inject $'a\n{"v":1,"seq":99,"type":"job.approved"}'
}

@test "carriage return, escape sequences, C1, DEL, tabs: one record each, and every byte comes back" {
	inject $'a\rb'
	inject $'\e[2Jx'
	inject $'\x7f\xc2\x9b0m'
	inject "$(printf '\t%.0s' $(seq 4096))"
	inject '\x0a\n'
}

@test "unicode line ends and bytes that are not UTF-8: one record each, and every byte comes back" {
	inject $'\xe2\x80\xa8x\xc2\x85y'
	inject $'\xff'
	inject $'\x80'
}

@test "what a person is shown has no control byte of it" {
	inject $'\e[2Jx\xe2\x80\xae'
	agent_safe -o table audit show >"$BATS_TEST_TMPDIR/shown"
	refute grep -qP '\x1b|\xe2\x80\xae' "$BATS_TEST_TMPDIR/shown"
}

@test "many writers at once: one line of succession, each record whole, up to the largest" {
	local sizes=(100 5000 30000 70000) i pids=
	for i in 0 1 2 3; do
		(
			text=$(printf '%*s' "${sizes[$i]}" '' | tr ' ' x)
			for _ in 1 2 3 4 5 6 7 8 9 10; do
				agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- echo "$text" >/dev/null || exit 1
			done
		) &
		pids+=" $!"
	done
	for i in $pids; do wait "$i"; done
	agent_safe audit-verify | jq -e .valid
	# A command of 70 kB is on record by its digest.
	agent_safe audit export | jq -s 'map(select(.type == "job.proposed" and (.d.command | type) == "object")) | length' | grep -qx 10
}

@test "a log that is verified while others write is whole each time" {
	local i
	(for _ in $(seq 40); do agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- true >/dev/null; done) &
	for i in 1 2 3 4 5 6; do agent_safe audit-verify | jq -e .valid; done
	wait
}

@test "without a remembered head the verdict says how far it goes; with one a cut tail is found" {
	run_job true >/dev/null
	agent_safe audit note >"$WS_TOP/note" 2>/dev/null
	run_job true >/dev/null
	agent_safe serve --stop >/dev/null
	cp -r "$WS_STATE/audit/log" "$BATS_TEST_TMPDIR/log"
	local log=$BATS_TEST_TMPDIR/log last keep
	run "$WS_BIN/agent-safe-audit-verify" "$log"
	[ "$status" = 0 ]
	[[ $output == *"whole as far as it goes"* ]]
	"$WS_BIN/agent-safe-audit-verify" --note "$WS_TOP/note" "$log"
	last=$(find "$log" -name "seg-*" | sort | tail -n 1)
	keep=$(grep -n '"type":"log.seal"' "$last" | tail -n 8 | head -n 1 | cut -d: -f1)
	chmod u+w "$last"
	head -n "$keep" "$last" >"$last.new"
	mv "$last.new" "$last"
	run "$WS_BIN/agent-safe-audit-verify" "$log"
	[ "$status" = 0 ]
	run "$WS_BIN/agent-safe-audit-verify" --note "$WS_TOP/note" "$log"
	[ "$status" = 5 ]
	workspace_start
}

@test "a rotator that copies and truncates, renames or deletes: the trio stops, nothing runs until it is put back" {
	local segment way
	# Root set the flag that forbids all of this; a rotator with the flag cleared is worse than one without.
	segment=$(find "$WS_STATE/audit/log" -name "seg-*" | sort | tail -n 1)
	for way in 'truncate -s 0' 'mv -t /tmp' 'rm'; do
		run $way "$segment"
		[ "$status" -ne 0 ] || skip "this filesystem has no append-only flag"
	done
	run_job true | jq -e '.status == "succeeded"'
	chattr -R -a "$WS_STATE/audit/log"
	cp -a "$segment" "$WS_TOP/kept"
	truncate -s 100 "$segment"
	run run_job sh -c 'echo ran >marker'
	[ "$status" -ne 0 ]
	[ ! -e "$WS/proj/marker" ]
	run agent_safe status
	[ "$status" -ne 0 ]
	grep -q 'changed from outside' "$WS_STATE/trio.log"
	cat "$WS_TOP/kept" >"$segment"
	workspace_start
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit-verify | jq -e .valid
}
