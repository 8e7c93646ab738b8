#!/usr/bin/env bats
# A cage with ports of the host's network, on a host of the test's own making (support/network.bash).

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
	wait_until 5 test -s "$BATS_TEST_TMPDIR/names"
	begin '{ "network": { "tcp_ports": [53, 7001] } }'
	need_ports
	[ "$(output_of sh -c 'cat /etc/resolv.conf')" = $'search test\nnameserver 127.0.0.1\noptions use-vc' ]
	[ "$(output_of /usr/bin/python3 -c 'import socket
print(socket.create_connection(("other.test", 7001)).recv(100).decode().strip())')" = "hello from lan" ]
	begin "$PORT_CAGE"
	[ "$(output_of sh -c 'ls /etc/resolv.conf 2>&1 || getent hosts other.test || getent hosts localhost' | tail -1 |
	    awk '{ print $NF }')" = localhost ]
}

# --- an ordinary user ---------------------------------------------------------------------------------

@test "an ordinary user's tcp-ports: the same" {
	as_ordinary_user
	ports_reach_the_named_one
	attempts_under "$PORT_CAGE" --lan $LAN --ports yes
}

# --- other profiles -----------------------------------------------------------------------------------

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
