#!/usr/bin/env bats
# The tree as a stranger finds it.

load ../support/rooms

tracked() { git -C "$ROOT" ls-files; }

setup() {
	git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip "not a git checkout"
}

@test "nothing else lies at the top" {
	nothing "$(tracked | cut -d/ -f1 | sort -u |
	    grep -vxE 'Makefile|broker|executor|auditor|shared|tests|packaging|SECURITY\.md|README\.md|LICENSE|\..*')"
}

@test "no tracked file names the place of this checkout or the home of its owner" {
	nothing "$(git -C "$ROOT" grep -nF "$ROOT" -- . || true)"
	case $HOME in
	/ | /root | '') ;;
	*) nothing "$(git -C "$ROOT" grep -nF "$HOME" -- . || true)" ;;
	esac
}

@test "no message of the table lacks its payload's comment in the right file" {
	# A row per line, and a struct for each: what the compiler checks too, here with a name.
	nothing "$(sed -n 's/^TO_[A-Z]* *(\([A-Z_]*\), *\([a-z_]*\),.*/\2/p' "$ROOT/shared/messages.def" |
	    while read -r n; do grep -q "struct msg_$n " "$ROOT/shared/payloads.h" || echo "$n"; done)"
}

@test "each unit test, contract test and fuzz target says what it links" {
	nothing "$(grep -L 'links: ' "$ROOT"/tests/unit/*.c "$ROOT"/tests/contract/*.c $(ls "$ROOT"/tests/fuzz/*.c | grep -v replay) | short)"
}

@test "each fuzz target has seeds" {
	nothing "$(for f in "$ROOT"/tests/fuzz/*.c; do
		[[ $f == */replay.c ]] || [ -n "$(ls "${f%.c}.seeds" 2>/dev/null)" ] || echo "$f"; done | short)"
}

@test "each test that SECURITY.md names is there" {
	local file name path wrong=
	while IFS='|' read -r file name; do
		path=$(ls "$ROOT/tests/$file".bats "$ROOT/tests/$file".c 2>/dev/null || true)
		[ -n "$path" ] || wrong+="no file $file"$'\n'
		[ -z "$path" ] || [ -z "$name" ] || grep -qF -- "$name" "$path" || wrong+="$file has no test: $name"$'\n'
	done < <(grep -oE '`(unit|contract|system|hostile|borders|layers|vm)/[a-z0-9_-]+(: [^`]+)?`' "$ROOT/SECURITY.md" | tr -d '`' | sed 's/: /|/')
	nothing "${wrong%$'\n'}"
}

@test "shell scripts are free of plain mistakes" {
	command -v shellcheck >/dev/null || skip "shellcheck is not installed"
	shellcheck -S error $(tracked | grep -vE '\.bats$' | while read -r f; do
		head -c 30 "$ROOT/$f" 2>/dev/null | head -n 1 | grep -qE '^#!.*(ba)?sh' && echo "$ROOT/$f"; done)
}
