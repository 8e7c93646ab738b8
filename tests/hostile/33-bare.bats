#!/usr/bin/env bats
# Why there is no cage without a user namespace (SECURITY.md has the same in words): what an ordinary user's job could
# do to its own account if Landlock and a system call filter were all there is.  Each line is tried with everything
# that this kernel's Landlock knows, and nothing allowed; and each is contained in the cage that there is
# (hostile/11-cage-ordinary).  When a later kernel closes one of these, this test fails: then that page changes.

load ../support/workspace
load ../support/procs

setup() {
	workspace_make
	BARE=$WS_TOP/bare
	# It asks what Landlock there is the way the programs do.
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -iquote "$ROOT/shared" -o "$BARE" "$ROOT/tests/hostile/bare/bare.c" \
	    "$BUILD_DIR/libshared.a"
	HOME_OF_USER=$WS_TOP/home-$WS_UID
	as_uid "$WS_UID" sh -c 'cd "$1" && mkdir -m 700 closed && echo secret >closed/key && chmod 600 closed/key' sh "$HOME_OF_USER"
	NEIGHBOUR=
}

teardown() {
	[ -z "$NEIGHBOUR" ] || kill -KILL "$NEIGHBOUR" 2>/dev/null || true
	workspace_clean
}

# A program of the same account, not behind anything.
neighbour() {
	# exec: as_uid's own process would be the one to signal.
	(exec setpriv ${WS_AS_ROOT+--reuid "$WS_UID" --regid "$WS_UID" --clear-groups} sleep 60 3>&- 4>&-) &
	NEIGHBOUR=$!
	wait_until 3 is_the_neighbour
}

is_the_neighbour() { [ "$(cat "/proc/$NEIGHBOUR/comm")" = sleep ]; }

attempt() { grep -qx "$1 $2" "$BATS_TEST_TMPDIR/attempts" || { grep "^$1 " "$BATS_TEST_TMPDIR/attempts"; false; }; }

@test "Landlock knows neither modes, owners, times and attributes, nor the neighbours of one uid" {
	local name abi
	! is_root || WS_AS_ROOT=1
	neighbour
	as_uid "$WS_UID" "$BARE" try "$HOME_OF_USER/closed/key" "$HOME_OF_USER/closed" "$NEIGHBOUR" \
	    >"$BATS_TEST_TMPDIR/attempts" || true
	read -r _ abi <"$BATS_TEST_TMPDIR/attempts"
	[ "$abi" -ge 3 ] || skip "Landlock ABI $abi: what it holds itself would not be told from what it does not know"
	# The controls: it is in force.  Signals are limited from ABI 6 on.
	for name in read-file cut-file remove-file read-environment; do attempt $name EACCES; done
	[ "$abi" -lt 6 ] || attempt signal-process EPERM
	for name in open-file-to-all open-folder-to-all change-times look-at-file watch-folder share-memory \
	    limit-process move-process slow-process; do
		attempt $name done
	done
	# What other accounts make of that.
	[ "$(stat -c %a "$HOME_OF_USER/closed/key")" = 666 ]
	[ "$(stat -c %a "$HOME_OF_USER/closed")" = 777 ]
	! is_root || as_uid "$OTHER_UID" grep -qx secret "$HOME_OF_USER/closed/key"
}

@test "a filter that refuses changes of modes takes git, the linker and install with it" {
	cd "$HOME_OF_USER"
	echo 'int main(void) { return 0; }' >one.c
	for prefix in "" "$BARE modes"; do
		rm -rf repository one copy
		# shellcheck disable=SC2086
		for what in 'git init -q repository' 'cc -o one one.c && ./one' 'install -m 755 /bin/true copy'; do
			command -v "${what%% *}" >/dev/null || { echo "# skip: no ${what%% *}" >&3; continue; }
			if as_uid "$WS_UID" $prefix sh -c "cd '$HOME_OF_USER' && $what" 2>"$BATS_TEST_TMPDIR/words"; then
				[ -z "$prefix" ] || { echo "works without: $what"; false; }
			else
				[ -n "$prefix" ] || { cat "$BATS_TEST_TMPDIR/words"; false; }
			fi
		done
	done
}

@test "a subreaper that is killed takes nobody with it but who has a death signal" {
	local child grandchild
	as_uid "$WS_UID" "$BARE" orphan >"$BATS_TEST_TMPDIR/pids" 2>/dev/null || true
	read -r child grandchild <"$BATS_TEST_TMPDIR/pids"
	NEIGHBOUR=$grandchild
	wait_gone 20 "$child"
	[ "$(status_of "$grandchild" State)" != "" ]
	kill -0 "$grandchild"
}
