"""2,000 calls over one connection: calls per second and resident memory, beside a bare echo of the same lines.

usage: load.py CALLS CWD COMMAND [ARGUMENT...]     the server; its caller runs this as the proposer
"""
import json
import subprocess
import sys
import time


def rss_kb(pid):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def request(number, name, arguments):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                       "params": {"name": name, "arguments": arguments}}).encode() + b"\n"


def run(process, lines, at_once):
    """Send each line, at_once under way; -> calls per second, kB at a tenth of them, kB at the end."""
    early, begun = 0, time.monotonic()
    for start in range(0, len(lines), at_once):
        process.stdin.write(b"".join(lines[start:start + at_once]))
        process.stdin.flush()
        for _ in range(min(at_once, len(lines) - start)):
            answer = process.stdout.readline()
            assert answer.endswith(b"\n"), answer
            assert b'"isError":true' not in answer and b'"error":{"code":-' not in answer, answer
        if not early and start >= len(lines) // 10:
            early = rss_kb(process.pid)
    return len(lines) / (time.monotonic() - begun), early, rss_kb(process.pid)


def main():
    calls, cwd, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    server = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    echo = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n')
    server.stdin.flush()
    server.stdout.readline()
    server.stdin.write(request(0, "propose", {"command": ["echo", "load"]}))
    server.stdin.flush()
    job = json.loads(server.stdout.readline())["result"]["structuredContent"]["id"]
    grown = 0
    for name, arguments in [("get", {"job_id": job}), ("policy", {})]:
        lines = [request(number, name, arguments) for number in range(1, calls + 1)]
        for at_once in (1, 10):
            rate, early, late = run(server, lines, at_once)
            bare, _, _ = run(echo, lines, at_once)
            grown = max(grown, late - early)
            print("load: %d calls of %s, %2d at once: %6.0f calls/s (bare echo %6.0f); memory %d kB after a tenth, %d kB at the end"
                  % (calls, name, at_once, rate, bare, early, late))
    for process in (server, echo):
        process.stdin.close()
        assert process.wait(10) == 0
    assert grown <= 256, "memory grew by %d kB" % grown


main()
