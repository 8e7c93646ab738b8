#!/usr/bin/env bats
# agent-safe-mcp on the real trio: an ordinary uid proposes, root decides outside, the result is read back.

load ../support/workspace
load ../support/procs

setup_file() {
	is_root || return 0
	workspace_make
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "echo" }, { "program": "cat" }, { "program": "sleep" } ]
	}
	END
	workspace_start
	cp "$ROOT"/tests/support/{mcpclient,schemacheck}.py "$WS_TOP/"
	chmod 644 "$WS_TOP"/*.py
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

# A Python test as $1 (a uid), with `host` begun; what operator(...) is asked to do, root does outside.
mcp() {
	local uid=$1 pipe=$BATS_TEST_TMPDIR/pipe ended
	{
		cat <<-END
		import sys, json, time, os, subprocess
		sys.path.insert(0, "$WS_TOP")
		from mcpclient import Host, META
		import schemacheck
		WS, PROJ = "$WS", "$WS/proj"
		COMMAND = ["$WS_BIN/agent-safe", "--workspace", WS, "--state", "$WS_STATE", "mcp"]
		host = Host(COMMAND if not os.environ.get("MORE") else
		    ["$WS_BIN/agent-safe-mcp", *COMMAND[1:-1], os.environ["MORE"]], cwd=PROJ)
		host.start()
		OUTPUT = {t["name"]: t.get("outputSchema") for t in host.ask("t", "tools/list")["result"]["tools"]}
		def call(name, seconds=20, meta=None, **arguments):
		    reply = host.tool(1, name, arguments, seconds, meta)["result"]
		    if reply["isError"]:
		        return json.loads(reply["content"][1]["text"])["error"]
		    if OUTPUT[name] is None:
		        assert list(reply) == ["content", "isError"] and len(reply["content"]) == 1, reply
		        return json.loads(reply["content"][0]["text"])
		    found = schemacheck.walk(OUTPUT[name], OUTPUT[name], reply["structuredContent"], name)
		    assert not found, found
		    assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]
		    return reply["structuredContent"]
		def operator(*words):
		    print(*words, flush=True)
		    return json.loads(sys.stdin.readline())
		END
		cat
		echo 'host.process.stdin.closed or host.end()'
	} >"$WS_TOP/test.py"
	chmod 644 "$WS_TOP/test.py"
	mkfifo "$pipe"
	timeout 60 setpriv --reuid "$uid" --regid "$uid" --clear-groups /usr/bin/python3 -B "$WS_TOP/test.py" \
	    <"$pipe" 3>&- 4>&- | operate >"$pipe"
	ended=${PIPESTATUS[0]}
	rm -f "$pipe"
	[ "$ended" = 0 ]
}

# Root's side: each line is words for agent-safe; its answer goes back as one line.
operate() {
	local words
	while read -ra words; do
		agent_safe "${words[@]}" </dev/null 2>&1 | command jq -c . || echo null
	done
	return 0
}

@test "proposed, approved outside, waited for with progress, and the result read back" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["sleep", "6"], timeout=30)
	assert job["created"] is True and job["status"] == "queued" and job["approval_status"] == "pending", job
	assert job["source"] == "mcp" and job["cwd"] == os.path.realpath(PROJ) and job["submitter"]["uid"] == os.getuid()
	assert job["assessment"]["allowed"] is True and "policy" not in job
	assert call("assess", job_id=job["id"])["spec_digest"] == job["spec_digest"]
	assert call("wait", job_id=job["id"], **{"for": "decided", "timeout": 0})["reached"] is False
	operator("approve", job["id"], "--by", "ana", "--digest", job["spec_digest"])
	decided = call("wait", job_id=job["id"], **{"for": "decided", "timeout": 5})
	assert decided["reached"] is True and decided["decided_by"] == "ana", decided
	host.send({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "wait",
	    "arguments": {"job_id": job["id"], "timeout": 30}, "_meta": {"progressToken": 7}}})
	operator("run", job["id"], "--execute")
	progress, last = host.read(), host.read()
	assert progress["method"] == "notifications/progress" and progress["params"]["progressToken"] == 7, progress
	assert last["id"] == "w" and last["result"]["structuredContent"]["reached"] is True, last
	assert last["result"]["structuredContent"]["status"] == "succeeded"
	job = call("get", job_id=job["id"])
	assert job["result"]["returncode"] == 0 and job["attempts"] == 1 and job["decisions"][0]["by"] == "ana", job
	END
}

@test "a proposal that the policy refuses says what would be allowed, and nobody can approve it" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["rm", "-rf", "."])
	assert job["assessment"]["allowed"] is False and job["assessment"]["reason"], job
	assert [r["program"] for r in job["policy"]["rules"]] == ["echo", "cat", "sleep"], job["policy"]
	assert job["policy"] == call("policy")
	refused = operator("approve", job["id"], "--by", "ana")
	assert refused["error"]["code"] == "policy_denied", refused
	assert call("get", job_id=job["id"])["approval_status"] == "pending"
	END
}

@test "a denial and its reason reach the agent" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["echo", "denied"])
	operator("deny", job["id"], "--by", "ana", "--reason", "not-today")
	job = call("wait", job_id=job["id"], **{"for": "decided"})
	assert job["reached"] is True and job["approval_status"] == "denied" and job["decision_reason"] == "not-today", job
	END
}

@test "output comes in pieces, whole and masked" {
	local secret=ghp_$(printf 'a1B2c3D4e5F6%.0s' 1 2 3)
	{ seq 1 3000; echo "token $secret"; } >"$WS/proj/big"
	chown "$WS_UID" "$WS/proj/big"
	SECRET=$secret mcp "$WS_UID" <<-'END'
	job = call("propose", command=["cat", "big"])
	operator("approve", job["id"], "--by", "ana")
	operator("run", job["id"], "--execute")
	text, offset, pieces = "", 0, 0
	while True:
	    piece = call("output", job_id=job["id"], offset=offset, limit=1000)
	    assert len(piece["data"]) <= 1000
	    text, offset, pieces = text + piece["data"], piece["next_offset"], pieces + 1
	    if piece["end"]: break
	lines = text.splitlines()
	assert lines[:3000] == [str(n) for n in range(1, 3001)] and pieces > 10
	assert os.environ["SECRET"] not in text and lines[3000].startswith("token "), lines[3000:]
	assert os.environ["SECRET"] not in json.dumps(call("get", job_id=job["id"]))
	assert call("output", job_id=job["id"], stream="stderr") ["data"] == ""
	END
}

@test "somebody else's jobs do not exist for it" {
	local id
	id=$(propose -- echo mine)
	OTHERS=$id mcp "$OTHER_UID" <<-'END'
	for name in ["get", "assess", "output", "wait"]:
	    fault = call(name, job_id=os.environ["OTHERS"])
	    assert fault["code"] == "job_not_found", (name, fault)
	assert call("list", limit=100)["jobs"] == []
	fault = call("propose", command=["echo", "in somebody else's directory"])
	assert fault["code"] == "not_permitted", fault
	END
}

@test "lists go through pages, filtered" {
	mcp "$WS_UID" <<-'END'
	made = [call("propose", command=["echo", "page", str(n)])["id"] for n in range(5)]
	seen, cursor = [], {}
	while True:
	    page = call("list", limit=2, approval="pending", **cursor)
	    assert len(page["jobs"]) <= 2
	    seen += [j["id"] for j in page["jobs"]]
	    if not page["next_cursor"]: break
	    cursor = {"cursor": page["next_cursor"]}
	assert seen[-5:] == made and len(seen) == len(set(seen)), seen
	assert [j["id"] for j in call("list", newest=True, limit=5)["jobs"]] == made[::-1]
	END
}

@test "the same key gives the same job, and other content under it is a conflict" {
	mcp "$WS_UID" <<-'END'
	one = call("propose", command=["echo", "k"], idempotency_key="k1")
	two = call("propose", command=["echo", "k"], idempotency_key="k1")
	assert one["id"] == two["id"] and two["created"] is False
	assert call("propose", command=["echo", "other"], idempotency_key="k1")["code"] == "key_conflict"
	END
}

@test "secrets are refused, not stored, never echoed; the refusal is on record without them" {
	agent_safe list --all >"$BATS_TEST_TMPDIR/before"
	mcp "$WS_UID" <<-'END'
	for words in [["echo", "--token", "canary-5f3a9b"], ["echo", "ghp_" + "a1B2c3D4e5F6" * 3], ["echo", "AKIAIOSFODNN7CANARY1"]]:
	    reply = host.tool(1, "propose", {"command": words})
	    assert reply["result"]["isError"] is True and "sensitive_input" in reply["result"]["content"][0]["text"], reply
	    assert words[-1] not in json.dumps(reply)
	END
	agent_safe list --all | cmp - "$BATS_TEST_TMPDIR/before"
	[ "$(agent_safe audit export | grep -c '"job.refused".*sensitive_input')" = 3 ]
	agent_safe audit export | refute grep -E 'canary-5f3a9b|a1B2c3D4e5F6|NN7CANARY1'
	refute grep -rqE 'canary-5f3a9b|a1B2c3D4e5F6a1B2|NN7CANARY1' "$WS_STATE/broker" "$WS_STATE/audit"
}

@test "a lone surrogate, a NUL, an unknown argument: refused, and neither job nor record comes of it" {
	agent_safe list --all >"$BATS_TEST_TMPDIR/before"
	agent_safe audit export | grep -c job.proposed >"$BATS_TEST_TMPDIR/proposed"
	mcp "$WS_UID" <<-'END'
	for bad in ['"\\ud800"', '"a\\u0000b"']:
	    host.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"propose","arguments":{"command":["echo",%s]}}}\n'
	        % bad.encode())
	    assert host.read()["error"]["code"] == -32700, bad
	assert call("propose", command=["echo"], shell=True)["code"] == "invalid_input"
	assert host.ask(2, "ping")["result"] == {}
	END
	agent_safe list --all | cmp - "$BATS_TEST_TMPDIR/before"
	agent_safe audit export | grep -c job.proposed | cmp - "$BATS_TEST_TMPDIR/proposed"
}

@test "what a host says in _meta is recorded within bounds, and believed in nothing" {
	mcp "$WS_UID" <<-'END'
	meta = {"claudecode/toolUseId": "toolu_01", "progressToken": 3, "uid": 0, "approval_status": "approved",
	    "x": {"nested": True}, "long": "y" * 600, "callId": "call_9"}
	job = call("propose", meta=meta, command=["echo", "meta"])
	kept = json.loads(job["meta"])
	assert kept == {"claudecode/toolUseId": "toolu_01", "progressToken": 3, "uid": 0, "approval_status": "approved",
	    "callId": "call_9"}, kept
	assert job["submitter"]["uid"] == os.getuid() and job["approval_status"] == "pending", job
	assert call("propose", meta=dict(META, callId="c"), command=["echo", "meta2"])["meta"] == '{"callId":"c"}'
	assert call("propose", command=["echo", "meta3"])["meta"] is None
	# What looks like a secret is left out; a progressToken that is a UUID looks like one.
	job = call("propose", meta={"key": "ghp_" + "a1B2c3D4e5F6" * 3, "progressToken": "c5ba8aaa-bd40-401e-ad36-77c618bef353",
	    "callId": "c"}, command=["echo", "meta4"])
	assert job["meta"] == '{"callId":"c"}', job
	END
	agent_safe audit export | command jq -se 'map(select(.type == "job.proposed" and .d.meta)) | map(.d.meta | fromjson.callId) == ["call_9", "c", "c"]'
}

@test "verify gives the head of the log, sealed now: it grows, and is the operator's" {
	mcp "$WS_UID" <<-'END'
	one = call("verify")
	call("propose", command=["echo", "grow"])
	two = call("verify")
	assert two["size"] > one["size"] and two["hash"] != one["hash"] and two["public_key"] == one["public_key"]
	three = operator("audit", "head")
	assert three["public_key"] == two["public_key"] and three["size"] >= two["size"]
	END
}

@test "both eras say the same of one job" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["echo", "eras"])
	old = host.tool(2, "get", {"job_id": job["id"]})["result"]
	new = host.tool(3, "get", {"job_id": job["id"]}, meta=META)["result"]
	assert old["structuredContent"] == new["structuredContent"] and new["resultType"] == "complete"
	assert set(new) - set(old) == {"resultType", "_meta"}
	END
}

@test "cancelling a wait leaves the proposal queued; so does killing the adapter" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["echo", "stays"])
	host.send({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "wait", "arguments": {"job_id": job["id"]}}})
	host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10}})
	assert host.ask(11, "ping")["id"] == 11 and host.read(0.5) is None
	host.process.kill(); host.process.wait(); host.process.stdin.close()
	host = Host(COMMAND, cwd=PROJ)
	host.start()
	assert call("get", job_id=job["id"])["status"] == "queued"
	END
}

@test "while the trio is away tools say so; when it is back they work, on the same connection" {
	mcp "$WS_UID" <<-'END'
	job = call("propose", command=["echo", "away"])
	operator("serve", "--stop")
	for _ in range(50):
	    fault = call("get", job_id=job["id"])
	    if fault.get("code") == "broker_unreachable": break
	    time.sleep(0.1)
	assert fault["code"] == "broker_unreachable", fault
	assert host.ask(2, "ping")["result"] == {}
	operator("status")
	assert call("get", job_id=job["id"])["id"] == job["id"]
	END
}

@test "it runs as its caller, confined" {
	mcp "$WS_UID" <<-'END'
	call("policy")
	me = "/proc/%d" % host.process.pid
	status = dict(l.rstrip("\n").split(":\t", 1) for l in open(me + "/status") if ":\t" in l)
	assert status["Uid"].split() == [str(os.getuid())] * 4 and status["Seccomp"] == "2" and status["NoNewPrivs"] == "1"
	END
}

# --- the host's permission prompts ---------------------------------------------------------------

@test "without --permission-tool there is no such tool" {
	mcp "$WS_UID" <<-'END'
	assert "permission" not in OUTPUT
	assert host.tool(1, "permission", {"tool_name": "Bash", "input": {"command": "ls"}})["error"]["code"] == -32602
	END
}

@test "--permission-tool: a shell command becomes a proposal, and the answer is always deny" {
	MORE=--permission-tool mcp "$WS_UID" <<-'END'
	assert list(OUTPUT)[-1] == "permission" and len(OUTPUT) == 9
	before = len(call("list", limit=100)["jobs"])
	answer = call("permission", tool_name="Bash", input={"command": "echo $HOME; ls | wc -l", "description": "x"}, tool_use_id="toolu_9")
	assert answer["behavior"] == "deny" and "not run" in answer["message"], answer
	job = call("list", newest=True, limit=1)["jobs"][0]
	assert job["id"] in answer["message"] and job["command"] == ["sh", "-c", "echo $HOME; ls | wc -l"], job
	assert job["approval_status"] == "pending" and "policy refuses" in answer["message"]  # no rule for sh here
	for bad in [{"tool_name": "Write", "input": {"file_path": "x", "content": "y"}}, {"tool_name": "Bash", "input": {}},
	    {"tool_name": "Bash", "input": {"command": 7}}, {"tool_name": "Bash", "input": {"command": ["ls"]}},
	    {"tool_name": "Bash", "input": {"command": "curl -H 'Authorization: Bearer canary" + "a1B2c3D4e5F6" * 3 + "'"}}]:
	    answer = call("permission", **bad)
	    assert answer["behavior"] == "deny" and "canary" not in answer["message"], answer
	for bad in [{"tool_name": "Bash"}, {"tool_name": "Bash", "input": "ls"}, {"tool_name": "", "input": {}},
	    {"tool_name": "Bash", "input": {}, "behavior": "allow"}]:
	    assert call("permission", **bad)["code"] == "invalid_input", bad
	assert len(call("list", limit=100)["jobs"]) == before + 1
	END
	refute grep -qa '"allow"' "$BUILD_DIR/agent-safe-mcp"
}
