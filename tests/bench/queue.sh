#!/usr/bin/env bash
# make bench: what a queue of JOBS=1000000 jobs costs, beside one of 1,000.  Needs root: the rows are put in below the socket.
set -eu
. "$(dirname "$0")/../support/workspace.bash"

is_root || { echo 'the bench of a long queue needs root: left out' >&2; exit 0; }
trap workspace_clean EXIT
workspace_make
workspace_start
/usr/bin/python3 -B "$ROOT/tests/bench/queue.py" "$WS" "$WS_STATE" "$WS_BIN" 1000 "${JOBS:-1000000}"
