# What the borders tests know of the tree: the Makefile's table of programs, and each room's files.

ROOT=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}

# "folder binary -llib ...", one line per program that exists
rows() { make -s --no-print-directory -C "$ROOT" rows; }

# C files of one folder, not of those below it; $2: pattern, *.[ch] unless given
room_files() { find "$ROOT/$1" -maxdepth 1 -name "${2:-*.[ch]}" | sort; }

# Every C file of the product
all_files() {
	local d
	for d in broker executor auditor shared; do
		[ ! -d "$ROOT/$d" ] || find "$ROOT/$d" -name "${1:-*.[ch]}"
	done | sort
}

# $1 without the root of the tree
short() { sed "s|$ROOT/||g"; }

# Fails with the text when there is one: `nothing "$(...)"`.
nothing() {
	[ -z "$1" ] || { printf '%s\n' "$1"; return 1; }
}
