#!/usr/bin/env bats
# Field cases of the command line: words, quotes, exit codes, terminals, what a person is shown.

load ../support/workspace
load ../support/procs
load ../support/expect

setup_file() {
	is_root || return 0
	workspace_make
	cp "$ROOT"/tests/system/data/c12-*.sh "$WS/proj/"
	chown -R "$WS_UID:$WS_UID" "$WS/proj"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "limits": { "grace_seconds": 1, "memory_bytes": 268435456 },
	  "rules": [ { "program": "true" }, { "program": "echo" }, { "program": "cat" }, { "program": "sleep" },
	    { "program": "sh" }, { "program": "printf" }, { "program": "python3" }, { "program": "proj/c12-dashdash.sh" },
	    { "program": "proj/c12-exit.sh" }, { "program": "proj/c12-stdin.sh" }, { "program": "proj/c12-tty.sh" } ] }
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

submit() { agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" "$@"; }

# As on a terminal of 80 columns, or $COLUMNS; what the terminal would have got, CR LF turned to LF
on_terminal() {
	python3 -B - "$@" <<-'END'
	import fcntl, os, pty, struct, sys, termios
	pid, fd = pty.fork()
	if pid == 0:
	    os.execvp(sys.argv[1], sys.argv[1:])
	fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(os.environ.get("COLUMNS", "80")), 0, 0))
	data = b""
	try:
	    while piece := os.read(fd, 65536):
	        data += piece
	except OSError:
	    pass
	sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

cli() { on_terminal "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" "$@" 3>&- 4>&-; }

@test "FC-1201: the first -- ends our options; every later one and every word is the command's" {
	is "$(run_job ./c12-dashdash.sh checkout -- deploy)" '.result.stdout | fromjson == ["checkout", "--", "deploy"]'
	is "$(run_job ./c12-dashdash.sh -- x)" '.result.stdout | fromjson == ["--", "x"]'
	is "$(run_job ./c12-dashdash.sh --help --cwd /x)" '.result.stdout | fromjson == ["--help", "--cwd", "/x"]'
	is "$(submit echo --new --oneline -- x)" '.command == ["echo", "--new", "--oneline", "--", "x"]'
	is "$(submit -- -- x)" '.command == ["--", "x"]'
	refused invalid_input submit --
	refused invalid_input submit
}

@test "FC-1202: seven difficult words arrive as they are, and the shown line pasted into a shell gives the same" {
	local id words line
	words=('a b' '' '$(id)' "it's" '*' $'x\ny' '\')
	id=$(approved -- python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "${words[@]}")
	agent_safe run "$id" --execute | jq -er .result.stdout >"$BATS_TEST_TMPDIR/seen"
	is "$(cat "$BATS_TEST_TMPDIR/seen")" '. == ["a b", "", "$(id)", "it'"'"'s", "*", "x\ny", "\\"]'
	line=$(agent_safe_table show "$id" | sed -n 's/^for a shell  *//p')
	mkdir "$BATS_TEST_TMPDIR/empty"
	(cd "$BATS_TEST_TMPDIR/empty" && bash -c "$line") | cmp - <(head -n 1 "$BATS_TEST_TMPDIR/seen")
	(cd "$BATS_TEST_TMPDIR/empty" && sh -c 'for w; do printf "%s\n" "$w"; done' x "${words[@]}") >/dev/null
}

@test "FC-1203: codes pass as they are, signals as 128 and more, what is ours as 125 to 127" {
	local code id
	for code in 0 1 2 126 127 128 130 255; do
		ends "$code" agent_safe run "$(approved -- ./c12-exit.sh "$code")" --execute --exit-status
		is "$output" --argjson code "$code" '.attempts_log[0] | .exit_code == $code and .signal == null'
	done
	ends 137 agent_safe run "$(approved -- ./c12-exit.sh kill9)" --execute --exit-status
	is "$output" '.attempts_log[0] | .exit_code == null and .signal == 9 and .outcome == "signalled"'
	ends 139 agent_safe run "$(approved -- ./c12-exit.sh segv)" --execute --exit-status
	ends 130 agent_safe run "$(approved -- ./c12-exit.sh int)" --execute --exit-status
	is "$output" '.attempts_log[0].signal == 2'
	# Ended by us: neither the job's code nor its signal.
	ends 125 agent_safe run "$(approved --timeout 1 -- ./c12-exit.sh sleep)" --execute --exit-status
	is "$output" '.error_class == "timeout" and .attempts_log[0].outcome == "timed_out"'
	# Refused: nothing ran at all.
	ends 125 agent_safe run "$(propose -- true)" --execute --exit-status
	ends 2 agent_safe run "$(propose -- true)" --execute
}

@test "FC-1204: standard input ends at once, whatever the operator's is" {
	local id how
	for how in pipe closed; do
		id=$(approved -- ./c12-stdin.sh)
		case $how in
		pipe) sleep 20 | agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job" & ;;
		*) agent_safe run "$id" --execute <&- >"$BATS_TEST_TMPDIR/job" & ;;
		esac
		ended() { [ "$(field "$id" .status)" = succeeded ]; }
		wait_until 5 ended
		is "$(agent_safe show "$id")" '.result.stdout == "stdin ended\n/dev/null\n"'
	done
	kill $(jobs -p) 2>/dev/null || true
}

@test "FC-1205: no escape without a terminal, none with NO_COLOR or TERM=dumb; a reader that leaves is quiet" {
	local id command
	id=$(propose -- true)
	for command in list inbox "show $id" "assess $id" status doctor check-policy help; do
		# shellcheck disable=SC2086
		refute grep -q $'\e' <(agent_safe_table $command 2>&1)
	done
	cli doctor | grep -q $'\e'
	refute grep -q $'\e' <(NO_COLOR=1 cli doctor)
	refute grep -q $'\e' <(TERM=dumb cli doctor)
	agent_safe list 2>"$BATS_TEST_TMPDIR/err" | head -c 1 >/dev/null
	# The reader is gone long before the end: 64 KiB of a pipe are full several times over.
	for _ in $(seq 12); do agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" -- true "$(head -c 30000 /dev/zero | tr '\0' b)"; done >/dev/null
	agent_safe audit export 2>>"$BATS_TEST_TMPDIR/err" | head -c 1 >/dev/null
	agent_safe list --all 2>>"$BATS_TEST_TMPDIR/err" | head -c 1 >/dev/null
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	for command in list "show $id" status; do
		# shellcheck disable=SC2086
		ends 3 bash -c '"$@" >/dev/full' x "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" $command
		[[ $output == *output_error* ]]
	done
}

@test "FC-1206: a job has no terminal, takes none, and ours is as it was" {
	local id before after
	id=$(approved -- ./c12-tty.sh)
	on_terminal bash -c '
	    before=$(stty -g)
	    "$@" >"$0"
	    [ "$(stty -g)" = "$before" ] && echo same' "$BATS_TEST_TMPDIR/job" \
	    "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" run "$id" --execute 3>&- 4>&- >"$BATS_TEST_TMPDIR/said"
	grep -qx same "$BATS_TEST_TMPDIR/said"
	is "$(cat "$BATS_TEST_TMPDIR/job")" '.status == "succeeded" and (.result.stdout | endswith("end\n"))'
	is "$(cat "$BATS_TEST_TMPDIR/job")" '.result.stdout + .result.stderr | test("/dev/tty")'
}

@test "FC-1207: show, wait and run end as documented for every state, with and without --json" {
	local form id good bad waiting cancelled
	good=$(approved -- true)
	agent_safe run "$good" --execute
	bad=$(approved -- sh -c 'exit 9')
	agent_safe run "$bad" --execute || [ $? = 1 ]
	waiting=$(propose -- true)
	cancelled=$(approved -- true)
	agent_safe cancel "$cancelled"
	for form in --json '-o table'; do
		# shellcheck disable=SC2086
		c() { "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" $form "$@" 3>&- 4>&-; }
		for id in "$good" "$bad" "$waiting" "$cancelled"; do ends 0 c show "$id"; done
		ends 2 c show nope
		ends 0 c wait "$good"
		ends 1 c wait "$bad"
		ends 2 c wait "$cancelled"
		ends 2 c wait "$waiting" --timeout 0
		ends 2 c wait nope
		ends 0 c run "$good" --execute
		ends 2 c run "$bad" --execute
		ends 2 c run "$waiting" --execute
		ends 2 c run "$cancelled" --execute
		ends 0 c audit-verify
		ends 0 c check-policy
		ends 2 c list --no-such-option
	done
}

@test "FC-1209: the approval view shows every argument whole, with index and length, on a narrow terminal too" {
	local id view long
	long=$(printf 'x%.0s' $(seq 40))
	id=$(propose -- echo "$long" "$long" "$long" '; rm -rf /')
	view=$(COLUMNS=20 cli show "$id")
	grep -qF "[4] 10 bytes  '; rm -rf /'" <<<"$view"
	[ "$(grep -cF "  $long" <<<"$view")" = 3 ]
	grep -q -- '--digest sha256:[0-9a-f]\{64\}$' <<<"$view"
	id=$(propose -- echo "$(head -c 65530 /dev/zero | tr '\0' y)TAIL")
	cli assess "$id" >"$BATS_TEST_TMPDIR/view"
	grep -q '^  \[1\] 65534 bytes  y*TAIL$' "$BATS_TEST_TMPDIR/view"
	id=$(propose -- echo $(seq 300))
	cli show "$id" >"$BATS_TEST_TMPDIR/view"
	grep -q '^command  *301 arguments$' "$BATS_TEST_TMPDIR/view"
	grep -qx '  \[300\] 3 bytes  300' "$BATS_TEST_TMPDIR/view"
	# In a list a cut is said.
	agent_safe_table list --newest --limit 1 | grep -q '\.\.\.\[+[0-9]* bytes\]$'
}

@test "FC-1209: what drives a terminal or hides text is shown as an escape" {
	local id
	id=$(propose -- echo $'\e[2J\e[1A' $'a\u202eb' $'x\ry')
	cli show "$id" >"$BATS_TEST_TMPDIR/view"
	refute grep -q $'\e\[2J' "$BATS_TEST_TMPDIR/view"
	refute grep -q $'\u202e' "$BATS_TEST_TMPDIR/view"
	refute grep -q $'\r' "$BATS_TEST_TMPDIR/view"
}

complete_word() {
	# $1 directory, $2 words so far..., the last one is completed
	bash --norc -c '
	    source "$0"
	    cd "$1" || exit
	    shift
	    compopt() { :; }
	    COMP_WORDS=(agent-safe "$@") COMP_CWORD=$#
	    _agent_safe
	    printf "%s\0" "${COMPREPLY[@]}"' "$ROOT/packaging/completions/agent-safe" "$@"
}

@test "FC-1210: completion runs nothing, offers no broken name, and needs no broker" {
	local begin
	sh "$ROOT/tests/system/data/c12-completion.sh" "$BATS_TEST_TMPDIR/names" >/dev/null
	begin=$(date +%s%N)
	complete_word "$BATS_TEST_TMPDIR/names" submit --cwd '' >"$BATS_TEST_TMPDIR/offered" 2>"$BATS_TEST_TMPDIR/err"
	[ $((($(date +%s%N) - begin) / 1000000)) -lt 1000 ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	complete_word "$BATS_TEST_TMPDIR/names" submit --cwd '$(touch M)' >/dev/null
	complete_word "$BATS_TEST_TMPDIR/names" submit --cwd '`touch M`' >/dev/null
	complete_word "$BATS_TEST_TMPDIR/names" '$(touch M)' >/dev/null
	[ ! -e "$BATS_TEST_TMPDIR/names/M" ]
	tr '\0' '\n' <"$BATS_TEST_TMPDIR/offered" | grep -qx 'a b'
	tr '\0' '\n' <"$BATS_TEST_TMPDIR/offered" | grep -qx "it's"
	# Every name that is offered is one that is there.
	while IFS= read -r -d '' name; do
		[ -e "$BATS_TEST_TMPDIR/names/$name" ] || { echo "offered: $name"; false; }
	done <"$BATS_TEST_TMPDIR/offered"
	[ -z "$(complete_word "$BATS_TEST_TMPDIR/names" submit -- '' | tr -d '\0')" ]
}
