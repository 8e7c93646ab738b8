# Rounds of tests/soak/crash.py in a workspace of their own; for a test file that has loaded workspace.

# crash_rounds N SECONDS [--workers]: N rounds, or as many as fit; says how many.
crash_rounds() {
	local rounds=$1 seconds=$2 seed=${SEED:-$RANDOM}
	shift 2
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -o "$WS_TOP/stepkill" "$ROOT/tests/soak/stepkill.c"
	workspace_start
	run timeout $((seconds + 25)) python3 -B "$ROOT/tests/soak/crash.py" --ws "$WS" --state "$WS_STATE" --bin "$WS_BIN" \
	    --stepkill "$WS_TOP/stepkill" --rounds "$rounds" --seconds "$seconds" "$@" --seed "$seed"
	echo "seed $seed"
	echo "$output"
	[ "$status" = 0 ]
	echo "# $output" >&3
}
