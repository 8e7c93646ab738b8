# launch with stand-ins for the three.  Everything happens in a mount namespace of its own with another
# /var/lib and /run, so that neither the uid registry nor a socket of the machine is touched.
#
#   launch_make             LT (scratch), LT_BIN (programs), LT_WS (workspace of uid 70001), LT_STATE
#   launch_policy LINE...   the stand-in's policy
#   launch ARG...           agent-safe-launch, its output in $output, its exit in $status (use with run)
#   fact NAME PATTERN       a line "NAME PATTERN" (fixed words) is in the log of the trio
#   inside CMD...           any command in that mount namespace
#   launch_stop             ends the trio in good order
#   launch_clean            ends everything and removes it

ROOT=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
LT_UID=70001

build_standins() {
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -Wall -O1 -iquote "$ROOT/shared" -o "$1/agent-safe-broker" \
	    "$ROOT"/tests/support/standin.c "$ROOT"/shared/{fields,boot,text,tcp_ports}.c || return 1
	ln "$1/agent-safe-broker" "$1/agent-safe-executor"
	ln "$1/agent-safe-broker" "$1/agent-safe-auditor"
	ln "$1/agent-safe-broker" "$1/agent-safe-keeper"
	ln "$1/agent-safe-broker" "$1/agent-safe-courier"
	cp "$BUILD_DIR/agent-safe-launch" "$1/"
}

# The namespace lives as long as this process sleeps; bats must not wait for it.
open_namespace() {
	mkdir -p "$LT/var-lib" "$LT/run" "$LT/etc"
	cp /etc/passwd /etc/group "$LT/etc/"
	unshare --mount --propagation private sh -c '
		mount --bind "$0/var-lib" /var/lib && mount --bind "$0/run" /run &&
		mount --bind "$0/etc/passwd" /etc/passwd && mount --bind "$0/etc/group" /etc/group &&
		: > "$0/namespace" && exec sleep 600' "$LT" 3>&- 4>&- >/dev/null 2>&1 &
	LT_NS=$!
	local left=50
	until [ -e "$LT/namespace" ]; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

inside() { nsenter --mount="/proc/$LT_NS/ns/mnt" "$@" 3>&- 4>&-; }

launch_make() {
	LT=$(mktemp -d /tmp/launchtestXXXXXXXX)
	chmod 755 "$LT"
	LT_BIN=$LT/bin
	LT_WS=$LT/ws
	LT_STATE=$LT/var-lib/agent-safe/workspaces/tmp-${LT#/tmp/}-ws
	mkdir "$LT_BIN" "$LT_WS" "$LT_WS/proj" "$LT_WS/ro"
	chown $LT_UID:$LT_UID "$LT_WS" "$LT_WS/proj" "$LT_WS/ro"
	build_standins "$LT_BIN" && open_namespace || return 1
	launch_policy "slots 3" "root 0 $LT_WS/proj" "root 4 $LT_WS/ro"
}

launch_policy() { printf '%s\n' "$@" > "$LT_WS/agent-safe-policy.json"; }

launch_at() { inside timeout 60 "$LT_BIN/agent-safe-launch" "$@"; }

launch() { launch_at --workspace "$LT_WS" "$@"; }

# A line of the log with exactly these words; "...": any rest
fact() {
	if [[ $1 == *... ]]; then
		grep -qF -- "${1%...}" "$LT_STATE/trio.log"
	else
		grep -qxF -- "$1" "$LT_STATE/trio.log"
	fi || { echo "no line: $1"; grep -- "^${1%% *} " "$LT_STATE/trio.log" | head -100; return 1; }
}

# The last word(s) of the line that begins so
fact_value() { sed -n "s/^$1 //p" "$LT_STATE/trio.log" | tail -1; }

# Facts come while launch ends: wait for the last one of the executor and the broker's
facts_complete() {
	local left=50
	until grep -q "^executor ${1:-setuid-job} " "$LT_STATE/trio.log" 2>/dev/null; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# Pids of programs that lie in LT_BIN
trio_pids() {
	local exe
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe" 2>/dev/null) in
		"$LT_BIN"/*) echo "${exe//[!0-9]/}" ;;
		esac
	done
}

no_trio() { [ -z "$(trio_pids)" ] || { ps -fp $(trio_pids); return 1; }; }

LT_STOP='
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.send(b"server.stop\n")
s.recv(10)'

launch_stop() {
	inside python3 -c "$LT_STOP" "${1:-/var/lib/agent-safe/workspaces/${LT_STATE##*/}/control.sock}" || return 1
	local left=50
	while [ -n "$(trio_pids)" ]; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# Where cgroup2 is mounted
cgroup_root() { sed -n 's/^\(\S* \)\{4\}\(\S*\) .* - cgroup2 .*/\2/p' /proc/self/mountinfo | head -1; }

cgroups_of_test() {
	local top
	top=$(cgroup_root)
	[ -z "$top" ] || find "$top" -depth -type d -path "*agent-safe-tmp-${LT#/tmp/}*" 2>/dev/null
}

launch_clean() {
	local pid group
	[ -n "$LT" ] || return 0
	# A launch that still runs starts more of them: until nobody is left.
	while pid=$(trio_pids) && [ -n "$pid" ]; do
		kill -9 $pid 2>/dev/null
		sleep 0.1
	done
	for group in $(cgroups_of_test); do rmdir "$group" 2>/dev/null; done
	[ -z "$LT_NS" ] || kill "$LT_NS" 2>/dev/null
	chattr -f -R -a "$LT" 2>/dev/null
	rm -rf "$LT"
	LT=
	return 0
}
