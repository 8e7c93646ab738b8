#!/usr/bin/env bash
# Kills one of the trio, or a keeper, at a random moment, again and again for SECONDS_TO_RUN, while jobs are
# proposed and run.  After each round: every acknowledged job is there, none ran more often than it may,
# the log verifies.  Needs root.
set -u
. "$(dirname "$0")/../support/workspace.bash"
. "$(dirname "$0")/../support/procs.bash"

is_root || { echo 'skipped: needs root' >&2; exit 1; }
RANDOM=${SEED:-$$}
echo "seed ${SEED:-$$}"
trap workspace_clean EXIT
workspace_make
until=$((SECONDS + ${SECONDS_TO_RUN:-60}))
rounds=0 kept=()

fail() {
	echo "round $rounds: $*" >&2
	cp -r "$WS_STATE" "${TMPDIR:-/tmp}/agent-safe-soak.$$"
	echo "the state is kept in ${TMPDIR:-/tmp}/agent-safe-soak.$$" >&2
	exit 1
}

victim() {
	case $((RANDOM % 4)) in
	3) running "$WS_BIN/agent-safe-keeper" | head -n 1 ;;
	*) workspace_pids 2>/dev/null | sed -n "$((RANDOM % 3 + 1))s/.* //p" ;;
	esac
}

while [ $SECONDS -lt $until ]; do
	rounds=$((rounds + 1))
	pid=$(victim)
	(sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"; [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null) &
	# Counts its own runs: a line per start.
	name=job-$rounds
	id=$(agent_safe_as "$WS_UID" submit --key "$name" --cwd "$WS/proj" -- sh -c "echo x >>$name" 2>/dev/null | jq -er .id) &&
	    kept+=("$id $name")
	[ -z "$id" ] || agent_safe approve "$id" --by soak >/dev/null 2>&1
	[ -z "$id" ] || agent_safe run "$id" --execute >/dev/null 2>&1
	wait
	wait_until 5 workspace_start 2>/dev/null || fail "no new start: $(tail -n 5 "$WS_STATE/trio.log")"
	agent_safe audit-verify >/dev/null || fail 'the log does not verify'
done
for one in "${kept[@]}"; do
	read -r id name <<<"$one"
	status=$(agent_safe show "$id" | jq -er .status) || fail "$id was acknowledged and is gone"
	[ ! -e "$WS/proj/$name" ] || [ "$(wc -l <"$WS/proj/$name")" -le 1 ] || fail "$id ran twice ($status)"
done
echo "$rounds rounds, ${#kept[@]} acknowledged jobs, all there, none ran twice, the log verifies"
