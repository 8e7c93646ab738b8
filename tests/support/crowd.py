"""A crowd at propose.sock: crowd.py SOCKET PID WHAT UID [UID...].

The first users do WHAT with as many connections as they get, the last one is an ordinary user who
must be served meanwhile.  PID is the broker's: its memory stays bounded.  Exits 0 when all that held.
"""
import os
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
    one.connect(path) # with a timeout it would fail where the queue of new connections is full
    one.settimeout(PATIENCE)
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


class User:
    """A child with that uid, so that the kernel says so; its connections live as long as it."""

    def __init__(self, uid, act, earlier):
        mine, self.end = socket.socketpair()
        self.uid = uid
        self.child = os.fork()
        if self.child == 0:
            for one in earlier + [self]:
                one.end.close()
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            connections = act()
            mine.send(b"done")
            mine.recv(1)
            mine.send(b"%d" % sum(is_kept(one) for one in connections))
            mine.recv(1)
            os._exit(0)
        mine.close()
        self.end.settimeout(4 * PATIENCE)
        self.hear()

    def hear(self):
        try:
            return self.end.recv(16)
        except OSError:
            sys.exit("user %d is not served" % self.uid)

    def kept(self):
        self.end.send(b"?")
        return int(self.hear() or b"-1")

    def leave(self):
        self.end.close()
        os.waitpid(self.child, 0)


def is_kept(one):
    """A refused connection has its answer and its end."""
    one.setblocking(False)
    try:
        first = one.recv(4096, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return bool(first) and b"busy" not in first


def crowd(path, what, wanted):
    def act():
        connections = []
        for _ in range(wanted):
            one = connect(path)
            connections.append(one)
            try:
                what(one)
            except OSError:
                pass
        return connections
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
    uids = [int(uid) for uid in sys.argv[4:]]
    before = memory(pid)
    users = []
    for uid in uids[:-1]:
        users.append(User(uid, crowd(path, globals()[what], OF_ONE + 10), users))
    users.append(User(uids[-1], ordinary(path), users))
    grown = memory(pid) - before
    # The broker takes connections in order: who was served last shows that each before was judged.
    counts = [user.kept() for user in users]
    for user in users:
        user.leave()
    print("%d connections, %d KiB more" % (sum(counts), grown))
    if counts[-1] != 1:
        sys.exit("the ordinary user is not served")
    for uid, count in zip(uids[:-1], counts):
        if what != "long_line" and not 40 <= count <= OF_ONE:
            sys.exit("user %d keeps %d connections" % (uid, count))
    if grown > (OF_ALL + 16) * 2 * LINE // 1024:
        sys.exit("the broker grew by %d KiB" % grown)


main()
