#!/usr/bin/env bash
# make bench: a proposal and an approved run, each as one command line process, beside bwrap and a bare
# spawn of the same program, alternating in the same rounds.  ROUNDS=100.
set -eu
. "$(dirname "$0")/../support/workspace.bash"

ROUNDS=${ROUNDS:-100}
command -v bwrap >/dev/null || { echo 'bwrap is not installed: `make deps`' >&2; exit 1; }
trap workspace_clean EXIT

workspace_make
if ! is_root; then
	export XDG_STATE_HOME=$WS_TOP/state-home
	WS_STATE=
fi
workspace_start
echo "preparing $ROUNDS approved jobs on $(uname -srm), $(nproc) processors, uid $(id -u)"
for _ in $(seq "$ROUNDS"); do
	id=$(propose -- true)
	agent_safe approve "$id" --by bench >/dev/null
	echo "$id"
done >"$WS_TOP/ids"

tool=$(printf '%s\t--workspace\t%s' "$WS_BIN/agent-safe" "$WS")
[ -z "$WS_STATE" ] || tool=$(printf '%s\t--state\t%s' "$tool" "$WS_STATE")
cd "$WS/proj"
{
	printf 'bwrap --unshare-all ... true\t%s' "$(command -v bwrap)"
	printf '\t%s' --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --die-with-parent --new-session /bin/true
	printf '\nposix_spawn true\t/bin/true\n'
	printf 'agent-safe run ID --execute (true)\t%s\trun\t{%s}\t--execute\n' "$tool" "$WS_TOP/ids"
	printf 'agent-safe submit -- true\t%s\tsubmit\t--new\t--\ttrue\n' "$tool"
	printf 'agent-safe --version\t%s\t--version\n' "$WS_BIN/agent-safe"
} | "$BUILD_DIR/bench/bench" "$ROUNDS" "$WS_TOP"
agent_safe audit-verify | jq -r '"log: \(.entries) entries, valid: \(.valid)"'
