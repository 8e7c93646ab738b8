# A host of the test's own making: everything of the workspace runs in a network namespace with its loopback
# up and a way to a second one, which stands in for all other machines.  After workspace.bash and hostile.bash.
# Nothing is ever sent outside of these two.
#
#   network_make            the two namespaces; HOST_NS, LAN_NS (pids that hold them)
#   network_listen          NAMED OTHER (ports): listeners on the host's loopback, of both versions, and in the
#                           other namespace; each TCP port answers "hello from WHERE"
#   on_host CMD...          a command in the host's namespaces: its mounts are its own too
#   cage_policy CAGE        the policy of hostile_make with this `cage` section for the probe and python3
#   network_clean_listeners, network_clean
#   begin CAGE              the trio, anew, with that policy
#   as_ordinary_user        from now on an ordinary user's trio instead of root's
#   need_ports              skip where this kernel cannot give ports
#   output_of CMD...        a job's standard output, when it succeeded; the job is in $BATS_TEST_TMPDIR/ran
#   connects HOST PORT ANSWER   what a job's connect() there gets: WORKED, or an errno
#   the_host_reaches_all    the same program outside of any cage reaches every listener
#   attempts_under CAGE OPTION...   all hostile attempts, with these options of the probe

LAN=10.77.0.2 # of the namespaces alone

on_host() { nsenter --net="/proc/$HOST_NS/ns/net" --mount="/proc/$HOST_NS/ns/mnt" "$@"; }

# Instead of workspace.bash's: in that namespace.
as_uid() {
	local uid=$1
	shift
	if [ "$uid" = 0 ]; then
		on_host "$@"
	else
		on_host env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME="$WS_TOP/home-$uid" \
		    ${XDG_STATE_HOME:+XDG_STATE_HOME="$XDG_STATE_HOME"} \
		    setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
	fi
}

# Prints the pid of a process that holds a new namespace, and mounts of its own.
hold_namespace() {
	unshare --net --mount sleep 600 3>&- 4>&- >/dev/null 2>&1 &
	echo $!
}

has_lines() { [ "$(wc -l <"$1")" = "$2" ]; }
namespace_is_new() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

network_make() {
	HOST_NS=$(hold_namespace)
	LAN_NS=$(hold_namespace)
	wait_until 5 namespace_is_new "$HOST_NS"
	wait_until 5 namespace_is_new "$LAN_NS"
	on_host ip link set lo up
	on_host ip link add name away type veth peer name away netns "$LAN_NS"
	on_host ip addr add 10.77.0.1/24 dev away
	on_host ip link set away up
	nsenter --net="/proc/$LAN_NS/ns/net" sh -c "ip link set lo up; ip addr add $LAN/24 dev away; ip link set away up"
	export HOST_NS LAN_NS
}

# Each connection is answered and closed.
LISTENER='
import socket, sys, threading
def serve(s, where):
    while True:
        c, _ = s.accept()
        c.sendall(b"hello from " + where + b"\n")
        c.close()
where, ports = sys.argv[1].encode(), [int(p) for p in sys.argv[2:]]
for port in ports:
    for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
        s = socket.socket(family)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind((address, port))
        s.listen(16)
        threading.Thread(target=serve, args=(s, where), daemon=True).start()
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", ports[-1]))
print("ready", flush=True)
threading.Event().wait(600)'

# A namespace has all ports free: the numbers can stand here.
network_listen() {
	[ -z "${LISTEN_PIDS:-}" ] || return 0
	NAMED=7001 OTHER=7002
	local file=$BATS_TEST_TMPDIR/listening
	: >"$file"
	# Not by on_host: a function in the background is a shell of its own, and its pid not the program's.
	nsenter --net="/proc/$HOST_NS/ns/net" /usr/bin/python3 -c "$LISTENER" host $NAMED $OTHER >>"$file" 3>&- 4>&- &
	LISTEN_PIDS=$!
	nsenter --net="/proc/$LAN_NS/ns/net" /usr/bin/python3 -c "$LISTENER" lan $NAMED $OTHER >>"$file" 3>&- 4>&- &
	LISTEN_PIDS+=" $!"
	wait_until 5 has_lines "$file" 2
}

cage_policy() {
	workspace_policy <<-END
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "cage": $1,
	  "rules": [ { "program": "$WS/proj/probe" }, { "program": "/usr/bin/python3" }, { "program": "sh" } ],
	  "limits": { "timeout_seconds": 120, "grace_seconds": 1, "processes": 200, "open_files": 1024,
	      "tmp_bytes": 67108864 }
	}
	END
}

network_clean_listeners() {
	local pid
	for pid in ${LISTEN_PIDS:-}; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	LISTEN_PIDS=
}

network_clean() {
	local pid
	network_clean_listeners
	for pid in ${HOST_NS:-} ${LAN_NS:-}; do
		kill "$pid" 2>/dev/null || true
	done
	HOST_NS= LAN_NS=
}

# A trio with this cage for all jobs.
begin() {
	workspace_stop
	cage_policy "$1"
	workspace_start
}

# An ordinary user's trio instead of root's.
as_ordinary_user() {
	WS_OPERATOR=$WS_UID
	WS_STATE=
	export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	as_uid "$WS_UID" unshare -Ur true 2>/dev/null || skip "this kernel gives ordinary users no user namespace"
}

need_ports() {
	local abi
	abi=$(agent_safe doctor | command jq -r '.checks[] | select(.name == "network_tcp_ports") | .state') || true
	[ "$abi" = ok ] || skip "this kernel's Landlock cannot limit a job in the host's network: ABI 6 is needed"
}

# A job's standard output, when it succeeded.
output_of() {
	local id
	id=$(propose -- "$@")
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran" || [ $? = 1 ]
	jq -e '.status == "succeeded"' "$BATS_TEST_TMPDIR/ran" >/dev/null || {
		cat "$BATS_TEST_TMPDIR/ran"
		return 1
	}
	command jq -j .result.stdout "$BATS_TEST_TMPDIR/ran"
}

connects() { [ "$(output_of "$WS/proj/probe" connect "$1 $2")" = "$3" ] || { echo "$1 $2: not $3"; return 1; }; }

# The program that reaches nothing in the cage reaches everything outside of it.
the_host_reaches_all() {
	local address port
	for address in 127.0.0.1 ::1 $LAN; do
		for port in $NAMED $OTHER; do
			[ "$(on_host "$WS/proj/probe" connect "$address $port")" = WORKED ]
		done
	done
}

# The listeners of errand.c in the host's namespace: abstract socket, IPC.
hostile_host() {
	rm -f "$BATS_TEST_TMPDIR/listeners"
	nsenter --net="/proc/$HOST_NS/ns/net" "$WS/proj/probe" listen >"$BATS_TEST_TMPDIR/listeners" 3>&- 4>&- &
	HOST_PID=$!
	wait_until 5 test -s "$BATS_TEST_TMPDIR/listeners"
	read -ra LISTENERS <"$BATS_TEST_TMPDIR/listeners"
}

# All attempts under this cage; $2...: more options of the probe.
attempts_under() {
	begin "$1"
	shift
	hostile_host
	LISTENERS+=("$@")
	hostile_attempts
	hostile_host_end
	jq -e '.status == "succeeded" and .result.returncode == 0 and .result.truncated == false' "$JOB"
}
