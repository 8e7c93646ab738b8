#!/usr/bin/env bats
# agent-safe-mcp: what servers of others got wrong in the field (data/c10-*), and the rows of the protocol that
# 43 leaves over.

load ../support/fake
load ../support/procs

setup() {
	DATA=$ROOT/tests/system/data
	SERVER=("$BUILD_DIR/agent-safe-mcp")
}

teardown() {
	fake_stop
}

# A Python test with `host` on the fake broker, not yet initialized; cases(NAME) reads a file of cases.
mcp() {
	{
		cat <<-END
		import sys, json, time, os, re, signal, subprocess
		sys.path.insert(0, "$ROOT/tests/support")
		from mcpclient import Host, META
		COMMAND = ["$BUILD_DIR/agent-safe-mcp", "--workspace", "$FAKE/ws", "--state", "$FAKE/state"]
		host = Host(COMMAND)
		DATA = "$DATA"
		def cases(name): return [json.loads(l) for l in open("$DATA/" + name)]
		def code(reply): return reply["error"]["code"]
		END
		cat
		echo 'host.process.stdin.closed or host.end()'
	} >"$FAKE/test.py"
	timeout 40 "${TEST_PYTHON:-/usr/bin/python3}" -B "$FAKE/test.py" 3>&- 4>&-
}

JOB='{"id":"j1","status":"queued","approval_status":"pending","command":["echo"],"result":null}'
# Silent for longer than any of these tests.
NEVER='{"method":"job.wait","after":"never","result":'$JOB'}'

# --- FC-1001 ... FC-1008 -------------------------------------------------------------------------

@test "FC-1001: every version gets an answer, an unknown one is never echoed, and tools/list works after it" {
	fake_start </dev/null
	mcp <<-'END'
	known = ["2025-11-25", "2025-06-18", "2024-11-05"]
	asked = cases("c10-init.jsonl")
	assert len(asked) > 8
	host.end()
	for case in asked:
	    host = Host(COMMAND)
	    send = case["send"]
	    host.send(send)
	    reply = host.read()
	    assert reply["id"] == send["id"]
	    if send["method"] == "initialize":
	        wanted = send.get("params", {}).get("protocolVersion")
	        assert reply["result"]["protocolVersion"] == (wanted if wanted in known else known[0]), (case, reply)
	        assert len(host.ask(2, "tools/list")["result"]["tools"]) == 8
	    elif send["method"] == "ping":
	        assert reply["result"] == {}, reply
	    else:
	        assert code(reply) == -32600 and "tools" in (host.start() and host.ask(3, "tools/list"))["result"], reply
	    assert host.end()[0] == 0
	END
}

@test "FC-1002: each bad line has its own error, and the ping behind it is answered" {
	fake_start </dev/null
	mcp <<-'END'
	host.start()
	for case in cases("c10-bad-lines.jsonl"):
	    host.raw(case["line"].encode() + b"\n" + case["then"].encode() + b"\n")
	    expected = [int(n) for n in re.findall(r"-32\d+", case["expect"])]
	    reply = host.read()
	    if case["expect"] != "no answer":
	        if "isError" in case["expect"] and "result" in reply:
	            assert reply["result"]["isError"] is True
	        else:
	            assert code(reply) in expected, (case, reply)
	        # MCP has no null: an id that could not be read is left out.
	        assert ("id null" not in case["expect"]) or "id" not in reply, (case, reply)
	        reply = host.read()
	    assert reply == {"jsonrpc": "2.0", "id": 77, "result": {}}, (case, reply)
	END
}

@test "FC-1003: junk is not answered, an id comes back as it was or is refused" {
	fake_start </dev/null
	mcp <<-'END'
	host.start()
	for case in cases("c10-noise.jsonl"):
	    host.raw(case["line"].encode() + b"\n")
	    if case["expect"] == "no answer":
	        assert host.ask("p", "ping")["id"] == "p", case
	        continue
	    reply = host.read()
	    found = re.match(r'answer id (\S+)$', case["expect"])
	    if found:
	        assert reply == {"jsonrpc": "2.0", "id": json.loads(found.group(1)), "result": {}}, (case, reply)
	    else:
	        # 2^53 and beyond, fractions, null, objects, a BOM: refused without an id, never a rounded one
	        assert code(reply) in (-32600, -32700) and "id" not in reply, (case, reply)
	    assert host.ask("p", "ping")["id"] == "p", case
	for _ in range(2):
	    assert host.ask("same", "ping")["id"] == "same"
	END
}

@test "FC-1003: a thousand lines of junk leave nothing on standard error" {
	fake_start </dev/null
	mcp 2>"$FAKE/err" <<-'END'
	host.start()
	for _ in range(500):
	    host.raw(b'{"jsonrpc":"2.0","method":"notifications/unknown"}\n{"jsonrpc":"2.0","id":5,"result":{}}\n')
	assert host.ask(1, "ping")["id"] == 1
	END
	[ "$(wc -c <"$FAKE/err")" -lt 200 ]
}

@test "FC-1004: a cancelled wait ends at once and unanswered; its wait connection is closed" {
	fake_start <<<"$NEVER"
	mcp <<-'END'
	host.start()
	def sockets(): return [f for f in os.listdir("/proc/%d/fd" % host.process.pid)
	    if os.readlink("/proc/%d/fd/%s" % (host.process.pid, f)).startswith("socket")]
	host.tool(0, "get", {"job_id": "j1"})
	before = len(sockets())
	for case in cases("c10-cancel.jsonl"):
	    send = case["send"]
	    if send["method"] == "tools/call":
	        send["params"]["arguments"] = {"job_id": "j1", "timeout": 60}  # our names for what is waited for
	    host.send(send)
	    if send["method"] == "tools/call":
	        time.sleep(0.2)
	        assert len(sockets()) == before + 1
	assert host.read() == {"jsonrpc": "2.0", "id": 11, "result": {}}
	assert host.read(0.5) is None and len(sockets()) == before
	host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})  # initialize; over
	assert host.ask(12, "ping")["id"] == 12
	END
}

@test "FC-1006: empty input, /dev/null, a reader that left, a closed output: status 0, no word on stdout" {
	fake_start </dev/null
	run sh "$DATA/c10-eof.sh" "${SERVER[@]}" --workspace "$FAKE/ws" --state "$FAKE/state"
	[ "${lines[0]}" = 'empty stdin: rc=0' ]
	[ "${lines[1]}" = 'null stdin: rc=0' ]
	[ "${lines[2]}" = 'reader gone' ]
	[ "${lines[3]}" = 'stdout closed: rc=0' ]
}

@test "FC-1006: when its host is killed it ends within a second, also during a wait" {
	fake_start <<<"$NEVER"
	mcp <<-'END'
	host.end()
	child = os.fork()
	if child == 0:
	    host = Host(COMMAND)
	    open(COMMAND[2] + "/pid", "w").write(str(host.process.pid))
	    host.start()
	    host.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": "j1"}}})
	    open(COMMAND[2] + "/ready", "w").close()
	    signal.pause()
	while not os.path.exists(COMMAND[2] + "/ready"): time.sleep(0.05)
	pid = int(open(COMMAND[2] + "/pid").read())
	os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
	begun = time.monotonic()
	while os.path.exists("/proc/%d" % pid) and open("/proc/%d/stat" % pid).read().split()[2] != "Z":
	    assert time.monotonic() - begun < 60, "it outlived its host"
	    time.sleep(0.05)
	END
}

@test "FC-1006: ten thousand replies that nobody reads cost no memory" {
	fake_start </dev/null
	mcp <<-'END'
	host.start()
	os.set_blocking(host.process.stdin.fileno(), False)
	line, sent, quiet = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n', 0, 0
	while sent < 10000 and quiet < 20:
	    try:
	        sent += os.write(host.process.stdin.fileno(), line) // len(line); quiet = 0
	    except BlockingIOError:
	        time.sleep(0.02); quiet += 1
	rss = int([l for l in open("/proc/%d/status" % host.process.pid) if l.startswith("VmRSS")][0].split()[1])
	assert rss < 20000 and sent < 10000, (rss, sent)  # the pipe is full: it stopped reading
	host.process.kill(); host.process.stdin.close()
	END
}

@test "FC-1007: depth, huge numbers, long strings and very many keys: one error, and it lives" {
	fake_start </dev/null
	mcp <<-'END'
	host.start()
	for kind, count in [("arr", 100000), ("arrok", 100000), ("obj", 100000), ("num", 1 << 20), ("exp", 1), ("neg", 1),
	    ("str", 1 << 20), ("keys", 50000), ("keys", 500000)]:
	    line = subprocess.run([sys.executable, os.path.join(DATA, "c10-depth.py"), kind, str(count)], stdout=subprocess.PIPE).stdout
	    host.raw(line)
	    reply = host.read()
	    # 1e400, -0 and a text are JSON, but no requests
	    assert code(reply) == (-32600 if kind in ("exp", "neg", "str") else -32700) and "id" not in reply, (kind, reply)
	    assert host.ask(1, "ping")["id"] == 1, kind
	host.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"limit":1e400}}}\n')
	assert host.read()["result"]["isError"] is True
	END
}

# Sends a little of everything to the server and lets the case's own script judge what stands on stdout.
judge() {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}' '{broken' \
	    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
	    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"policy"}}' \
	    '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"propose","arguments":{"command":["echo","\u001b[31m\n"]}}}' |
	    timeout 20 sh "$DATA/c10-stdout.sh" "$@"
}

@test "FC-1008: standard output is JSON-RPC: broker gone, policy broken, bad locale, no home, disk full" {
	fake_start </dev/null
	mkdir "$FAKE/bin"
	cp "$BUILD_DIR/agent-safe-mcp" "$FAKE/bin/"
	judge "$FAKE/bin/agent-safe-mcp" --workspace "$FAKE/ws" --state "$FAKE/state"
	LC_ALL=xx_YY.nonsense LANG=C judge env -u HOME "$FAKE/bin/agent-safe-mcp" --workspace "$FAKE/ws" --state "$FAKE/state"
	echo '{"version":' >"$FAKE/ws/agent-safe-policy.json"
	judge "$FAKE/bin/agent-safe-mcp" --workspace "$FAKE/ws" --state "$FAKE/state"
	judge "$FAKE/bin/agent-safe-mcp" --workspace "$FAKE/no-such-place"
	judge "$FAKE/bin/agent-safe-mcp" --workspace "$FAKE/ws" --state /dev/full
}

# --- rows of the protocol ------------------------------------------------------------------------

@test "it asks its host for nothing: no message of its own but progress, no capability but tools, no tasks" {
	fake_start <<<"{\"method\":\"job.wait\",\"delay\":6,\"result\":$JOB}"
	mcp <<-'END'
	result = host.ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities":
	    {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}})["result"]
	assert result["capabilities"] == {"tools": {}}
	assert all("execution" not in t for t in host.ask(1, "tools/list")["result"]["tools"])
	host.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": "j1"},
	    "_meta": {"progressToken": 0}}})
	said = [host.read(8), host.read(8)]
	assert said[0]["method"] == "notifications/progress" and "id" not in said[0] and said[0]["params"]["progressToken"] == 0
	assert said[1]["id"] == 2 and "method" not in said[1]
	END
}

@test "methods of capabilities that are not declared are -32601 in both eras" {
	fake_start </dev/null
	mcp <<-'END'
	host.start()
	for method in ["logging/setLevel", "resources/list", "resources/subscribe", "prompts/list", "completion/complete",
	    "tasks/get", "tasks/cancel", "subscriptions/listen", "sampling/createMessage", "roots/list", "elicitation/create", "",
	    "tools/list\u0001", "Tools/List"]:
	    assert code(host.ask(1, method)) == -32601, method
	    assert code(host.ask(1, method, {"_meta": META})) == -32601, method
	assert code(host.ask(1, "server/discover")) == -32602
	END
}

@test "the list of tools is the same on every connection, in every era, before and after calls" {
	fake_start <<<"{\"method\":\"job.get\",\"result\":$JOB}"
	mcp <<-'END'
	host.start()
	one = host.ask(1, "tools/list")["result"]["tools"]
	host.tool(2, "get", {"job_id": "j1"})
	assert host.ask(3, "tools/list")["result"]["tools"] == one
	assert host.ask(4, "tools/list", {"_meta": META})["result"]["tools"] == one
	other = Host(COMMAND)
	assert other.ask(5, "tools/list", {"_meta": META})["result"]["tools"] == one
	other.end()
	assert len({t["name"] for t in one}) == len(one) and all(re.fullmatch("[a-z_]{1,32}", t["name"]) for t in one)
	END
}

@test "a host with a newer-era request and one of the older mixed is served each in its own era" {
	fake_start <<<"{\"method\":\"job.get\",\"result\":$JOB}"
	mcp <<-'END'
	assert host.tool(1, "get", {"job_id": "j1"}, meta=META)["result"]["resultType"] == "complete"
	host.start()
	assert "resultType" not in host.tool(2, "get", {"job_id": "j1"})["result"]
	assert host.tool(3, "get", {"job_id": "j1"}, meta=META)["result"]["resultType"] == "complete"
	refused = host.tool(4, "get", {}, meta=META)["result"]
	assert refused["isError"] is True and refused["resultType"] == "complete"
	END
}
