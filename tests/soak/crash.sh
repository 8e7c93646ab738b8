#!/usr/bin/env bash
# make soak: rounds of crash.py for SECONDS_TO_RUN, a new workspace and seed for each hundred.  Needs root.
set -eu
. "$(dirname "$0")/../support/workspace.bash"

is_root || { echo 'skipped: needs root' >&2; exit 1; }
trap workspace_clean EXIT
until=$((SECONDS + ${SECONDS_TO_RUN:-60}))
seed=${SEED:-$RANDOM}
while [ $SECONDS -lt $until ]; do
	workspace_make
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -o "$WS_TOP/stepkill" "$ROOT/tests/soak/stepkill.c"
	# Every second time the broker's own workers run what is approved, and nobody lends a hand.
	workers=()
	if [ $((seed % 2)) = 1 ]; then
		sed -i 's/"version": 2,/"version": 2, "queue": { "workers": 4 },/' "$WS/agent-safe-policy.json"
		workers=(--workers)
	fi
	workspace_start
	/usr/bin/python3 -B "$ROOT/tests/soak/crash.py" --ws "$WS" --state "$WS_STATE" --bin "$WS_BIN" \
	    --stepkill "$WS_TOP/stepkill" --rounds 100 --seconds $((until - SECONDS)) "${workers[@]}" --seed "$seed" || {
		echo "seed $seed; the state is kept in ${TMPDIR:-/tmp}/agent-safe-soak.$$" >&2
		cp -r "$WS_STATE" "${TMPDIR:-/tmp}/agent-safe-soak.$$"
		exit 1
	}
	workspace_clean
	seed=$((seed + 1))
done
