#!/usr/bin/python3
"""A broker that only talks: for the tests of agent-safe and agent-safe-mcp without a trio.

usage: fakebroker.py DIR < script
Listens on DIR/propose.sock and DIR/control.sock.  The script is JSON lines; each is
  {"method": "job.get", "result": {...}}            answer that method with it
  {"method": "job.get", "error": {"code": .., "message": ..}}
  {"method": "job.run", "raw": "text"}              these bytes (latin-1) instead of an answer
  {"method": "job.run", "after": "job.cancel", "result": ..}   answer only once that one came
  {"method": "x", "files": ["a", "b"], "result": ..}           with these files' descriptors
  {"method": "x", "close": true}                    end the connection instead
  {"method": "x", "delay": 0.5, "result": ..}
  {"method": "x", "echo": true, "result": ..}       adds the parameters as "echo"
A method that stands there more than once is answered row after row, the last one for ever.
Every request is written to DIR/requests as one JSON line, with "socket" and, when a descriptor
came with it, "passed": its path.  Ends when DIR/stop exists, or after 60 seconds.
"""
import json
import os
import selectors
import socket
import sys
import time

HELLO = {"server": "agent-safe", "version": "0.1.0", "protocol": 1, "mode": "workspace",
         "environment": ["LANG"], "uid": os.getuid()}


class Fake:
    def __init__(self, folder, script):
        self.folder = folder
        self.answers = {}
        for row in script:
            self.answers.setdefault(row["method"], []).append(row)
        self.waiting = []  # (connection, id, row, request)
        self.log = open(folder + "/requests", "a", buffering=1)
        self.chosen = selectors.DefaultSelector()
        for name in ("propose", "control"):
            path = f"{folder}/{name}.sock"
            if os.path.exists(path):
                os.unlink(path)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(16)
            self.chosen.register(listener, selectors.EVENT_READ, ("listen", name))

    def accept(self, listener, name):
        connection, _ = listener.accept()
        self.chosen.register(connection, selectors.EVENT_READ,
                             ("talk", {"buffer": b"", "fds": [], "name": name}))

    def drop(self, connection):
        self.chosen.unregister(connection)
        connection.close()

    def read(self, connection, state):
        data, fds, _, _ = socket.recv_fds(connection, 1 << 16, 16)
        state["fds"] += fds
        if not data:
            return self.drop(connection)
        state["buffer"] += data
        while b"\n" in state["buffer"]:
            line, state["buffer"] = state["buffer"].split(b"\n", 1)
            self.request(connection, state, json.loads(line))

    def row_for(self, method, name):
        rows = self.answers.get(method)
        if rows:
            return rows.pop(0) if len(rows) > 1 else rows[0]
        if method == "server.hello":
            return {"result": dict(HELLO, socket=name)}
        return {"error": {"code": "invalid_input", "message": "no such method"}}

    def request(self, connection, state, request):
        noted = dict(request, socket=state["name"])
        for fd in state["fds"]:
            noted["passed"] = os.readlink(f"/proc/self/fd/{fd}")
            os.close(fd)
        state["fds"] = []
        self.log.write(json.dumps(noted) + "\n")
        due = [w for w in self.waiting if w[2]["after"] == request["method"]]
        self.waiting = [w for w in self.waiting if w not in due]
        row = self.row_for(request["method"], state["name"])
        if "after" in row:
            self.waiting.append((connection, request["id"], row, request))
        else:
            self.answer(connection, request["id"], row, request)
        for late in due:
            self.answer(*late)

    def answer(self, connection, number, row, request):
        time.sleep(row.get("delay", 0))
        if row.get("close"):
            return self.drop(connection)
        if "raw" in row:
            return connection.sendall(row["raw"].encode("latin-1"))
        reply = {"jsonrpc": "2.0", "id": number}
        if "error" in row:
            data = dict(row["error"])
            reply["error"] = {"code": -32000, "message": data.pop("message"), "data": data}
        elif row.get("echo"):
            reply["result"] = dict(row["result"], echo=request["params"])
        else:
            reply["result"] = row["result"]
        files = [os.open(path, os.O_RDONLY) for path in row.get("files", [])]
        line = json.dumps(reply).encode() + b"\n"
        if files:
            socket.send_fds(connection, [line], files)
        else:
            connection.sendall(line)
        for fd in files:
            os.close(fd)

    def serve(self):
        end = time.monotonic() + 60
        open(self.folder + "/ready", "w").close()
        while time.monotonic() < end and not os.path.exists(self.folder + "/stop"):
            for key, _ in self.chosen.select(0.1):
                kind, what = key.data
                try:
                    if kind == "listen":
                        self.accept(key.fileobj, what)
                    else:
                        self.read(key.fileobj, what)
                except (BrokenPipeError, ConnectionResetError):
                    self.drop(key.fileobj)


if __name__ == "__main__":
    Fake(sys.argv[1], [json.loads(line) for line in sys.stdin if line.strip()]).serve()
