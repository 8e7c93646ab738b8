#!/usr/bin/env bats
# A cage without a network, and with a loopback of its own, on a host of the test's own making (support/network.bash).

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
	wait_until 10 test -e "$WS/proj/up"
	[ "$(on_host "$WS/proj/probe" connect '127.0.0.1 7003')" = ECONNREFUSED ]
	wait $!
	[ "$(command jq -r .result.stdout "$BATS_TEST_TMPDIR/ran")" = alone ]
}

# --- an ordinary user ---------------------------------------------------------------------------------

@test "an ordinary user's none and loopback: the same" {
	as_ordinary_user
	none_reaches_nothing
	attempts_under '{ "network": "none" }' --lan $LAN
	loopback_works
	loopback_is_the_jobs_own
	attempts_under '{ "network": "loopback" }' --lan $LAN --loopback yes
}

# --- other profiles -----------------------------------------------------------------------------------

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
