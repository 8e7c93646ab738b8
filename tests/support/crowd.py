"""A crowd at propose.sock: crowd.py SOCKET PID WHAT UID [UID...].

The first users do WHAT with as many connections as they get, the last one is an ordinary user who
must be served meanwhile.  PID is the broker's: its memory stays bounded.  Exits 0 when all that held.
"""
import os
import select
import socket
import sys

OF_ONE = 64      # LIMIT_PROPOSERS_OF_UID
OF_ALL = 112     # LIMIT_PROPOSERS
LINE = 1 << 20   # LIMIT_LINE_BYTES
PATIENCE = 30

HELLO = b'{"jsonrpc":"2.0","id":1,"method":"server.hello","params":{}}\n'
WATCH = b'{"jsonrpc":"2.0","id":1,"method":"events.read","params":{"cursor":0,"timeout_ms":60000}}\n'


def connect(path):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(PATIENCE)
    one.connect(path)
    return one


def answer(one):
    line = b""
    while not line.endswith(b"\n"):
        part = one.recv(65536)
        if not part:
            break
        line += part
    return line


def fill_pipe(one, bytes_):
    """As much as the other side takes; it never blocks us."""
    one.setblocking(False)
    sent = 0
    try:
        while sent < len(bytes_):
            sent += one.send(bytes_[sent:])
    except OSError:
        pass
    one.settimeout(PATIENCE)


def idle(one):
    pass


def half(one):
    one.sendall(HELLO[:-1])


def drip(one):
    for byte in HELLO[:20]:
        one.sendall(bytes([byte]))


def deaf(one):
    fill_pipe(one, HELLO * 2000)


def deaf_watch(one):
    fill_pipe(one, WATCH * 500)


def long_line(one):
    fill_pipe(one, b"x" * (LINE + 100))


def as_user(uid, act):
    """In a child with that uid, so that the kernel says so; the child's connections live as long as it."""
    ready, told = os.pipe()
    stop, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready)
        os.close(end)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        kept = act()
        os.write(told, str(len(kept)).encode())
        os.read(stop, 1)
        os._exit(0)
    os.close(told)
    os.close(stop)
    if not select.select([ready], [], [], 4 * PATIENCE)[0]:
        sys.exit("user %d is not served" % uid)
    return int(os.read(ready, 16) or b"-1"), end, child


def crowd(path, what, wanted):
    """How many connections stay open: a refused one has its answer and its end at once."""
    def act():
        kept = []
        for _ in range(wanted):
            one = connect(path)
            if select.select([one], [], [], 0.02)[0] and b"busy" in one.recv(4096, socket.MSG_PEEK):
                continue
            try:
                what(one)
            except OSError:
                continue
            kept.append(one)
        return kept
    return act


def ordinary(path):
    def act():
        one = connect(path)
        for _ in range(5):
            one.sendall(HELLO)
            if b'"agent-safe"' not in answer(one):
                return []
        return [one]
    return act


def memory(pid):
    with open("/proc/%s/status" % pid, encoding="ascii") as status:
        return next(int(row.split()[1]) for row in status if row.startswith("VmRSS:"))


def main():
    path, pid, what = sys.argv[1:4]
    users = [int(uid) for uid in sys.argv[4:]]
    before = memory(pid)
    children, total = [], 0
    for uid in users[:-1]:
        count, end, child = as_user(uid, crowd(path, globals()[what], OF_ONE + 10))
        children.append((end, child))
        total += count
        if what != "long_line" and not 40 <= count <= OF_ONE:
            sys.exit("user %d keeps %d connections" % (uid, count))
    served, end, child = as_user(users[-1], ordinary(path))
    children.append((end, child))
    grown = memory(pid) - before
    for end, _ in children: # a later child holds the ends of those before it
        os.close(end)
    for _, child in children:
        os.waitpid(child, 0)
    print("%d connections, %d KiB more" % (total, grown))
    if served != 1:
        sys.exit("the ordinary user is not served")
    if grown > (OF_ALL + 16) * 2 * LINE // 1024:
        sys.exit("the broker grew by %d KiB" % grown)


main()
