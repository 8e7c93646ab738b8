#!/usr/bin/env bats
# The trio, keepers and clients die at random and at named points; nothing is lost and nothing runs twice.
load ../support/workspace
load ../support/procs

setup() {
	need_root
	workspace_make
}
teardown() {
	workspace_clean
}

# 200 rounds take some 90 s on an idle machine; a busy one does what fits into that time and says how many.
@test "no acknowledged job or decision is lost and no run happens twice, whoever dies when" {
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -o "$WS_TOP/stepkill" "$ROOT/tests/soak/stepkill.c"
	local seed=${SEED:-$RANDOM}
	sed -i 's/"version": 2,/"version": 2, "queue": { "workers": 4 },/' "$WS/agent-safe-policy.json"
	workspace_start
	run timeout 140 python3 -B "$ROOT/tests/soak/crash.py" --ws "$WS" --state "$WS_STATE" --bin "$WS_BIN" \
	    --stepkill "$WS_TOP/stepkill" --rounds 200 --seconds 85 --workers --seed "$seed"
	echo "seed $seed"
	echo "$output"
	[ "$status" = 0 ]
	echo "# $output" >&3
}
