#!/usr/bin/env bash
# make demo: the main job in a scratch workspace.  Each line after $ is the real command, below it is
# what it printed.  As root the agent is a uid of its own that can only propose; as an ordinary user
# everything runs under that user.  Nothing is left behind.
set -euo pipefail
. "$(dirname "$0")/../tests/support/workspace.bash"

trap workspace_clean EXIT
trap 'exit 130' INT TERM

# Prints a command as it is run: show WHO ARGUMENT...
show() {
	local word
	printf '\n%s$ agent-safe' "${1:+[$1] }"
	shift
	for word; do
		[[ $word =~ ^[A-Za-z0-9_./:=@%+-]+$ ]] || word=${word@Q}
		printf ' %s' "$word"
	done
	printf '\n'
}

tool() {
	local uid=$1
	shift
	as_uid "$uid" "$WS_BIN/agent-safe" --workspace "$WS" ${WS_STATE:+--state "$WS_STATE"} "$@"
}

operator() { show "$OPERATOR" "$@"; tool "$(id -u)" "$@"; }
agent() { show "$AGENT" "$@"; tool "$WS_UID" "$@"; }

# Is refused, and that is what we want to see.
refused() {
	if "$@"; then
		echo 'this should have been refused' >&2
		return 1
	fi
}

workspace_make
cd "$WS/proj"
if is_root; then
	OPERATOR=root AGENT="uid $WS_UID"
else
	OPERATOR='' AGENT=''
	export XDG_STATE_HOME=$WS_TOP/state-home
	WS_STATE=
fi
echo "workspace $WS, policy:"
cat "$WS/agent-safe-policy.json"
operator -o table status

echo; echo '== The agent proposes.  A secret is refused before anything is stored.'
refused agent submit -- echo 'token=ghp_0123456789abcdefghijABCDEFGHIJ012345'
agent -o name submit -- sh -c 'echo "hello from the cage, I am $(id -u)"; ls -a; echo mine >made-by-the-job'
id=$(tool "$(id -u)" -o name list --newest --limit 1)

echo; echo '== What would run, exactly, and what the policy says.  Without a decision nothing runs.'
operator -o table assess "$id"
digest=$(tool "$(id -u)" --json assess "$id" | jq -er .spec_digest)
refused operator run "$id" --execute
if is_root; then
	echo; echo '== The agent cannot decide.'
	refused agent approve "$id" --by agent
fi

echo; echo '== A person decides, on the digest that was shown.'
operator -o name approve "$id" --by "${SUDO_USER:-${USER:-operator}}" --digest "$digest"

echo; echo '== It runs in its cage.'
operator -o table run "$id" --execute
operator logs "$id"
ls -ln "$WS/proj"

echo; echo '== What happened is on record; a separate program checks it.'
operator -o table audit-verify
