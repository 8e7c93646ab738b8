#!/usr/bin/env bats
# How long things are, and what no file contains.

load ../support/rooms

# "lines name file" of every function
functions() {
	all_files '*.c' | xargs -r ctags -x --c-kinds=f --fields=+ne --_xformat='%{end} %{line} %N %F' |
	    awk '$1 != "" { print $1 - $2 + 1, $3, $4 }'
}

@test "ctags sees the functions at all" {
	[ "$(functions | wc -l)" -gt 50 ]
}

@test "no function is longer than 60 lines" {
	nothing "$(functions | awk '$1 > 60' | short)"
}

@test "no main() of a program is longer than 25 lines" {
	nothing "$(functions | awk '$2 == "main" && $1 > 25' | short)"
}

@test "no file is longer than 400 lines" {
	nothing "$(all_files | xargs -r wc -l | awk '$2 != "total" && $1 > 400' | short)"
}

@test "no banned call" {
	nothing "$(all_files | xargs grep -nE '\b(strcpy|strcat|sprintf|vsprintf|strncpy|strncat|atoi|atol|alloca|system|popen|gets|tmpnam|mktemp)\(' | short)"
}

@test "no goto" {
	nothing "$(all_files | xargs grep -nE '^[[:space:]]+goto[[:space:]]' | short)"
}

# 100 columns are the aim, 120 the wall: a comment beside a field may need the room.
@test "indented with tabs, at most 120 columns, no blanks at line ends" {
	nothing "$(all_files | xargs awk '
	/[ \t]$/ { print FILENAME ":" FNR ": blanks at the end" }
	/^ +[^ *]/ && !/^    [^ ]/ { print FILENAME ":" FNR ": indented with spaces" }
	/\r/ { print FILENAME ":" FNR ": carriage return" }
	{
		text = $0; columns = 0
		gsub(/[\200-\277]/, "", text)
		for (i = 1; i <= length(text); i++)
			columns = substr(text, i, 1) == "\t" ? columns + 8 - columns % 8 : columns + 1
		if (columns > 120) print FILENAME ":" FNR ": " columns " columns"
	}' | short)"
}

@test "function names stand in column one" {
	# A definition whose return type is on the same line as its name, outside headers and macros.
	nothing "$(all_files '*.c' | xargs grep -nE '^(static )?(inline )?(const )?(unsigned |struct |enum )?[a-z_0-9]+ \**[a-z_0-9]+\([^;]*$' | grep -vE '_Static_assert|__attribute__|\\$' | short)"
}

@test "every header has a guard of its own name" {
	nothing "$(for h in $(all_files '*.h'); do
		g=$(basename "$h" .h | tr 'a-z-' 'A-Z_')_H
		grep -qE "^#ifndef $g\$|^#elif !defined\($g\)" "$h" && grep -q "^#define $g\$" "$h" || echo "$h"; done | short)"
}

@test "every main.c says what the process holds, hears, never does, and what it is worth when taken" {
	nothing "$(rows | while read -r folder _; do
		for word in holds hears never 'if taken'; do
			head -n 20 "$ROOT/$folder/main.c" | grep -qE "^ \* $word" || echo "$folder/main.c: $word"; done; done)"
}
