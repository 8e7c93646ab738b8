#!/usr/bin/env bats
# The networks of a cage, each on a host of the test's own making (support/network.bash).

load ../support/workspace
load ../support/hostile
load ../support/network

setup() {
	need_root
	network_make
	hostile_make
}

teardown() {
	hostile_host_end
	workspace_clean
	network_clean
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
	nsenter --net="/proc/$HOST_NS/ns/net" "$WS/proj/probe" listen >"$BATS_TEST_TMPDIR/listeners" 3>&- 4>&- &
	HOST_PID=$!
	for _ in $(seq 200); do
		[ ! -s "$BATS_TEST_TMPDIR/listeners" ] || break
		sleep 0.1
	done
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

# --- none ----------------------------------------------------------------------------------------------

none_reaches_nothing() {
	network_listen
	the_host_reaches_all
	begin '{ "network": "none" }'
	connects 127.0.0.1 $NAMED EACCES
	connects $LAN $NAMED EACCES
	[ "$(output_of sh -c 'cat /proc/net/dev | grep -c :')" = 1 ]
	jq -e '.attempts_log[-1].layers | index("network_namespace")' "$BATS_TEST_TMPDIR/ran"
}

@test "none: not the host's loopback and no other host, and no interface but one that is down" {
	none_reaches_nothing
	attempts_under '{ "network": "none" }' --lan $LAN
}

# --- loopback ------------------------------------------------------------------------------------------

# A server and its client in one job, by name and by both versions; then what is up.
OWN_SERVER='
python3 -m http.server --bind 127.0.0.1 8080 >/dev/null 2>&1 &
python3 - <<END
import socket, time, urllib.request
for _ in range(100):
    try:
        answer = urllib.request.urlopen("http://localhost:8080/", timeout=5).status
        break
    except OSError:
        time.sleep(0.1)
print("http", answer)
s = socket.create_server(("::1", 8081), family=socket.AF_INET6)
c = socket.create_connection(("::1", 8081))
print("v6 ok")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); v.sendto(b"x", u.getsockname())
print("udp", u.recv(1) == b"x")
print("links", [n for _, n in socket.if_nameindex()])
END
kill $!'

loopback_works() {
	begin '{ "network": "loopback" }'
	output_of sh -c "$OWN_SERVER" >"$BATS_TEST_TMPDIR/told"
	grep -qx 'http 200' "$BATS_TEST_TMPDIR/told"
	grep -qx 'v6 ok' "$BATS_TEST_TMPDIR/told"
	grep -qx 'udp True' "$BATS_TEST_TMPDIR/told"
	grep -qx "links \['lo'\]" "$BATS_TEST_TMPDIR/told"
	jq -e '.attempts_log[-1].layers | index("network_namespace")' "$BATS_TEST_TMPDIR/ran"
}

loopback_is_the_jobs_own() {
	network_listen
	the_host_reaches_all
	connects 127.0.0.1 $NAMED ECONNREFUSED
	connects $LAN $NAMED ENETUNREACH
}

@test "loopback: a server and its client in one job; the host's listeners and other hosts are out of reach" {
	loopback_works
	loopback_is_the_jobs_own
	attempts_under '{ "network": "loopback" }' --lan $LAN --loopback yes
}

# Each listens on the same port, tells so, and waits for the other; then it asks its own.
TWO_SERVERS='
import os, socket, sys, time
me, other = sys.argv[1], sys.argv[2]
s = socket.create_server(("127.0.0.1", 8080))
open(me, "w").close()
for _ in range(300):
    if os.path.exists(other): break
    time.sleep(0.1)
s.setblocking(False)
c = socket.create_connection(("127.0.0.1", 8080)); c.sendall(me.encode()); time.sleep(1)
seen = []
while True:
    try: seen.append(s.accept()[0].recv(100).decode())
    except BlockingIOError: break
print(seen)'

@test "loopback: two jobs at once have the same port each, and see only themselves" {
	local one two
	begin '{ "network": "loopback" }'
	one=$(propose -- /usr/bin/python3 -c "$TWO_SERVERS" one two)
	two=$(propose -- /usr/bin/python3 -c "$TWO_SERVERS" two one)
	agent_safe approve "$one" --by tester >/dev/null
	agent_safe approve "$two" --by tester >/dev/null
	agent_safe run "$one" --execute >"$BATS_TEST_TMPDIR/one" 3>&- 4>&- &
	agent_safe run "$two" --execute >"$BATS_TEST_TMPDIR/two"
	wait $!
	[ "$(command jq -r .result.stdout "$BATS_TEST_TMPDIR/one")" = "['one']" ]
	[ "$(command jq -r .result.stdout "$BATS_TEST_TMPDIR/two")" = "['two']" ]
	[ -e "$WS/proj/one" ] && [ -e "$WS/proj/two" ]
}

@test "loopback: what listens in a job is not reached from the host" {
	begin '{ "network": "loopback" }'
	local id
	id=$(propose -- /usr/bin/python3 -c 'import socket, time
s = socket.create_server(("0.0.0.0", 7003)); open("up", "w").close(); time.sleep(3)
s.setblocking(False)
try: s.accept(); print("reached")
except BlockingIOError: print("alone")')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/ran" 3>&- 4>&- &
	for _ in $(seq 100); do
		[ ! -e "$WS/proj/up" ] || break
		sleep 0.1
	done
	[ -e "$WS/proj/up" ]
	[ "$(on_host "$WS/proj/probe" connect '127.0.0.1 7003')" = ECONNREFUSED ]
	wait $!
	[ "$(command jq -r .result.stdout "$BATS_TEST_TMPDIR/ran")" = alone ]
}

# --- tcp-ports -----------------------------------------------------------------------------------------

PORT_CAGE='{ "network": { "tcp_ports": [7001] } }'

ports_reach_the_named_one() {
	network_listen
	the_host_reaches_all
	begin "$PORT_CAGE"
	need_ports
	connects 127.0.0.1 $NAMED WORKED
	connects ::1 $NAMED WORKED
	connects $LAN $NAMED WORKED
	connects 127.0.0.1 $OTHER EACCES
	connects ::1 $OTHER EACCES
	connects $LAN $OTHER EACCES
	# not the whole of it: that it is the host's network is on record
	jq -e '.attempts_log[-1].layers | index("network_namespace") == null and index("landlock") != null' \
	    "$BATS_TEST_TMPDIR/ran"
}

@test "tcp-ports: the named port is reached on every address, another one on none" {
	ports_reach_the_named_one
	attempts_under "$PORT_CAGE" --lan $LAN --ports yes
}

@test "tcp-ports: bytes go both ways, sockets by path work between a job's own processes, and no server can be made" {
	network_listen
	begin "$PORT_CAGE"
	need_ports
	output_of /usr/bin/python3 -c '
import multiprocessing, socket
print(socket.create_connection(("127.0.0.1", 7001)).recv(100).decode().strip())
a, b = socket.socketpair(); a.sendall(b"x"); print("pair", b.recv(1) == b"x")
for family, address in (socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, "here.sock"), (socket.AF_UNIX, "\0name"):
    try: socket.socket(family).bind(address); print("bound")
    except PermissionError: print("refused")
try: socket.socket().listen(); print("listens")
except PermissionError: print("refused")
r, w = multiprocessing.Pipe()
print("pipe", (w.send(1), r.recv())[1])' >"$BATS_TEST_TMPDIR/told"
	[ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/told")" = "hello from host pair True refused refused refused refused pipe 1 " ]
}

@test "tcp-ports: a rule without a network has none, though another rule of the policy has ports" {
	network_listen
	workspace_policy <<-END
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "$WS/proj/probe" }, { "program": "sh", "cage": $PORT_CAGE },
	      { "program": "/usr/bin/python3", "cage": { "network": "loopback" } } ] }
	END
	workspace_start
	need_ports
	connects 127.0.0.1 $NAMED EACCES
	jq -e '.attempts_log[-1].layers | index("network_namespace")' "$BATS_TEST_TMPDIR/ran"
	[ "$(output_of /usr/bin/python3 -c 'import socket; print([n for _, n in socket.if_nameindex()])')" = "['lo']" ]
}

# A name server that knows one name, and speaks TCP alone.
NAME_SERVER='
import socket, struct
s = socket.create_server(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    c, _ = s.accept()
    while True:
        head = c.recv(2, socket.MSG_WAITALL)
        if len(head) < 2: break
        q = c.recv(struct.unpack(">H", head)[0], socket.MSG_WAITALL)
        end = 12
        while q[end]: end += q[end] + 1
        question = q[12:end + 5]
        a = question[-4:-2] == b"\x00\x01"
        answer = q[:2] + struct.pack(">HHHHH", 0x8180, 1, 1 if a else 0, 0, 0) + question
        if a: answer += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([10, 77, 0, 2])
        c.sendall(struct.pack(">H", len(answer)) + answer)
    c.close()'

@test "tcp-ports: with 53 among them names are asked for by TCP, without it there are none but localhost" {
	[ -e /etc/resolv.conf ] || skip "this machine has no /etc/resolv.conf to put another one over"
	network_listen
	printf '# the host\noptions timeout:1 use-vc-not\nsearch test\nnameserver 127.0.0.1\n' >"$WS_TOP/resolv.conf"
	on_host mount --bind "$WS_TOP/resolv.conf" /etc/resolv.conf
	nsenter --net="/proc/$HOST_NS/ns/net" /usr/bin/python3 -c "$NAME_SERVER" >"$BATS_TEST_TMPDIR/names" 3>&- 4>&- &
	LISTEN_PIDS+=" $!"
	for _ in $(seq 200); do
		[ ! -s "$BATS_TEST_TMPDIR/names" ] || break
		sleep 0.1
	done
	begin '{ "network": { "tcp_ports": [53, 7001] } }'
	need_ports
	[ "$(output_of sh -c 'cat /etc/resolv.conf')" = $'search test\nnameserver 127.0.0.1\noptions use-vc' ]
	[ "$(output_of /usr/bin/python3 -c 'import socket
print(socket.create_connection(("other.test", 7001)).recv(100).decode().strip())')" = "hello from lan" ]
	begin "$PORT_CAGE"
	[ "$(output_of sh -c 'ls /etc/resolv.conf 2>&1 || getent hosts other.test || getent hosts localhost' | tail -1 |
	    awk '{ print $NF }')" = localhost ]
}

# --- an ordinary user ----------------------------------------------------------------------------------

@test "an ordinary user's none and loopback: the same" {
	as_ordinary_user
	none_reaches_nothing
	attempts_under '{ "network": "none" }' --lan $LAN
	loopback_works
	loopback_is_the_jobs_own
	attempts_under '{ "network": "loopback" }' --lan $LAN --loopback yes
}

@test "an ordinary user's tcp-ports: the same" {
	as_ordinary_user
	ports_reach_the_named_one
	attempts_under "$PORT_CAGE" --lan $LAN --ports yes
}

# --- other profiles ------------------------------------------------------------------------------------

@test "agent, compat and debug with ports: the same attempts, the same answers" {
	local profile
	network_listen
	for profile in agent compat debug; do
		begin "{ \"profile\": \"$profile\", \"network\": { \"tcp_ports\": [7001] } }"
		need_ports
		connects 127.0.0.1 $NAMED WORKED
		connects $LAN $OTHER EACCES
		hostile_host
		hostile_run --timeout 100 -- run "${LISTENERS[@]}" --lan $LAN --ports yes --path "$WS/agent-safe-policy.json"
		hostile_host_end
		command jq -r .result.stdout "$JOB" >"$BATS_TEST_TMPDIR/attempts"
		# Debuggers may trace: that is what debug is for.
		refute grep -E '^(46|48|50|51|52|53) .*UNEXPECTED' "$BATS_TEST_TMPDIR/attempts"
		[ "$profile" = debug ] || refute grep UNEXPECTED "$BATS_TEST_TMPDIR/attempts"
		[ "$(grep -cE '^(46|48|50|51|52|53) ' "$BATS_TEST_TMPDIR/attempts")" -ge 15 ]
	done
}

@test "agent has its loopback without a word in the policy" {
	begin '{ "profile": "agent" }'
	[ "$(output_of /usr/bin/python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname()); print("ok")')" = ok ]
}

@test "strict has no socket but pairs of streams" {
	begin '{ "profile": "strict" }'
	[ "$(output_of /usr/bin/python3 -c '
import socket
for family in socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK:
    try: socket.socket(family); print("socket")
    except OSError as e: print(e.errno)
a, b = socket.socketpair(); a.sendall(b"x"); print(b.recv(1))
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print("datagrams")
except OSError as e: print(e.errno)' | tr '\n' ' ')" = "97 97 97 97 b'x' 93 " ]
}
