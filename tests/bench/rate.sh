#!/usr/bin/env bash
# make bench: approved jobs per second at several at a time, beside bwrap, task-spooler and firejail; then
# what the cage costs by itself.  RUNS=200 of each in a round, ROUNDS=5, LANES="1 2 8 32".
set -eu
. "$(dirname "$0")/../support/workspace.bash"

command -v bwrap >/dev/null || { echo 'bwrap is not installed: `make deps`' >&2; exit 1; }
RUNS=${RUNS:-200} ROUNDS=${ROUNDS:-5} LANES=${LANES:-1 2 8 32}
# Beside the state that is measured, not in a /tmp that may be memory.
export TMPDIR=${TMPDIR:-/var/tmp}
trap workspace_clean EXIT

workspace_make
workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [ { "program": "true" } ], "queue": { "slots": 32 } }
END
if ! is_root; then
	export XDG_STATE_HOME=$WS_TOP/state-home
	WS_STATE=
fi
workspace_start
echo "rates: $RUNS runs of true in a round, $ROUNDS rounds, on $(uname -srm), $(nproc) processors, uid $(id -u), $(
	stat -f -c %T "$WS_TOP")"
# shellcheck disable=SC2086
/usr/bin/python3 -B "$ROOT/tests/bench/rate.py" "$WS" "$WS_STATE" "$WS_BIN" "$BUILD_DIR/bench/rate" "$RUNS" "$ROUNDS" $LANES
agent_safe audit-verify | jq -r '"log: \(.entries) entries, valid: \(.valid)"'

is_root || { echo 'the cage by itself needs root: left out' >&2; exit 0; }
for lanes in 1 8; do
	printf 'bwrap, same namespaces\t%s\t%s' "$(command -v bwrap)" \
	    '--unshare-all	--ro-bind	/	/	--proc	/proc	--dev	/dev	--tmpfs	/tmp	--die-with-parent	--new-session	/bin/true' |
	    "$BUILD_DIR/bench/cage" "$lanes" "$RUNS" "$ROUNDS"
done
