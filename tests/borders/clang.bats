#!/usr/bin/env bats
# The other compiler: it looks at every source and builds nothing.

load ../support/rooms

@test "clang has nothing to say about any source either" {
	command -v clang >/dev/null || skip "clang is not installed"
	nothing "$(make -s -k -j2 --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" CC=clang syntax 2>&1 | head -n 40)"
}
