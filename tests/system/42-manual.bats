#!/usr/bin/env bats
# The manual and the completions know what the programs know.

ROOT=${ROOT:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
MAN=$ROOT/packaging/man

refute() { ! "$@"; }

# $1: file of the manual; words on standard input that must occur in it
all_in() {
	local word missing=
	while read -r word; do
		grep -qE -- "(^|[^a-z_.])$word([^a-z_]|\$)" "$1" || missing+=" $word"
	done
	[ -z "$missing" ] || { echo "not in ${1##*/}:$missing"; return 1; }
}

@test "agent-safe-protocol(7) has every method of the broker's table" {
	[ -e "$ROOT/broker/methods.def" ] || skip "no broker/methods.def in this tree"
	grep -oE '^(BOTH|CONTROL)\("[a-z.]+"' "$ROOT/broker/methods.def" | cut -d'"' -f2 >"$BATS_TEST_TMPDIR/methods"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/methods")" -gt 15 ]
	all_in "$MAN/agent-safe-protocol.7" <"$BATS_TEST_TMPDIR/methods"
	grep -oE '\b(server|job|policy|audit)\.[a-z]+' "$MAN/agent-safe-protocol.7" | grep -vx job.proposed | sort -u >"$BATS_TEST_TMPDIR/said"
	[ -z "$(grep -vxFf "$BATS_TEST_TMPDIR/methods" "$BATS_TEST_TMPDIR/said")" ]
}

@test "agent-safe-protocol(7) says of each method whether propose.sock has it" {
	[ -e "$ROOT/broker/methods.def" ] || skip "no broker/methods.def in this tree"
	sed -n '/^\.Ss Methods of both/,/^\.Ss Methods of control/p' "$MAN/agent-safe-protocol.7" >"$BATS_TEST_TMPDIR/both"
	sed -n '/^\.Ss Methods of control/,/^\.Ss A job/p' "$MAN/agent-safe-protocol.7" >"$BATS_TEST_TMPDIR/control"
	grep -oE '^BOTH\("[a-z.]+"' "$ROOT/broker/methods.def" | cut -d'"' -f2 | all_in "$BATS_TEST_TMPDIR/both"
	grep -oE '^CONTROL\("[a-z.]+"' "$ROOT/broker/methods.def" | cut -d'"' -f2 | all_in "$BATS_TEST_TMPDIR/control"
}

@test "agent-safe-protocol(7) has every parameter that a method of the broker takes" {
	[ -e "$ROOT/broker/methods.def" ] || skip "no broker/methods.def in this tree"
	cat "$ROOT"/broker/*.c | tr -d '\n' | grep -oE 'names\[\] = \{[^}]*NULL' | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u |
	    all_in "$MAN/agent-safe-protocol.7"
}

@test "agent-safe-protocol(7) has every error code that the broker gives" {
	[ -e "$ROOT/broker/methods.def" ] || skip "no broker/methods.def in this tree"
	cat "$ROOT"/broker/*.c | grep -oE '(operation_refuse(_with|_after)?|reject|refuse_decision)\([^"]*"[a-z_]+"' | grep -oE '"[a-z]+_[a-z_]+"$' | tr -d '"' |
	    sort -u >"$BATS_TEST_TMPDIR/codes"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/codes")" -gt 8 ]
	all_in "$MAN/agent-safe-protocol.7" <"$BATS_TEST_TMPDIR/codes"
}

@test "agent-safe(1) has every option that the program knows" {
	sed -n 's/^\t\[OPTION_[A-Z_]*\] = { "\([a-z-]*\)",.*/\1/p' "$ROOT/broker/cli/options.c" | grep -vxE 'db|audit' >"$BATS_TEST_TMPDIR/options"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/options")" -gt 30 ]
	local option
	while read -r option; do
		grep -q -- "Fl -$option" "$MAN/agent-safe.1" || { echo "$option"; false; }
	done <"$BATS_TEST_TMPDIR/options"
}

@test "agent-safe-mcp(1) has every tool and every argument of one" {
	sed -n 's/^\t{ "\([a-z_]*\)", .*/\1/p' "$ROOT/broker/mcp/tools.c" | sort -u >"$BATS_TEST_TMPDIR/words"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/words")" -gt 15 ]
	all_in "$MAN/agent-safe-mcp.1" <"$BATS_TEST_TMPDIR/words"
}

@test "agent-safe-audit(7) has every event type that is written, and every member of one" {
	local page=$BATS_TEST_TMPDIR/page
	sed -E 's/([a-z0-9_])\*/\1/g' "$MAN/agent-safe-audit.7" >"$page"
	cat "$ROOT"/broker/*.c "$ROOT"/auditor/*.c | grep -oE '"(job|policy|exec|log|queue|db|secret)\.[a-z_]+"' | tr -d '"' | sort -u |
	    grep -vxE '(job|policy)\.h|job\.(work|submit|run|succeeded|failed|retry_wait)|log\.h|queue\.(db|groups|slots|workers|hooks|on_audit_loss)' >"$BATS_TEST_TMPDIR/types"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/types")" -gt 28 ]
	all_in "$page" <"$BATS_TEST_TMPDIR/types"
	{
		grep -ohE '(json_add_[a-z]+|record_add_text|record_add_digest|add_stream)\([a-z_]+, "[a-z_0-9]+"' \
		    "$ROOT"/broker/record*.c | cut -d'"' -f2
		grep -oE '\\"[a-z_0-9]+\\":' "$ROOT"/auditor/compose*.c "$ROOT/auditor/on_broker.c" "$ROOT/auditor/on_executor.c" \
		    "$ROOT/auditor/chain.c" "$ROOT/auditor/recover.c" "$ROOT/auditor/pen.c" | grep -oE '[a-z_0-9]+\\":$' | tr -d '\\":'
		sed -n 's/.*put_member(text, "\([a-z_]*\)".*/\1/p' "$ROOT"/auditor/compose_end.c
	} | sort -u >"$BATS_TEST_TMPDIR/members"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/members")" -gt 60 ]
	all_in "$page" <"$BATS_TEST_TMPDIR/members"
}

@test "agent-safe-audit(7), RECOVERY, has every reason for which the auditor refuses to start" {
	local page=$BATS_TEST_TMPDIR/page
	sed -n '/^\.Sh RECOVERY/,/^\.Sh EXAMPLES/p' "$MAN/agent-safe-audit.7" | tr '\n' ' ' >"$page"
	# Texts that point to the page, and what the key's own rules say.
	{
		grep -hoE '"[^"%]+(%[^"]*)?" ADVICE' "$ROOT/auditor/recover.c" | cut -d'"' -f2
		sed -n '/^sign_choose/,/^}/p; /^sign_resume/,/^}/p' "$ROOT/auditor/sign.c" | sed -n 's/.*return "\(.*\)";/\1/p'
	} | sed 's/%.*//; s/: *$//' | grep -vE '^ *(segment|seals\) and|key.state cannot be read)' >"$BATS_TEST_TMPDIR/reasons"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/reasons")" -gt 5 ]
	while read -r reason; do
		grep -qF -- "$reason" "$page" || { echo "not in RECOVERY: $reason"; false; }
	done <"$BATS_TEST_TMPDIR/reasons"
	grep -q 'log and database disagree' "$page"
}

@test "every page is mdoc that mandoc has nothing to say about" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	# Pages of this very package and of others are not installed here.
	[ -z "$(for page in "$MAN"/*; do mandoc -T lint -W style "$page" 2>&1; done | grep -vE 'referenced manual not found|outdated mandoc.db|input text line longer')" ]
}

# What bash offers for a line; $1: the line as typed
complete_line() {
	bash --norc -c '
		source "$1"
		COMP_LINE=$2; read -ra COMP_WORDS <<<"$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		compopt() { :; }
		_agent_safe 2>&1; printf "%s\0" "${COMPREPLY[@]}"' bash "$ROOT/packaging/completions/agent-safe" "$1" | tr '\0' '\n'
}

@test "completion offers commands, options and values, with no broker" {
	complete_line 'agent-safe ap' | grep -qx approve
	complete_line 'agent-safe run --ex' | grep -qx -- --execute
	complete_line 'agent-safe -o ' | grep -qx jsonl
	complete_line 'agent-safe --state /x list --st' | grep -qx -- --status
	[ -z "$(complete_line 'agent-safe submit -- git --he')" ]
}

@test "completion executes nothing and splits no name" {
	cd "$BATS_TEST_TMPDIR"
	mkdir 'a b' '$(touch M)' "it's" $'x\ny' '`touch M`'
	complete_line 'agent-safe --workspace ' >offered
	[ ! -e M ]
	grep -qx 'a b' offered
	grep -qxF '$(touch M)' offered
	complete_line 'agent-safe submit --cwd $(to' >/dev/null
	[ ! -e M ]
}
