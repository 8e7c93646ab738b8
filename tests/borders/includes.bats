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
				    grep -qxF "$folder auditor/${header%.h}.c" <<<"$borrowed" ||
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
	sqlite3\.h broker/store\.c broker/store_care\.c broker/store_tables\.c broker/store_foreign\.c
	(cjson/)?cJSON\.h shared/json\.c
	sodium\.h shared/digest\.c auditor/sign\.c auditor/chain\.c auditor/checkpoint\.c auditor/witness/keys\.c auditor/logkey\.c auditor/verify/operator\.c
	seccomp\.h executor/filter_rule\.h
	zstd\.h shared/packed\.c
	sys/capability\.h broker/launch/become\.c broker/launch/cage\.c
	END
}

# Sodium: hashing for all; signing; checking a signature, which auditor, verifier and witness share; the operator's own key.
@test "a foreign header occurs only in the files named for it" {
	local header allowed file wrong=
	while read -r header allowed; do
		for file in $(all_files | xargs grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$header[>\"]" | short); do
			grep -qxE "${allowed// /|}" <<<"$file" || wrong+="$file: $header"$'\n'
		done
	done < <(foreign)
	nothing "${wrong%$'\n'}"
}

@test "every other header in <> is the C library's, the kernel's or the compiler's" {
	command -v dpkg >/dev/null || skip "who owns a header is asked of dpkg, which is not here"
	local header paths=
	for header in $(all_files | xargs grep -hoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<[^>]+>' | sed 's/.*<//; s/>//' | sort -u); do
		[[ $header =~ ^(sqlite3|sodium|seccomp|zstd|(cjson/)?cJSON|sys/capability)\.h$ ]] && continue
		paths+=" $(ls "/usr/include/$header" /usr/include/*-linux-gnu/"$header" /usr/lib/gcc/*/*/include/"$header" 2>/dev/null | head -1)"
	done
	# shellcheck disable=SC2086
	nothing "$(dpkg -S $paths | grep -vE '^(libc6-dev|linux-libc-dev|libgcc-[0-9]+-dev)(:|,)')"
}
