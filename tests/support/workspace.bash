# Scratch workspaces for the tests, the demo and the bench.  Source it; as root the workspace belongs
# to an ordinary uid that has no name, so that it is as on a machine where nothing was set up.
#
#   workspace_make [UID]       WS (holds the policy), WS/proj (the allowed root), WS_STATE, WS_UID
#   workspace_policy           another policy, from standard input
#   workspace_start            the trio, as the operator
#   agent_safe ARG...          the command line tool as the operator (WS_OPERATOR; the caller); JSON, as it is no terminal
#   agent_safe_table ARG...    the same, as a person reads it
#   agent_safe_as UID ARG...   the same as somebody else
#   as_uid UID CMD...          any program as somebody else: that uid and gid, no other groups but WS_GROUPS
#                              (commas between), clean environment
#   propose [UID] [OPTION...] -- CMD...   submit in WS/proj; prints the job's id
#   run_job CMD...             propose, approve and run it; prints the job, exits as run does
#   workspace_clean            ends the trio, removes everything; for teardown, also after a failure

. "${BASH_SOURCE[0]%/*}/wait.bash"

ROOT=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
# Uids of nobody on a Debian machine: above the dynamic range, below what agent-safe gives out itself.
TEST_UID=70001
OTHER_UID=70002

# Fails when the command succeeds: a plain `!` does not end a bats test.
refute() {
	if "$@"; then return 1; fi
}

# jq -e of 1.6 is content when there was nothing to read at all: here that is a failure.
jq() {
	local out status=0
	out=$(command jq "$@") || status=$?
	[ -z "$out" ] || printf '%s\n' "$out"
	[ "$status" = 0 ] || return "$status"
	case $1 in
	-e*) [ -n "$out" ] ;;
	esac
}

is_root() { [ "$(id -u)" = 0 ]; }

# Without root nobody can become somebody else: the caller skips then, loudly.
need_root() { is_root || skip "needs root"; }

as_uid() {
	local uid=$1 groups=--clear-groups
	shift
	[ -z "${WS_GROUPS:-}" ] || groups=--groups=$WS_GROUPS
	if [ "$(id -u)" = "$uid" ]; then
		"$@"
	else
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME="$WS_TOP/home-$uid" \
		    ${XDG_STATE_HOME:+XDG_STATE_HOME="$XDG_STATE_HOME"} \
		    setpriv --reuid "$uid" --regid "$uid" "$groups" "$@"
	fi
}

# Descriptors 3 and 4 are bats' own: a daemon that kept them would make bats wait for it.
agent_safe_as() {
	local uid=$1
	shift
	as_uid "$uid" "$WS_BIN/agent-safe" --workspace "$WS" ${WS_STATE:+--state "$WS_STATE"} "$@" 3>&- 4>&-
}

agent_safe() { agent_safe_as "${WS_OPERATOR:-$(id -u)}" "$@"; }

# What a person reads.
agent_safe_table() {
	as_uid "${WS_OPERATOR:-$(id -u)}" "$WS_BIN/agent-safe" --workspace "$WS" ${WS_STATE:+--state "$WS_STATE"} \
	    -o table "$@" 3>&- 4>&-
}

workspace_start() { agent_safe status >/dev/null; }

workspace_make() {
	workspace_clean # a test has one at a time
	if is_root; then WS_UID=${1:-$TEST_UID}; else WS_UID=$(id -u); fi
	# The name is part of the workspace's ID and so of its cgroup's: letters and digits only.
	WS_TOP=$(mktemp -d "${TMPDIR:-/tmp}/agentsafetestXXXXXXXX")
	chmod 755 "$WS_TOP"
	[ -e /var/lib/agent-safe ] || touch "$WS_TOP/no-registry-before"
	WS_OPERATOR=$(id -u)
	WS=$WS_TOP/ws
	WS_STATE=$WS_TOP/state
	WS_BIN=$BUILD_DIR
	mkdir -p "$WS/proj" "$WS_TOP/home-$WS_UID" "$WS_TOP/home-$OTHER_UID"
	if is_root; then
		# A checkout below /root is closed to other uids: they run copies.  Links are followed by name.
		mkdir "$WS_TOP/bin"
		cp "$BUILD_DIR"/agent-safe* "$WS_TOP/bin/"
		WS_BIN=$WS_TOP/bin
		chown "$WS_UID:$WS_UID" "$WS" "$WS/proj" "$WS_TOP/home-$WS_UID"
		chown "$OTHER_UID:$OTHER_UID" "$WS_TOP/home-$OTHER_UID"
	fi
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [
	    { "program": "true" }, { "program": "false" }, { "program": "echo" }, { "program": "cat" },
	    { "program": "sleep" }, { "program": "env" }, { "program": "sh" }, { "program": "id" }
	  ]
	}
	END
}

workspace_policy() {
	cat >"$WS/agent-safe-policy.json"
}

propose() {
	local uid=$WS_UID
	case $1 in
	[0-9]*)
		uid=$1
		shift ;;
	esac
	agent_safe_as "$uid" submit --new --cwd "$WS/proj" "$@" | jq -er .id
}

run_job() {
	local id
	id=$(propose -- "$@") || return
	agent_safe approve "$id" --by tester >/dev/null || return
	agent_safe run "$id" --execute
}

# "broker 1234" and so on, of the running trio.
workspace_pids() { agent_safe status | jq -er '.pids | to_entries[] | "\(.key) \(.value)"'; }

# Processes that hold something of this workspace open; as root all of them, else those one may look at.
workspace_holders() {
	find /proc/[0-9]*/fd -maxdepth 1 -lname "$WS_TOP/*" 2>/dev/null | cut -d/ -f3 | sort -un | grep -vx "$$" || true
}

# Wait until every given pid is gone (or a zombie of somebody's); $1: tenths of a second.
wait_gone() {
	local left=$1 pid alive
	shift
	while :; do
		alive=0
		for pid in "$@"; do
			case $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null) in
			'' | Z | X) ;;
			*) alive=1 ;;
			esac
		done
		[ $alive = 1 ] || return 0
		[ "$left" -gt 0 ] || return 1
		left=$((left - 1))
		sleep 0.1
	done
}

# Ends the trio in good order; what is left then is ended by its number.
workspace_stop() {
	local pids
	[ -d "$WS" ] || return 0
	agent_safe serve --stop >/dev/null 2>&1 || true
	pids=$(workspace_holders)
	# shellcheck disable=SC2086
	wait_gone 20 $pids || kill -KILL $pids 2>/dev/null || true
}

# Root's trio took a line in the registry of uids: the test's own lines go, others stay.
registry_clean() {
	local registry=/var/lib/agent-safe/uids
	if ! is_root || [ ! -f $registry ]; then return 0; fi
	flock $registry sh -c 'kept=$(grep -vF " $1/" "$0"); printf "%s" "${kept:+$kept
}" >"$0"' $registry "$WS_TOP"
	if [ -e "$WS_TOP/no-registry-before" ] && [ ! -s $registry ]; then
		rm -f $registry
		rmdir /var/lib/agent-safe/workspaces /var/lib/agent-safe 2>/dev/null || true
	fi
}

workspace_clean() {
	local fs
	[ -n "${WS_TOP:-}" ] && [ -d "$WS_TOP" ] || return 0
	workspace_stop
	for fs in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		find "$fs" -depth -type d -path "*/*${WS_TOP##*/}*" -exec rmdir {} + 2>/dev/null || true
	done
	registry_clean
	# What a test mounted in it, innermost first.
	awk -v top="$WS_TOP/" 'index($2, top) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l
	# The log is append-only where root started the trio.
	if is_root; then chattr -R -a "$WS_TOP" 2>/dev/null || true; fi
	rm -rf "$WS_TOP"
	WS_TOP=
}
