"""A host of agent-safe-mcp for the tests: lines in, lines out, with a clock.

    host = Host([...command...]); host.send({...}) or host.raw(b"..."); host.read(seconds) -> object or None
"""
import json
import os
import select
import subprocess
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}


class Host:
    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **more)
        self.buffer = b""

    def raw(self, data):
        self.process.stdin.write(data)

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def ask(self, number, method, params=None, seconds=5):
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.read(seconds)

    def start(self):
        reply = self.ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                           "clientInfo": {"name": "test", "version": "0"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def read(self, seconds=5):
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def tool(self, number, name, arguments=None, seconds=5, meta=None):
        params = {"name": name, "arguments": arguments or {}}
        if meta is not None:
            params["_meta"] = meta
        return self.ask(number, "tools/call", params, seconds)

    def end(self, seconds=3):
        """Close the input; (exit status, seconds it took, what was still said)."""
        begun = time.monotonic()
        self.process.stdin.close()
        rest = []
        while True:
            message = self.read(seconds)
            if message is None:
                break
            rest.append(message)
        status = self.process.wait(seconds)
        return status, time.monotonic() - begun, rest
