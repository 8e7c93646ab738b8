"""One connection to the broker's control socket, for the benches."""
import array, json, os, socket


class Peer:
    def __init__(self, state):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(state, "control.sock"))
        self.buffer = b""

    def call(self, method, params=None, fd=None):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd is not None else []
        self.socket.sendmsg([line], rights)
        while b"\n" not in self.buffer:
            part = self.socket.recv(1 << 20)
            if not part:
                raise SystemExit("the broker is gone")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise SystemExit("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def submit(self, folder, **more):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return self.call("job.submit", {"command": ["true"], "new": True, **more}, fd)["id"]
        finally:
            os.close(fd)
