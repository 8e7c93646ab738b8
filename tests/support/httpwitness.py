"""
A witness that speaks HTTP (C2SP tlog-witness), on the loopback alone, for tests: agent-safe-witness behind it, with
the statuses that its manual gives for its exit codes.

  httpwitness.py WITNESS FOLDER PORTFILE [CONFLICT]

writes its port and its process id to PORTFILE and serves POST /add-checkpoint until it is ended.  CONFLICT: the status and the body of
every answer from then on when that file is there (one line: "409 40").
"""
import http.server
import os
import subprocess
import sys

STATUS = {0: 200, 2: 400, 3: 500, 4: 422, 5: 409, 6: 404}


class Witness(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/add-checkpoint":
            self.answer(404, b"", "text/plain")
        elif len(sys.argv) > 4 and os.path.exists(sys.argv[4]):
            status, text = open(sys.argv[4], encoding="ascii").read().split()
            self.answer(int(status), text.encode() + b"\n", "text/plain")
        else:
            done = subprocess.run([sys.argv[1], "add", sys.argv[2]], input=body, capture_output=True)
            status = STATUS[done.returncode]
            self.answer(status, done.stdout or done.stderr, "text/x.tlog.size" if status == 409 else "text/plain")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Witness)
with open(sys.argv[3] + ".new", "w", encoding="ascii") as file:
    file.write(f"{server.server_port} {os.getpid()}\n")
os.rename(sys.argv[3] + ".new", sys.argv[3])
server.serve_forever()
