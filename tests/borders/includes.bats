#!/usr/bin/env bats
# Who may include whom, and which foreign header belongs to which file.

load ../support/rooms

@test "no include leaves its folder by a path" {
	nothing "$(all_files | xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*/' | short)"
}

@test "a room includes itself and shared, nothing else" {
	local wrong= folder file header borrowed
	borrowed=$(make -s --no-print-directory -C "$ROOT" borrowed)
	while read -r folder _; do
		for file in $(room_files "$folder"); do
			for header in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
				[ -e "$ROOT/$folder/$header" ] || [ -e "$ROOT/shared/$header" ] ||
				    { [ "$folder" = auditor/verify ] && [[ " $borrowed " == *" auditor/${header%.h}.c "* ]]; } ||
				    wrong+="$file: $header"$'\n'
			done
		done
	done < <(rows)
	for file in $(room_files shared); do
		for header in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
			[ -e "$ROOT/shared/$header" ] || wrong+="$file: $header"$'\n'
		done
	done
	nothing "$(short <<<"$wrong" | sed '/^$/d')"
}

@test "a header has one name in one room: none hides one of shared" {
	local wrong= folder name
	while read -r folder _; do
		for name in $(room_files "$folder" '*.h' | xargs -r -n1 basename); do
			[ ! -e "$ROOT/shared/$name" ] || wrong+="$folder/$name hides shared/$name"$'\n'
		done
	done < <(rows)
	nothing "${wrong%$'\n'}"
}

# header -> the only files that may include it
foreign() {
	cat <<-'END'
	sqlite3\.h broker/store\.c
	(cjson/)?cJSON\.h shared/json\.c
	sodium\.h shared/digest\.c auditor/sign\.c auditor/chain\.c
	seccomp\.h executor/filter\.c
	sys/capability\.h broker/launch/become\.c broker/launch/cage\.c
	END
}

# Sodium: hashing for all; signing; checking a signature, which auditor and verifier share.
@test "a foreign header occurs only in the files named for it" {
	local header allowed file wrong=
	while read -r header allowed; do
		for file in $(all_files | xargs grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$header[>\"]" | short); do
			grep -qxE "${allowed// /|}" <<<"$file" || wrong+="$file: $header"$'\n'
		done
	done < <(foreign)
	nothing "${wrong%$'\n'}"
}

@test "no other library's header occurs at all" {
	local known
	# Everything else in <> must come from the C library or the kernel.
	known=$(all_files | xargs grep -hoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<[^>]+>' | sed 's/.*<//;s/>//' | sort -u |
	    grep -vE '(^|/)(sqlite3|cJSON|sodium|seccomp)\.h$|^sys/capability\.h$' |
	    while read -r h; do
		owner=$(dpkg -S "*/include/$h" "*/include/*-linux-gnu/$h" 2>/dev/null | cut -d: -f1 | sort -u)
		case " $owner " in
		*libc6-dev* | *linux-libc-dev* | '  ') ;;
		*) [[ -e /usr/lib/gcc/ && $(find /usr/lib/gcc -path "*/include/$h" | head -1) ]] || echo "$h: $owner" ;;
		esac
	    done)
	nothing "$known"
}
