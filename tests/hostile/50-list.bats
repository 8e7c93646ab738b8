#!/usr/bin/env bats
# The list of all that is tried here (list beside this file): that nothing is missing in it, and what it comes to.

load ../support/workspace
load ../support/hostile

rows() { grep -v '^#' "$ROOT/tests/hostile/${1:-list}"; }

# "number|where" of each line
places() { rows "$@" | sed 's/ *| */|/g' | awk -F'|' '{ print $1 "|" $3 }'; }

@test "every number is in the list, all 82 of the attempts and what came later, and no row says nothing" {
	local last
	last=$(rows | cut -d' ' -f1 | sort -nu | tail -n 1)
	[ "$last" -ge 82 ]
	[ "$(rows | cut -d' ' -f1 | sort -nu | tr '\n' ' ')" = "$(seq -s ' ' 1 "$last") " ]
	[ -z "$(rows | awk -F' [|] ' 'NF != 3 || $2 == "" || $3 == ""')" ]
}

# Of a list.
wrong_places() {
	local number place file name path wrong=
	while IFS='|' read -r number place; do
		case $place in
		probe) grep -qE "^	\{ $number, \"" "$ROOT"/tests/hostile/probe_*.c || wrong+="the probe has no $number"$'\n' ;;
		'none: '?*) ;;
		*)
			file=${place%%: *} name=${place#*: }
			path=$(ls "$ROOT/tests/$file".bats "$ROOT/tests/$file".c "$ROOT/tests/$file".py 2>/dev/null || true)
			[ -n "$path" ] && grep -qF -- "$name" "$path" || wrong+="$number: $place"$'\n' ;;
		esac
	done < <(places "$1")
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

@test "every test that the list names is there, and every number said to be the probe's is in it" {
	wrong_places list
}

@test "every test that the field cases name is there, and each case of categories 5, 6 and 7 is named" {
	wrong_places cases
	[ "$(rows cases | cut -d' ' -f1 | sort -nu | tr '\n' ' ')" = "501 502 504 505 506 508 509 601 602 603 604 605 607 608 $(
	    )609 611 612 613 614 615 616 701 702 704 705 706 " ]
	rows cases | sed -n 's/^\([0-9]*\) | \(.*\) | none: \(.*\)/# |     field case \1 not tried: \2 (\3)/p' >&3
}

@test "every attempt of the probe has a row of the list" {
	local number
	for number in $(grep -ohE '^	\{ [0-9]+, "' "$ROOT"/tests/hostile/probe_*.c | grep -oE '[0-9]+' | sort -nu); do
		grep -qx "$number|probe" <(places) || { echo "$number"; return 1; }
	done
}

# Tests of this folder that no row names; names: the places of list and cases.
unnamed() {
	local file test name
	for file in "$ROOT"/tests/hostile/*.bats; do
		[ "${file##*/}" != 50-list.bats ] || continue
		while IFS= read -r test; do
			while IFS= read -r name; do
				[ "${test#"$name"}" = "$test" ] || continue 2
			done < <(sed -n "s#^[^|]*|hostile/$(basename "$file" .bats): ##p" "$1")
			echo "$(basename "$file"): $test"
		done < <(sed -n 's/^@test "\(.*\)" {.*/\1/p' "$file")
	done
}

@test "every test of this folder has a row of the list or is named by a field case, and one without is found" {
	{ places list; places cases; } >"$BATS_TEST_TMPDIR/all"
	[ -z "$(unnamed "$BATS_TEST_TMPDIR/all")" ] || { unnamed "$BATS_TEST_TMPDIR/all"; return 1; }
	grep -v 44-agents "$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/less"
	unnamed "$BATS_TEST_TMPDIR/less" | grep -q '^44-agents.bats: claude'
}

# One line of the table.
count() {
	local attempts=$BATS_TEST_TMPDIR/attempts
	printf '# | %-18s %3d attempts, %3d contained, %d skipped, %d not contained\n' "$1" "$(wc -l <"$attempts")" \
	    "$(grep -cvE 'SKIPPED|UNEXPECTED' "$attempts" || true)" "$(grep -c SKIPPED "$attempts" || true)" \
	    "$(grep -c UNEXPECTED "$attempts" || true)" >&3
	sed -n 's/^\([0-9]*\) \(.*\): SKIPPED: \(.*\)/# |     skipped: \1 \2 (\3)/p' "$attempts" >&3
}

@test "as root and as an ordinary user: all attempts, and what came of them" {
	if is_root; then
		hostile_make
		hostile_host
		hostile_attempts
		hostile_host_end
		count "started by root"
		workspace_clean
	fi
	hostile_make
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	if as_uid "$WS_UID" unshare -Ur true 2>/dev/null; then
		hostile_host
		hostile_attempts
		count "an ordinary user's"
	else
		echo "# | an ordinary user's: none tried, this kernel gives no user namespace" >&3
	fi
	rows | sed -n 's/^\([0-9]*\) | \(.*\) | none: \(.*\)/# |     not tried: \1 \2 (\3)/p' >&3
	[ "$(cat /sys/fs/cgroup/cgroup.controllers /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null | grep -cE 'memory|pids')" != 0 ] ||
	    echo '# |     skipped: 57, 62 by cgroup (no controller memory or pids in version 2: system/90-controllers)' >&3
}

teardown() {
	hostile_host_end
	workspace_clean
}
