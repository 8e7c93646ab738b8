#!/usr/bin/env bats
# agent-safe-mcp against a broker that only talks: every row of the protocol, both eras.

load ../support/fake

teardown() {
	fake_stop
}

# A Python test with `host` started on the fake broker, initialized unless $1 is "raw".
mcp() {
	local how=$1
	{
		cat <<-END
		import sys, json, time, os, subprocess, signal
		sys.path.insert(0, "$ROOT/tests/support")
		from mcpclient import Host, META
		COMMAND = ["$BUILD_DIR/agent-safe-mcp", "--workspace", "$FAKE/ws", "--state", "$FAKE/state"]
		FAKE = "$FAKE"
		host = Host(COMMAND)
		def error(message): return message["error"]["code"]
		def seen(method):
		    lines = [json.loads(l) for l in open(FAKE + "/state/requests")]
		    return [l for l in lines if l["method"] == method]
		END
		[ "$how" = raw ] || echo 'host.start()'
		cat
		echo 'host.process.stdin.closed or host.end()'
	} >"$FAKE/test.py"
	timeout 40 "${TEST_PYTHON:-/usr/bin/python3}" -B "$FAKE/test.py" 3>&- 4>&-
}

JOB='{"id":"j1","status":"queued","approval_status":"pending","command":["echo"],"result":null}'

# --- framing -------------------------------------------------------------------------------------

@test "an object of many members is read like any other" {
	fake_start </dev/null
	mcp begun <<-'END'
	for count in (40, 50, 400, 4000):
	    host.send({"jsonrpc": "2.0", "id": count, "method": "ping", "params": {"_meta": {"k%d" % i: i for i in range(count)}}})
	    assert host.read(5)["id"] == count
	END
}

@test "every broken line is answered once, and the ping behind it too" {
	fake_start </dev/null
	mcp begun <<-'END'
	cases = [(b'{this is not json', -32700), (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":', -32700),
	    (b'"str"', -32600), (b'[]', -32600), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
	    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1}', -32600),
	    (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601),
	    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}', -32602),
	    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}', -32602),
	    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}', -32602),
	    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}', -32602),
	    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', -32700),
	    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600), (b'null', -32600), (b'7', -32600),
	    (b'\xff\xfe', -32700), (b'a\x00b', -32700), (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700),
	    (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"\\ud800"}', -32700),
	    (b'[' * 100000, -32700), (b'{"a":' * 100000, -32700), (b'1' * 100000, -32700), (b'1e400', -32600),
	    (b'{' + b','.join(b'"k%d":0' % i for i in range(50000)) + b'}', -32700)]
	for line, code in cases:
	    host.raw(line + b'\n')
	    reply = host.read()
	    assert error(reply) == code, (line[:60], reply)
	    assert (reply.get("id") == 1) == (b'"id":1' in line and code in (-32600, -32601, -32602) and line[:1] == b'{' and b'"id":2' not in line), (line[:60], reply)
	    assert host.ask(77, "ping") == {"jsonrpc": "2.0", "id": 77, "result": {}}, line[:60]
	END
}

@test "nothing is answered to responses, notifications and blank lines" {
	fake_start </dev/null
	mcp begun <<-'END'
	for line in [b'{"jsonrpc":"2.0","id":5,"result":{}}', b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
	    b'{"jsonrpc":"2.0","method":"notifications/unknown"}', b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get"}}',
	    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}', b'', b'   ', b'\r']:
	    host.raw(line + b'\n')
	    assert host.ask("p", "ping")["id"] == "p", line
	END
}

@test "an id comes back as it was: string, 0, negative, largest; null, fractions, objects are refused" {
	fake_start </dev/null
	mcp begun <<-'END'
	for number in ["a", "", 0, -1, 9007199254740991, -9007199254740991, "x" * 5000, "\u202e\u0001"]:
	    assert host.ask(number, "ping") == {"jsonrpc": "2.0", "id": number, "result": {}}, number
	for bad, code in [("null", -32600), ("1.5", -32600), ('{"a":1}', -32600), ("true", -32600), ("9007199254740993", -32700)]:
	    host.raw(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % bad.encode())
	    reply = host.read()
	    assert error(reply) == code and "id" not in reply, (bad, reply)
	host.raw(b'{"jsonrpc":"2.0","id":"a","method":"ping"}\r\n')
	assert host.read()["id"] == "a"
	END
}

@test "two messages in one write, one message in many" {
	fake_start </dev/null
	mcp begun <<-'END'
	host.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
	assert [host.read()["id"], host.read()["id"]] == [1, 2]
	for byte in b'{"jsonrpc":"2.0","id":3,"method":"ping"}\n':
	    host.raw(bytes([byte]))
	assert host.read()["id"] == 3
	END
}

@test "a line over 1 MiB is refused once and skipped; one just below is read" {
	fake_start </dev/null
	mcp begun <<-'END'
	host.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b'y' * (3 << 20) + b'"}\n')
	assert error(host.read()) == -32700
	assert host.ask(2, "ping")["id"] == 2
	head, tail = b'{"jsonrpc":"2.0","id":3,"method":"ping","x":"', b'"}\n'
	host.raw(head + b'y' * ((1 << 20) - len(head) - len(tail)) + tail)
	assert host.read()["id"] == 3
	END
}

@test "standard output carries nothing but JSON-RPC, also without a broker" {
	fake_start </dev/null
	touch "$FAKE/state/stop"
	wait "$FAKE_PID" 2>/dev/null || true
	rm -f "$FAKE"/state/*.sock
	mkdir "$FAKE/bin"
	cp "$BUILD_DIR/agent-safe-mcp" "$FAKE/bin/" # alone: there is nothing that could start a trio
	BUILD_DIR=$FAKE/bin mcp begun <<-'END'
	reply = host.tool(1, "get", {"job_id": "x"})["result"]
	assert reply["isError"] is True and "structuredContent" not in reply, reply
	assert json.loads(reply["content"][1]["text"])["error"]["code"] == "broker_unreachable", reply
	assert host.ask(2, "ping")["result"] == {}
	END
}

@test "without any workspace the handshake works and tools say why they cannot" {
	fake_start </dev/null
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$BATS_TEST_TMPDIR/empty"
	mcp raw <<-'END'
	host.end()
	host = Host([COMMAND[0]], stderr=subprocess.DEVNULL)
	host.start()
	reply = host.tool(1, "propose", {"command": ["true"]})["result"]
	assert reply["isError"] is True and "no_workspace" in reply["content"][0]["text"], reply
	END
	[ -z "$(ls -A .)" ]
}

# --- end -----------------------------------------------------------------------------------------

@test "at the end of input what was read is answered, then status 0 within a second" {
	fake_start <<<"{\"method\":\"job.get\",\"result\":$JOB}"
	mcp begun <<-'END'
	for i in range(20):
	    host.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "get", "arguments": {"job_id": "j1"}}})
	host.raw(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')  # no newline
	status, took, rest = host.end()
	assert status == 0 and took < 1, (status, took)
	assert [r["id"] for r in rest] == list(range(20)) + ["last"]
	END
}

@test "empty and null standard input: status 0 at once" {
	fake_start </dev/null
	run timeout 5 "$BUILD_DIR/agent-safe-mcp" --workspace "$FAKE/ws" --state "$FAKE/state" </dev/null
	[ "$status" -eq 0 ] && [ -z "$output" ]
	run bash -c "timeout 5 '$BUILD_DIR/agent-safe-mcp' --workspace '$FAKE/ws' --state '$FAKE/state' <&-"
	[ "$status" -eq 0 ]
}

@test "a reader that left ends it with status 0, without a word" {
	fake_start </dev/null
	mcp begun <<-'END'
	host.process.stdout.close()
	assert host.process.wait(3) == 0
	host.process.stdin.close()
	END
}

@test "a host that stops reading and then goes does not leave it behind" {
	fake_start </dev/null
	mcp begun <<-'END'
	def feed():
	    try:
	        while True:
	            host.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' * 50)
	    except BrokenPipeError:
	        pass
	os.set_blocking(host.process.stdin.fileno(), False)
	for i in range(3000):
	    try:
	        if not os.write(host.process.stdin.fileno(), b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'): break
	    except BlockingIOError:
	        break
	time.sleep(0.5)
	rss = int([l for l in open("/proc/%d/status" % host.process.pid) if l.startswith("VmRSS")][0].split()[1])
	assert rss < 20000, rss
	host.process.stdin.close()
	assert host.process.wait(8) == 0
	END
}

@test "a broker that does not answer holds nobody up once the input has ended" {
	fake_start <<<"{\"method\":\"job.get\",\"after\":\"never\",\"result\":$JOB}"
	mcp begun <<-'END'
	host.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {"job_id": "j1"}}})
	time.sleep(0.3)
	status, took, rest = host.end()
	assert status == 0 and took < 2, (status, took)
	assert rest[0]["result"]["isError"] is True
	END
}

# --- the older era -------------------------------------------------------------------------------

@test "initialize: a known version is echoed, any other gets our newest, none is an error" {
	fake_start </dev/null
	mcp raw <<-'END'
	for wanted, got in [("2025-11-25",) * 2, ("2025-06-18",) * 2, ("2024-11-05",) * 2, ("2025-03-26", "2025-11-25"),
	    ("2023-01-01", "2025-11-25"), ("9999-01-01", "2025-11-25"), ("", "2025-11-25"), (7, "2025-11-25")]:
	    result = host.ask(1, "initialize", {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})["result"]
	    assert result["protocolVersion"] == got, (wanted, result)
	    assert result["capabilities"] == {"tools": {}} and result["serverInfo"]["name"] == "agent-safe"
	assert host.ask(1, "initialize")["result"]["protocolVersion"] == "2025-11-25"
	END
}

@test "before initialize only ping and the newer era are answered" {
	fake_start </dev/null
	mcp raw <<-'END'
	assert error(host.ask(1, "tools/list")) == -32600
	assert host.ask(2, "ping")["result"] == {}
	assert "tools" in host.ask(3, "tools/list", {"_meta": META})["result"]
	assert error(host.ask(4, "tools/list")) == -32600
	host.start()
	assert "tools" in host.ask(5, "tools/list")["result"]
	END
}

@test "all tools are on one page, with schemas and every hint set; none can decide or run" {
	fake_start </dev/null
	mcp begun <<-'END'
	result = host.ask(1, "tools/list")["result"]
	assert "nextCursor" not in result
	names = [t["name"] for t in result["tools"]]
	assert names == ["propose", "get", "list", "wait", "output", "assess", "policy", "verify"], names
	for tool in result["tools"]:
	    assert tool["inputSchema"]["additionalProperties"] is False and tool["outputSchema"]["type"] == "object"
	    hints = tool["annotations"]
	    assert set(hints) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
	    assert hints["readOnlyHint"] is (tool["name"] != "propose")
	assert error(host.ask(2, "tools/list", {"cursor": "x"})) == -32602
	END
	# Nor are the words of the control socket in the program.
	refute grep -qaE 'job\.(approve|deny|run|work|cancel|retry)|server\.stop|policy\.reload|audit\.segments' "$BUILD_DIR/agent-safe-mcp"
}

# --- the newer era -------------------------------------------------------------------------------

@test "2026-07-28: discover, lists and calls carry what that revision asks for" {
	fake_start <<<"{\"method\":\"job.get\",\"result\":$JOB}"
	mcp raw <<-'END'
	result = host.ask(1, "server/discover", {"_meta": META})["result"]
	assert result["supportedVersions"] == ["2026-07-28"] and result["resultType"] == "complete"
	assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
	result = host.ask(2, "tools/list", {"_meta": META})["result"]
	assert result["resultType"] == "complete" and result["ttlMs"] >= 0 and result["cacheScope"] == "public"
	assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "agent-safe"
	result = host.tool(3, "get", {"job_id": "j1"}, meta=META)["result"]
	assert result["resultType"] == "complete" and result["structuredContent"]["id"] == "j1"
	END
}

@test "2026-07-28: half a _meta is -32602, another version -32022, methods of the older era -32601" {
	fake_start </dev/null
	mcp raw <<-'END'
	V, C = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
	for meta in [{V: "2026-07-28"}, {C: {}}, {V: "2026-07-28", C: []}, {V: 7, C: {}}]:
	    assert error(host.ask(1, "tools/list", {"_meta": meta})) == -32602, meta
	assert error(host.ask(1, "server/discover")) == -32602
	reply = host.ask(2, "server/discover", {"_meta": {V: "2099-01-01", C: {}}})
	assert error(reply) == -32022 and reply["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
	for method in ["initialize", "ping", "logging/setLevel", "resources/list"]:
	    assert error(host.ask(3, method, {"_meta": META})) == -32601, method
	END
}

@test "what is said fits the official schemas of all three revisions, and the check can fail" {
	fake_start <<-END
	{"method":"job.wait","delay":6,"result":$JOB}
	{"method":"job.get","result":$JOB}
	END
	SCHEMAS=$ROOT/tests/system/data/mcp-schema mcp raw <<-'END'
	import schemacheck
	said = []
	read = host.read
	def keep(*seconds):
	    said.append(read(*seconds))
	    return said[-1]
	host.read = keep
	def check(revision, name, value):
	    found = schemacheck.faults(schemacheck.load(os.environ["SCHEMAS"], revision), name, value)
	    assert not found, (revision, found)
	for revision in ["2025-06-18", "2025-11-25"]:
	    check(revision, "InitializeResult", host.ask(1, "initialize", {"protocolVersion": revision})["result"])
	    check(revision, "ListToolsResult", host.ask(2, "tools/list")["result"])
	    check(revision, "CallToolResult", host.tool(3, "get", {"job_id": "j1"})["result"])
	    check(revision, "CallToolResult", host.tool(4, "get", {})["result"])
	    check(revision, "EmptyResult", host.ask(5, "ping")["result"])
	    host.ask(6, "no/such"); host.ask(7, "tools/call", {"name": "no"}); host.raw(b"{\n"); host.read()
	    host.send({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "wait",
	        "arguments": {"job_id": "j1", "timeout": 20}, "_meta": {"progressToken": "t"}}})
	    check(revision, "ProgressNotification", host.read(8)); host.read(8)
	    for message in said:
	        # An id that could not be read has no form in 2025-06-18; it is left out, as from 2025-11-25 on.
	        if revision != "2025-06-18" or "id" in message or "method" in message:
	            check(revision, "JSONRPCMessage", message)
	    said.clear()
	check("2026-07-28", "DiscoverResult", host.ask(1, "server/discover", {"_meta": META})["result"])
	check("2026-07-28", "ListToolsResult", host.ask(2, "tools/list", {"_meta": META})["result"])
	check("2026-07-28", "CallToolResult", host.tool(3, "get", {"job_id": "j1"}, meta=META)["result"])
	check("2026-07-28", "CallToolResult", host.tool(4, "get", {}, meta=META)["result"])
	host.ask(5, "no/such", {"_meta": META}); host.ask(6, "tools/list", {"_meta": {list(META)[0]: "x", list(META)[1]: {}}})
	for message in said:
	    check("2026-07-28", "JSONRPCMessage", message)
	document = schemacheck.load(os.environ["SCHEMAS"], "2026-07-28")
	good = said[1]["result"]
	for broken in [{k: v for k, v in good.items() if k != "tools"}, dict(good, ttlMs=-1), dict(good, cacheScope="x"),
	    dict(good, tools=[{"name": "a"}]), dict(good, resultType=7)]:
	    assert schemacheck.faults(document, "ListToolsResult", broken), broken
	assert schemacheck.faults(document, "JSONRPCMessage", {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}})
	END
}

# --- tools ---------------------------------------------------------------------------------------

@test "propose sends the array, the directory as a descriptor, and mcp as source" {
	fake_start <<<"{\"method\":\"job.submit\",\"result\":{\"id\":\"j1\",\"status\":\"queued\",\"approval_status\":\"pending\",\"command\":[\"echo\"],\"created\":true,\"assessment\":{\"allowed\":true}}}"
	mcp begun <<-'END'
	reply = host.tool(1, "propose", {"command": ["echo", "a b", ""], "cwd": FAKE + "/ws/proj", "timeout": 5, "idempotency_key": "k"})["result"]
	assert reply["isError"] is False and reply["structuredContent"]["created"] is True
	assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]
	sent = seen("job.submit")[0]
	assert sent["passed"] == os.path.realpath(FAKE + "/ws/proj") and sent["socket"] == "propose"
	assert sent["params"] == {"command": ["echo", "a b", ""], "timeout": 5, "idempotency_key": "k", "max_attempts": 1, "source": "mcp"}
	END
}

@test "a refused proposal comes with what would be allowed" {
	fake_start <<-'END'
	{"method":"job.submit","result":{"id":"j1","status":"queued","approval_status":"pending","command":["rm"],"created":true,"assessment":{"allowed":false,"reason":"no rule"}}}
	{"method":"policy.summary","result":{"programs":["/usr/bin/echo"]}}
	END
	mcp begun <<-'END'
	content = host.tool(1, "propose", {"command": ["rm"]})["result"]["structuredContent"]
	assert content["assessment"]["reason"] == "no rule" and content["policy"] == {"programs": ["/usr/bin/echo"]}
	END
}

@test "wrong arguments are refused without echo, and nothing is stored" {
	fake_start </dev/null
	mcp begun <<-'END'
	for name, bad in [("propose", {}), ("propose", {"command": "ls canary"}), ("propose", {"command": []}),
	    ("propose", {"command": ["ls"], "canary": 1}), ("propose", {"command": ["ls", 5]}),
	    ("propose", {"command": ["ls"], "cwd": "canary"}), ("propose", {"command": ["ls"], "cwd": "/no/such/canary"}),
	    ("propose", {"command": ["ls"], "timeout": 0}), ("propose", {"command": ["ls"], "timeout": 1.5}),
	    ("propose", {"command": ["ls"], "timeout": True}), ("propose", {"command": ["ls"], "max_attempts": 21}),
	    ("propose", {"command": ["ls"], "idempotency_key": "canary" * 50}),
	    ("get", {"job_id": 5}), ("get", {"job_id": ""}), ("list", {"status": ["canary"]}), ("list", {"limit": 101}),
	    ("output", {"job_id": "x", "stream": "canary"}), ("wait", {"job_id": "x", "timeout": 601}), ("policy", {"x": 1})]:
	    reply = host.tool(1, name, bad)
	    assert reply["result"]["isError"] is True, (name, bad, reply)
	    assert "invalid_input" in reply["result"]["content"][0]["text"]
	    assert "canary" not in json.dumps(reply), reply
	host.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"propose","arguments":{"command":["\\ud800"]}}}\n')
	assert error(host.read()) == -32700
	assert host.tool(2, "propose", {"command": ["a\u0000b"]})["error"]["code"] == -32700
	assert not os.path.exists(FAKE + "/state/requests") or not seen("job.submit")
	END
}

@test "a broker's refusal is a result the model can act on, with all it said" {
	fake_start <<<'{"method":"job.submit","error":{"code":"key_conflict","message":"another job has this key","differs":["command"]}}'
	mcp begun <<-'END'
	reply = host.tool(1, "propose", {"command": ["ls"]})["result"]
	assert reply["isError"] is True
	# Words first: a first block that is JSON is taken by a host for structured content.
	assert reply["content"][0]["text"] == "key_conflict: another job has this key" and "structuredContent" not in reply
	assert json.loads(reply["content"][1]["text"]) == {"error": {"code": "key_conflict", "message": "another job has this key", "differs": ["command"]}}
	END
}

@test "wait answers when the broker does, and others are served meanwhile" {
	fake_start <<-END
	{"method":"job.wait","after":"job.get","result":{"id":"j1","status":"succeeded","approval_status":"approved","command":["echo"]}}
	{"method":"job.get","result":$JOB}
	END
	mcp begun <<-'END'
	host.send({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": "j1", "timeout": 30}}})
	assert host.ask(1, "ping")["result"] == {}
	replies = {r["id"]: r for r in [host.tool(2, "get", {"job_id": "j1"}), host.read()]}
	assert replies["w"]["result"]["structuredContent"]["reached"] is True
	assert replies[2]["result"]["structuredContent"]["status"] == "queued"
	END
}

@test "a cancelled wait is never answered; only its own id cancels it; the next one works" {
	fake_start <<-END
	{"method":"job.wait","after":"job.get","result":{"id":"j1","status":"succeeded","approval_status":"approved","command":["echo"]}}
	{"method":"job.get","result":$JOB}
	END
	mcp begun <<-'END'
	wait = {"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": "j1"}}}
	host.send(wait)
	host.send(dict(wait, id="10"))
	for _ in range(2):
	    host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10, "reason": "t"}})
	assert host.ask(11, "ping")["id"] == 11
	got = [host.tool(12, "get", {"job_id": "j1"}), host.read(), host.read(0.5)]
	assert sorted(str(g["id"]) for g in got if g) == ["10", "12"] and [g["id"] for g in got if g and g["id"] != 12] == ["10"], got
	END
}

@test "waits are bounded in number, and pending ones are answered at the end of input" {
	fake_start <<-END
	{"method":"job.wait","after":"never","result":$JOB}
	{"method":"job.get","result":$JOB}
	END
	mcp begun <<-'END'
	for i in range(17):
	    host.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": "j1", "timeout": 600}}})
	reply = host.read()
	assert reply["id"] == 16 and reply["result"]["isError"] is True, reply
	status, took, rest = host.end()
	assert status == 0 and took < 2
	assert sorted(r["id"] for r in rest) == list(range(16))
	assert all(r["result"]["structuredContent"]["reached"] is False for r in rest)
	END
}

@test "progress comes only to those who gave a token, grows, and stops before the answer" {
	fake_start <<<"{\"method\":\"job.wait\",\"delay\":6,\"result\":$JOB}"
	mcp begun <<-'END'
	host.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
	    "params": {"name": "wait", "arguments": {"job_id": "j1", "timeout": 20}, "_meta": {"progressToken": "t"}}})
	first = host.read(8)
	assert first["method"] == "notifications/progress" and first["params"]["progressToken"] == "t", first
	assert first["params"]["progress"] >= 4
	last = host.read(8)
	assert last["id"] == 1, last
	assert host.read(0.3) is None
	END
}

@test "a broker that comes back is found again" {
	fake_start <<<"{\"method\":\"job.get\",\"result\":$JOB}"
	mcp begun <<-'END'
	assert host.tool(1, "get", {"job_id": "j1"})["result"]["isError"] is False
	open(FAKE + "/state/stop", "w").close()
	for _ in range(60):
	    time.sleep(0.1)
	    if host.tool(2, "get", {"job_id": "j1"})["result"]["isError"]: break
	else:
	    raise AssertionError("still answered")
	os.unlink(FAKE + "/state/stop"); os.unlink(FAKE + "/state/ready")
	import sys
	fake = subprocess.Popen(["/usr/bin/python3", os.path.join(sys.path[0], "fakebroker.py"), FAKE + "/state"], stdin=open(FAKE + "/script"))
	while not os.path.exists(FAKE + "/state/ready"): time.sleep(0.05)
	assert host.tool(3, "get", {"job_id": "j1"})["result"]["isError"] is False
	open(FAKE + "/state/stop", "w").close()
	fake.wait(5)
	END
}

# --- confinement ---------------------------------------------------------------------------------

@test "it is confined: seccomp filter, no new privileges, no capability, files closed" {
	fake_start </dev/null
	mcp begun <<-'END'
	status = dict(l.rstrip("\n").split(":\t", 1) for l in open("/proc/%d/status" % host.process.pid) if ":\t" in l)
	assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", status
	assert int(status["CapEff"], 16) == 0 and (os.getuid() != 0 or int(status["CapBnd"], 16) == 0), status
	END
}
