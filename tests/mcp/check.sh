#!/usr/bin/env bash
# make check-mcp: the official clients, inspector and conformance suite, and real agents, against the real
# trio.  The proposer is an ordinary uid, the operator root.  Everything runs without a network; only the
# installation of the packages (once, into BUILD/npm) needs one.  What cannot be had is skipped, loudly.
#
#   check.sh [load] [clients] [inspector] [conformance] [agents]    default: all
set -u
here=$(cd "$(dirname "$0")" && pwd)
# Some agents refuse to live below /tmp.
export TMPDIR=/var/tmp
. "$here/../support/workspace.bash"
. "$here/../support/agents.bash"

PEERS='@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
    @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0'
passed=0 failed=0 skipped=0

report() { # STATUS NAME: one line, counted
	case $1 in
	0) passed=$((passed + 1)); echo "ok: $2" ;;
	*) failed=$((failed + 1)); echo "FAILED: $2 (status $1)" ;;
	esac
}

skipped() {
	skipped=$((skipped + 1))
	echo "SKIPPED: $1"
}

# The server as the proposer, whoever starts it.
server=()
start_trio() {
	workspace_make
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "echo" }, { "program": "cat" }, { "program": "sleep" }, { "program": "sh" } ]
	}
	END
	workspace_start || exit
	server=(setpriv --reuid "$WS_UID" --regid "$WS_UID" --clear-groups
	    "$WS_BIN/agent-safe-mcp" --workspace "$WS" --state "$WS_STATE")
	cd "$WS/proj" || exit
}

# A network of its own with nothing but a loopback.
alone() { unshare --net bash -c 'ip link set lo up && exec "$@"' bash "$@"; }

# --- the parts -----------------------------------------------------------------------------------

check_load() {
	timeout 120 /usr/bin/python3 -B "$here/load.py" 2000 "$WS/proj" "${server[@]}"
	report $? "2,000 calls over one connection, memory flat"
}

check_clients() {
	local mode
	# They are looked for beside the files that import them.
	mkdir -p "$NPM/peers"
	cp "$here"/{common,client-v1,client-v2}.mjs "$NPM/peers/"
	alone timeout 60 "$NODE" "$NPM/peers/client-v1.mjs" "${server[@]}"
	report $? "official client v1 (sdk 1.32.2), handshake"
	for mode in legacy auto pin; do
		alone timeout 60 "$NODE" "$NPM/peers/client-v2.mjs" $mode "${server[@]}"
		report $? "official client v2 (2.4.0), $mode"
	done
}

inspect() {
	alone timeout 120 "$NODE" "$NPM/node_modules/.bin/mcp-inspector" --cli "${server[@]}" "$@"
}

check_inspector() {
	local era answer=$WS_TOP/answer status
	for era in legacy modern; do
		inspect --protocol-era $era --format json -q --method tools/list --strict >"$answer" 2>"$answer.warnings" &&
		    ! grep -E -A3 '^(Warning|Error)' "$answer.warnings" &&
		    [ "$(jq '(.tools // .result.tools) | length' "$answer")" = 8 ]
		report $? "inspector 2.12.0, $era: 8 tools, portable schemas"
		inspect --protocol-era $era --format json -q --method tools/call --tool-name propose \
		    --tool-args-json '{"command":["echo","inspector"]}' >"$answer"
		report $? "inspector, $era: propose"
		inspect --protocol-era $era --format json -q --method tools/call --tool-name propose \
		    --tool-args-json '{"command":[]}' >"$answer" 2>&1
		status=$?
		[ $status = 5 ]
		report $? "inspector, $era: a refusal is a tool's error (its exit status 5; was $status)"
	done
	inspect --protocol-era legacy --method tools/call --tool-name policy --load --load-requests 2000 \
	    --load-concurrency 10 >"$answer" 2>&1
	report $? "inspector's load: 2,000 calls, 10 at once"
	command jq -r '"load: inspector, 10 at once: \(.throughput | floor) calls/s, p50 \(.latencyMs.p50) ms, p99 \(.latencyMs.p99) ms"' "$answer"
}

# conformance SPEC-VERSION SCENARIO
conformance() {
	local out=$WS_TOP/conformance status
	timeout 60 "$NODE" "$NPM/node_modules/.bin/conformance" server --url http://127.0.0.1:18090/mcp \
	    --scenario "$2" --spec-version "$1" --expected-failures "$here/expected-failures.yml" >"$out" 2>&1
	status=$?
	report $status "conformance 0.2.0-alpha.12, $1 $2: $(grep -i '^passed: ' "$out" | tail -n 1)"
	[ $status = 0 ] || tail -n 25 "$out"
}

# Inside the network of its own: bridge and suite.
conformance_inside() {
	"$NODE" "$here/bridge.mjs" 18090 "${server[@]}" >"$WS_TOP/bridge" 2>&1 &
	local bridge=$! scenario
	for _ in $(seq 100); do
		grep -q ready "$WS_TOP/bridge" && break
		sleep 0.1
	done
	for scenario in server-initialize ping tools-list; do
		conformance 2025-06-18 $scenario
		conformance 2025-11-25 $scenario
	done
	for scenario in server-stateless tools-list caching \
	    input-required-result-unsupported-methods; do
		conformance 2026-07-28 $scenario
	done
	kill $bridge
	wait $bridge 2>/dev/null
	grep -v ready "$WS_TOP/bridge"
	echo "$passed $failed $skipped" >"$WS_TOP/counted"
}

check_conformance() {
	export NPM NODE WS_TOP BUILD_DIR here passed failed skipped
	export -f conformance conformance_inside report
	alone bash -c 'server=("$@"); conformance_inside' bash "${server[@]}"
	read -r passed failed skipped <"$WS_TOP/counted" || report 1 "conformance ended early"
}

. "$here/agents.sh"

# -------------------------------------------------------------------------------------------------

parts=${*:-load clients inspector conformance agents}
is_root || { skipped "everything: needs root (a proposer and an operator that are two)"; exit 1; }
trap workspace_clean EXIT
start_trio
if [[ " $parts " == *" load "* ]]; then check_load; fi
peers=
for part in clients inspector conformance; do
	[[ " $parts " == *" $part "* ]] || continue
	# shellcheck disable=SC2086
	[ -n "$peers" ] || { npm_install $PEERS $NODE_PACKAGE && [ -x "$NODE" ] && peers=yes; } || peers=no
	if [ $peers = yes ]; then check_$part; else skipped "$part: the packages cannot be had (see $NPM/log)"; fi
done
if [[ " $parts " == *" agents "* ]]; then check_agents; fi
agent_safe audit-verify | jq -e .valid >/dev/null
report $? "the log verifies"
echo "check-mcp: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
