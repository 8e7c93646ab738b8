#!/usr/bin/env bats
# What the linker made of it: libraries, symbols and hardening of every program.

load ../support/rooms

setup() {
	[ -n "$(rows)" ] || skip "no program in the tree"
}

binary_rows() { rows | awk '{ print $2 }'; }

# The folder of a binary's objects.
objects() {
	local p=${1#agent-safe}
	p=${p#-}
	p=${p#audit-}
	echo "$BUILD_DIR/obj/${p:-cli}"
}

# The linker's list of what it took out of archives, "path(member)" each; $1: binary
taken_in() { sed '/^$/{ x; s/^/x/; /xx/q; x; }' "$(objects "$1")/map" | grep -oE '^[^ ]+\([^)]+\)'; }

is_static() { ! readelf -dW "$BUILD_DIR/$1" | grep -q '(NEEDED)'; }

# Of a program without a loader the linker's list says it; gcc's own two are in every one.
libraries() {
	if is_static "$1"; then
		taken_in "$1" | sed -n 's|.*/lib\([^/]*\)\.a(.*|\1|p' | grep -vxE 'shared|gcc|gcc_eh' | sort -u
	else
		readelf -dW "$BUILD_DIR/$1" | sed -n 's/.*(NEEDED).*\[lib\(.*\)\.so[.0-9]*\]/\1/p' | sort
	fi
}

# What a program calls in libraries: of one without a loader, what its own objects and those of shared/ ask for.
calls() {
	if is_static "$1"; then
		{ find "$(objects "$1")" -name '*.o'
		  taken_in "$1" | sed -n "s|.*libshared\.a(\(.*\))|$BUILD_DIR/obj/shared/\1|p"; } |
		    xargs nm -u | awk '{ print $NF }' | sort -u
	else
		nm -D --undefined-only "$BUILD_DIR/$1" | awk '{ print $NF }' | sed 's/@.*//'
	fi
}

@test "each program needs exactly the libraries of its row and libc" {
	local binary libs wanted got wrong=
	while read -r _ binary libs; do
		wanted=$( (printf '%s\n' c; for l in $libs; do echo "${l#-l}"; done) | sort)
		got=$(libraries "$binary")
		[ "$wanted" = "$got" ] || wrong+="$binary: needs $(echo $got), its row says $(echo $wanted)"$'\n'
	done < <(rows)
	nothing "${wrong%$'\n'}"
}

forks='_?fork|vfork|_Fork|clone|clone3|execv|execve|execvp|execvpe|execl|execlp|execle|fexecve|execveat|posix_spawnp?|system|popen|wordexp'

# The rooms that start nothing.  Their objects are looked at, and then what the linker took in from shared/.
@test "broker, auditor, keeper, verifier, witness and relay cannot start a program" {
	local wrong= program binary o
	for program in broker:agent-safe-broker auditor:agent-safe-auditor keeper:agent-safe-keeper \
	    verify:agent-safe-audit-verify relay:agent-safe-relay witness:agent-safe-witness; do
		binary=$BUILD_DIR/${program#*:}
		[ -e "$binary" ] || continue
		for o in $(find "$BUILD_DIR/obj/${program%:*}" -name '*.o'); do
			wrong+=$(nm -u "$o" | awk '{ print $NF }' | grep -xE "$forks" | sed "s|^|${o#"$BUILD_DIR"/}: |")
		done
		wrong+=$(calls "${program#*:}" | grep -xE "$forks" | sed "s|^|${program#*:}: |")
	done
	nothing "$wrong"
}

@test "nor do they by number" {
	nothing "$(for d in broker auditor auditor/verify auditor/witness executor/keeper; do [ ! -d "$ROOT/$d" ] || room_files "$d" '*.c'; done |
	    xargs -r grep -nE 'syscall\((SYS|__NR)_(fork|vfork|clone|clone3|execve|execveat)\b' | short)"
}

@test "no program has a program loader of its own or looks symbols up" {
	nothing "$(for b in $(binary_rows); do
		calls "$b" | grep -xE 'dlopen|dlsym|dlmopen' | sed "s|^|$b: |"; done)"
}

@test "position independent, relocations read-only and bound at start, no executable stack" {
	local b wrong=
	for b in $(binary_rows); do
		readelf -hW "$BUILD_DIR/$b" | grep -q 'Type:.*DYN' || wrong+="$b: not PIE"$'\n'
		readelf -dW "$BUILD_DIR/$b" | grep -q 'FLAGS_1.*NOW.*PIE' || wrong+="$b: FLAGS_1 lacks NOW PIE"$'\n'
		readelf -lW "$BUILD_DIR/$b" | grep -q GNU_RELRO || wrong+="$b: no RELRO"$'\n'
		readelf -lW "$BUILD_DIR/$b" | grep -E 'GNU_STACK' | grep -q 'RWE' && wrong+="$b: executable stack"$'\n'
		readelf -dW "$BUILD_DIR/$b" | grep -qE '(RPATH|RUNPATH|TEXTREL)' && wrong+="$b: RPATH, RUNPATH or TEXTREL"$'\n'
	done
	nothing "${wrong%$'\n'}"
}

@test "no segment is writable and executable" {
	nothing "$(for b in $(binary_rows); do readelf -lW "$BUILD_DIR/$b" | grep -E 'LOAD.* RWE ' | sed "s|^|$b: |"; done)"
}

@test "stack protector and fortified calls are in every program" {
	local b wrong= symbols
	for b in $(binary_rows); do
		symbols=$(calls "$b")
		grep -q __stack_chk_fail <<<"$symbols" || wrong+="$b: no stack protector"$'\n'
		grep -vE '__stack_chk' <<<"$symbols" | grep -qE '__[a-z]+_chk' || wrong+="$b: no fortified call"$'\n'
	done
	nothing "${wrong%$'\n'}"
}

# The C library's own start files may lack the note, and then the linker drops it: our objects are what we answer for.
@test "every object carries the CET property on x86-64" {
	[ "$(uname -m)" = x86_64 ] || skip "control-flow enforcement notes exist on x86-64 only, this is $(uname -m)"
	nothing "$(find "$BUILD_DIR/obj" -name '*.o' | while read -r o; do
		readelf -nW "$o" | grep -q 'IBT, SHSTK' || echo "${o#"$BUILD_DIR"/}"; done)"
}

@test "a second make has nothing to do" {
	local before out
	before=$(stat -c '%n %Y' "$BUILD_DIR"/agent-safe* "$BUILD_DIR"/libshared.a)
	out=$(make --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" all 2>&1)
	[ "$before" = "$(stat -c '%n %Y' "$BUILD_DIR"/agent-safe* "$BUILD_DIR"/libshared.a)" ]
	refute_compiler "$out"
}

refute_compiler() { nothing "$(grep -E ' -c -o |^ar ' <<<"$1")"; }
