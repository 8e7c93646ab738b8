# A broker that only talks, for the tests of agent-safe and agent-safe-mcp.  Source it.
#
#   fake_start        FAKE (a folder), FAKE/ws (a workspace); the script comes on standard input
#   fake_cli ARG...   agent-safe against it; standard output is no terminal, so JSON
#   fake_tty ARG...   the same on a pseudo terminal: what a person sees (needs script(1))
#   fake_begin ARG... agent-safe in the background, its pid in BEGUN
#   fake_seen METHOD  the requests of that method, one JSON line each
#   fake_stop         for teardown

. "${BASH_SOURCE[0]%/*}/wait.bash"

ROOT=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
AGENT_SAFE=$BUILD_DIR/agent-safe

fake_start() {
	FAKE=$(mktemp -d "${TMPDIR:-/tmp}/agentsafefakeXXXXXXXX")
	mkdir -p "$FAKE/ws/proj" "$FAKE/state"
	printf '{"version":2,"allowed_working_roots":["proj"],"rules":[]}\n' >"$FAKE/ws/agent-safe-policy.json"
	cat >"$FAKE/script"
	/usr/bin/python3 "$ROOT/tests/support/fakebroker.py" "$FAKE/state" <"$FAKE/script" >"$FAKE/out" 2>&1 3>&- 4>&- &
	FAKE_PID=$!
	wait_until 5 test -e "$FAKE/state/ready" || { cat "$FAKE/out"; return 1; }
}

fake_stop() {
	[ -n "${FAKE:-}" ] || return 0
	touch "$FAKE/state/stop"
	wait "$FAKE_PID" 2>/dev/null
	rm -rf "$FAKE"
	FAKE=
}

fake_cli() {
	timeout 20 "$AGENT_SAFE" --workspace "$FAKE/ws" --state "$FAKE/state" "$@" 3>&- 4>&-
}

# script(1) ends lines with CR LF, as a terminal does.
fake_tty() {
	local line
	printf -v line '%q ' timeout 20 "$AGENT_SAFE" --workspace "$FAKE/ws" --state "$FAKE/state" "$@"
	TERM=${FAKE_TERM:-xterm} script -qec "$line" /dev/null </dev/null 3>&- 4>&- | tr -d '\r'
	return "${PIPESTATUS[0]}"
}

# In the background, with INT as a shell for people leaves it: BEGUN, FAKE/job, FAKE/err.
fake_begin() {
	env --default-signal=INT "$AGENT_SAFE" --workspace "$FAKE/ws" --state "$FAKE/state" "$@" \
	    >"$FAKE/job" 2>"$FAKE/err" 3>&- 4>&- &
	BEGUN=$!
}

# bats does not notice a failing `! command`.
refute() { ! "$@"; }

fake_seen() {
	jq -c --arg m "$1" 'select(.method == $m)' "$FAKE/state/requests"
}

# asked METHOD: it has been asked for that
asked() { [ -n "$(fake_seen "$1" 2>/dev/null)" ]; }
