"""Stand-in peers for one daemon under test: the other ends of its channels, spoken by hand.

Message numbers, tags and descriptor places are read from the shared headers, so that a changed
contract changes the tests.  Standard library only.
"""
import fcntl
import hashlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD_DIR", os.path.join(TOP, "build"))


def header(name):
    with open(os.path.join(TOP, "shared", name), encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def enum(name, file):
    """Values of a C enum, by name; name None: the anonymous one that holds `BOOT_FD`."""
    pattern = r"enum %s\s*\{(.*?)\}" % name if name else r"enum\s*\{(.*?)\}"
    values, at = {}, -1
    for part in re.search(pattern, header(file), re.S).group(1).split(","):
        if not part.strip():
            continue
        key, _, value = (piece.strip() for piece in part.partition("="))
        at = eval(value, {}, values) if value else at + 1
        values[key] = at
    return values


MESSAGES = {name: number + 1 for number, name in
            enumerate(re.findall(r"^TO_[A-Z]+\s*\((\w+),", header("messages.def"), re.M))}
NAMES = {number: name for name, number in MESSAGES.items()}
PLAN = enum("plan_tag", "plan.h")
ASSESS = enum("assess_tag", "plan.h")
BOOT = enum("boot_tag", "boot.h")
FDS = enum(None, "boot.h")
OUTCOME = enum("outcome", "run.h")
STAGE = enum("stage", "run.h")
REFUSAL = enum("record_refusal", "payloads.h")
NONE = 2 ** 64 - 1

RUN = struct.Struct("<16sII")
MASKED = enum("masked", "run.h")["MASKED_COUNT"]  # kinds of what is masked
STREAM = struct.Struct("<QQQQ%ds32s32s" % (8 * MASKED))
END = struct.Struct("<IiiIiIQQQQQQQQ")


def fields(magic, items):
    body = magic
    for tag, value in items:
        if isinstance(value, int):
            value = struct.pack("<Q", value)
        elif isinstance(value, str):
            value = value.encode()
        body += struct.pack("<HHI", tag, 0, len(value)) + value
    return body


def read_fields(magic, body):
    assert body[:8] == magic, body[:8]
    at, items = 8, []
    while at < len(body):
        tag, spare, length = struct.unpack_from("<HHI", body, at)
        assert spare == 0
        items.append((tag, body[at + 8:at + 8 + length]))
        at += 8 + length
    assert at == len(body)
    return items


def sealed(body):
    fd = os.memfd_create("peer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, body) if body else None
    fcntl.fcntl(fd, 1033, 1 | 2 | 4 | 8)  # F_ADD_SEALS: SEAL SHRINK GROW WRITE
    return fd


def read_memfd(fd):
    assert fcntl.fcntl(fd, 1034) & 15 == 15, "not sealed"
    body = os.pread(fd, os.fstat(fd).st_size, 0)
    os.close(fd)
    return body


class Channel:
    """The far end of a SEQPACKET pair."""

    def __init__(self):
        self.near, self.far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def send(self, name, body=b"", descriptors=()):
        packet = struct.pack("<I", MESSAGES[name]) + body
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(descriptors), *descriptors))]
        self.far.sendmsg([packet], ancillary if descriptors else [])
        for fd in descriptors:
            os.close(fd)

    def take(self, timeout=5):
        """(name, body, descriptors), or None when the daemon is gone or silent."""
        if not select.select([self.far], [], [], timeout)[0]:
            return None
        try:
            packet, ancillary, _, _ = self.far.recvmsg(65536, socket.CMSG_SPACE(8))
        except OSError:
            return None
        if not packet:
            return None
        descriptors = [fd for _, kind, data in ancillary if kind == socket.SCM_RIGHTS
                       for fd in struct.unpack("%di" % (len(data) // 4), data[:len(data) // 4 * 4])]
        return NAMES[struct.unpack_from("<I", packet)[0]], packet[4:], descriptors


class Auditor(threading.Thread):
    """Remembers records in memory; answers as the real one does."""

    def __init__(self, channel, log):
        super().__init__(daemon=True)
        self.channel, self.log = channel, log  # log: [(sn, type, d, seal)], outlives a restart of the daemon
        self.refuse = None   # a REFUSAL_* number for every new record
        self.hold = threading.Event()
        self.hold.set()      # cleared: acknowledge nothing for now
        self.seen = []       # every RECORD_APPEND as it came, by sn
        self.welcome = {}    # overrides of BROKER_WELCOME
        self.segments = []   # paths handed out
        self.pruned = []     # (before_seq, before_us) of each LOG_PRUNE

    def seq(self, sn):
        return 2 + 3 * sn  # other records lie between

    def run(self):
        while True:
            got = self.channel.take(3600)
            if not got:
                return
            try:
                getattr(self, "on_" + got[0].lower())(got[1], got[2])
            except OSError:
                return

    def on_broker_hello(self, body, _):
        next_sn, acked_sn, acked_seq, acked_hash, _, _ = struct.unpack("<QQQ32sII", body)
        self.hello = (next_sn, acked_sn, acked_seq)
        known = acked_sn != NONE and acked_sn < len(self.log) and \
            acked_hash == hashlib.sha256(self.log[acked_sn][2]).digest()
        values = {"last_sn": len(self.log) - 1 if self.log else NONE, "acked_known": int(known)}
        values.update(self.welcome)
        last = hashlib.sha256(self.log[-1][2]).digest() if self.log else bytes(32)
        seq = self.seq(self.log[-1][0]) if self.log else 0
        self.channel.send("BROKER_WELCOME", struct.pack("<Q32sQ32sQ32sQ32sII32s", values["last_sn"], last, seq, last,
                                                        1, bytes(32), 1, b"K" * 32, values["acked_known"], 0, b"L" * 32))

    def on_record_append(self, body, descriptors):
        sn, seal, _, kind = struct.unpack("<QII48s", body)
        d = read_memfd(descriptors[0])
        kind = kind.rstrip(b"\0").decode()
        self.seen.append(sn)
        self.hold.wait()
        if self.refuse:
            self.channel.send("RECORD_REFUSED", struct.pack("<QQII", sn, len(self.log), self.refuse, 0))
            return
        check_al1(d)
        assert sn <= len(self.log), "gap"
        if sn < len(self.log):
            assert self.log[sn][2] == d, "equivocation"
        else:
            self.log.append((sn, kind, d, seal))
        self.channel.send("RECORD_SYNCED", struct.pack("<QQ32sII", sn, self.seq(sn), hashlib.sha256(d).digest(),
                                                       seal, 0))

    def on_log_seal(self, body, _):
        request, want, _, nonce = struct.unpack("<QII32s", body)
        paths = self.segments if want & 1 else []
        self.channel.send("LOG_SEALED", struct.pack("<QQQ32s32s32sQII", request, 7, 3, nonce, b"R" * 32, b"K" * 32,
                                                    len(paths), 1 if want & 4 else 0, 0))
        for index, path in enumerate(paths):
            self.channel.send("LOG_SEGMENT", struct.pack("<QQQ", request, index, 10 * index),
                              [os.open(path, os.O_RDONLY)])

    def on_log_prune(self, body, _):
        request, before_seq, before_us = struct.unpack("<QQQ", body)
        self.pruned.append((before_seq, before_us))
        self.channel.send("LOG_PRUNED", struct.pack("<QQQ", request, 31, 2))

    def types(self):
        return [kind for _, kind, _, _ in self.log]

    def records(self, kind):
        return [json.loads(d) for _, one, d, _ in self.log if one == kind]


def check_al1(d):
    """d as AUDIT's AL1 wants it: strict, no fraction, |n| <= 2^53-1, no space outside texts."""
    assert len(d) <= 65536 - 512, len(d)
    text = d.decode("utf-8")

    def pairs(items):
        keys = [key for key, _ in items]
        assert len(set(keys)) == len(keys), "duplicate key"
        return dict(items)

    def number(value):
        assert abs(int(value)) <= 2 ** 53 - 1 and value != "-0", value
        return int(value)

    def refuse(value):
        raise AssertionError("not an integer: " + value)

    value = json.loads(text, object_pairs_hook=pairs, parse_int=number, parse_float=refuse, parse_constant=refuse)
    assert isinstance(value, dict)
    assert not re.search(r'[\x00-\x1f\x7f]', text)
    assert not re.search(r'\\u(?!00[0-9a-f]{2})|\\/', text), "escape"
    assert not re.search(r'\s', re.sub(r'"(\\.|[^"\\])*"', '""', text)), "space"


class Executor(threading.Thread):
    """Resolves programs and runs them with plain fork and exec: a contract peer, not a cage."""

    def __init__(self, channel, runs):
        super().__init__(daemon=True)
        self.channel, self.runs = channel, runs
        self.started, self.collected, self.asked, self.plans, self.pruned = [], [], [], [], []
        self.busy = 0          # answer that many questions with ASSESS_BUSY
        self.refuse_run = None  # (stage, errno)
        self.answer_ask = {}   # (job, attempt) -> "RUN_LIVES" or "RUN_LOST"
        self.children = {}
        self.lock = threading.Lock()
        self.silent = False    # take plans, never start or end them
        self.questions = 0

    def run(self):
        try:
            self.channel.send("EXECUTOR_READY", struct.pack("<QII", 0x1fff, 6, 4) + bytes(6 * 3 * 32))
        except OSError:
            return  # the daemon refused to start
        while True:
            got = self.channel.take(3600)
            if not got:
                return
            try:
                getattr(self, "on_" + got[0].lower())(got[1], got[2])
            except OSError:
                return

    # --- programs ---

    @staticmethod
    def resolve(name, cwd, path):
        places = [os.path.join(cwd, name)] if "/" in name else [os.path.join(d, name) for d in path.split(":")]
        for place in places:
            if os.path.isfile(place) and os.access(place, os.X_OK):
                named = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
                return named, os.path.realpath(place)
        return None

    @staticmethod
    def program(first, named, target):
        st = os.stat(target)
        with open(target, "rb") as file:
            sha256 = hashlib.sha256(file.read()).digest()
        kind = 1 if target.startswith("/usr/") else 2
        values = [named, target, kind, st.st_dev, st.st_ino, st.st_size, sha256]
        return [(first + i, value) for i, value in enumerate(values)]

    def on_program_assess(self, body, descriptors):
        question = struct.unpack("<Q", body)[0]
        asked = {}
        rules = []
        for tag, value in read_fields(b"ASQUES01", read_memfd(descriptors[0])):
            if tag == ASSESS["ASSESS_RULE_PROGRAM"]:
                rules.append(value.decode())
            else:
                asked[tag] = value
        self.questions += 1

        def answer(status, fd_body=b""):
            self.channel.send("PROGRAM_ASSESSED", struct.pack("<QII", question, status, 0), [sealed(fd_body)])

        if self.busy > 0:
            self.busy -= 1
            return answer(3)
        cwd = asked[ASSESS["ASSESS_CWD"]].decode()
        try:
            st = os.stat(cwd)
        except OSError:
            return answer(2)
        if struct.pack("<QQ", st.st_dev, st.st_ino) != asked[ASSESS["ASSESS_CWD_DEV"]] + asked[ASSESS["ASSESS_CWD_INO"]]:
            return answer(2)
        path = asked[ASSESS["ASSESS_PATH"]].decode()
        found = self.resolve(asked[ASSESS["ASSESS_PROGRAM"]].decode(errors="surrogateescape"), cwd, path)
        if not found:
            return answer(1)
        items = self.program(PLAN["PLAN_PROGRAM_NAMED"], *found)
        with open(found[1], "rb") as file:
            line = file.readline(256)
        if line.startswith(b"#!"):
            interpreter = line[2:].split()[0].decode()
            items += self.program(PLAN["PLAN_INTERPRETER_NAMED"], *self.resolve(interpreter, "/", path))
        for rule in rules:
            found = self.resolve(rule, "/", path)
            items.append((ASSESS["ASSESS_RULE_RESOLVED"], "\0".join(found) if found else ""))
        answer(0, fields(b"ASANSW01", items))

    # --- runs ---

    def on_run_start(self, body, descriptors):
        run, digest = body[:24], body[24:56]
        plan = read_memfd(descriptors[0])
        assert hashlib.sha256(plan).digest() == digest, "digest"
        job, attempt, slot = RUN.unpack(run)
        self.started.append((job.hex(), attempt, slot))
        self.plans.append(read_fields(b"ASPLAN01", plan))
        if self.silent:
            return
        if self.refuse_run:
            self.channel.send("RUN_REFUSED", run + struct.pack("<Ii", *self.refuse_run))
            return
        threading.Thread(target=self.work, args=(run, self.plans[-1]), daemon=True).start()

    def folder(self, run):
        job, attempt, slot = RUN.unpack(run)
        text = job.hex()
        uuid = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
        return os.path.join(self.runs, str(slot), "%s.%d" % (uuid, attempt))

    def work(self, run, plan):
        argv = [value for tag, value in plan if tag == PLAN["PLAN_ARG"]]
        env = dict(value.split(b"=", 1) for tag, value in plan if tag == PLAN["PLAN_ENV"])
        one = dict(plan)
        folder = self.folder(run)
        os.makedirs(folder, exist_ok=True)
        begun = time.time()
        timed_out = False
        with open(folder + "/out", "wb") as out, open(folder + "/err", "wb") as err:
            child = subprocess.Popen(argv, executable=one[PLAN["PLAN_PROGRAM_TARGET"]], env=env, stdout=out,
                                     stderr=err, stdin=subprocess.DEVNULL, cwd=one[PLAN["PLAN_CWD"]],
                                     start_new_session=True)
            with self.lock:
                self.children[run] = child
            self.channel.send("RUN_STARTED", run + struct.pack("<QQ", int(begun * 1e6), 0x1fff))
            try:
                code = child.wait(struct.unpack("<Q", one[PLAN["PLAN_TIMEOUT_MS"]])[0] / 1000)
            except subprocess.TimeoutExpired:
                timed_out = True
                os.killpg(child.pid, signal.SIGKILL)
                code = child.wait()
        with self.lock:
            cancelled = self.children.pop(run) is None
        outcome = "OUTCOME_TIMED_OUT" if timed_out else "OUTCOME_CANCELLED" if cancelled else \
            "OUTCOME_SUCCEEDED" if code == 0 else "OUTCOME_EXITED" if code > 0 else "OUTCOME_SIGNALLED"
        self.end(run, outcome, code, begun)

    def end(self, run, outcome, code, begun):
        streams = b""
        for name in ("out", "err"):
            with open(os.path.join(self.folder(run), name), "rb") as file:
                data = file.read()
            sha256 = hashlib.sha256(data).digest()
            streams += STREAM.pack(len(data), len(data), len(data), 0, b"", sha256, sha256)
        now = time.time()
        end = END.pack(OUTCOME[outcome], code if code >= 0 else -1, -code if code < 0 else 0, 0, 0, 0,
                       int(begun * 1e6), int(now * 1e6), int((now - begun) * 1e6), 1000, 2000, 3000, 0, 0x1fff)
        self.channel.send("RUN_ENDED", run + end + bytes(8 + 32) + streams)  # nothing denied

    def on_run_cancel(self, body, _):
        with self.lock:
            child = self.children.get(body)
            if child:
                self.children[body] = None
                os.killpg(child.pid, signal.SIGKILL)

    def on_run_ask(self, body, _):
        job, attempt, slot = RUN.unpack(body)
        self.asked.append((job.hex(), attempt))
        here = (job.hex(), attempt, slot) in self.started
        self.channel.send(self.answer_ask.get((job.hex(), attempt), "RUN_LIVES" if here else "RUN_LOST"), body)

    def on_run_prune(self, body, _):
        self.pruned.append(RUN.unpack(body)[:2])

    def on_run_collected(self, body, _):
        self.collected.append(RUN.unpack(body)[:2])


class Client:
    """A line of JSON out, a line of JSON back."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.buffer, self.number, self.descriptors = b"", 0, []

    def send(self, method, params=None, descriptors=(), **more):
        self.number += 1
        line = json.dumps(dict({"jsonrpc": "2.0", "id": self.number, "method": method},
                               **({} if params is None else {"params": params}), **more)).encode() + b"\n"
        self.send_bytes(line, descriptors)

    def send_bytes(self, data, descriptors=()):
        if descriptors:
            sent = socket.send_fds(self.socket, [data], list(descriptors))
            data = data[sent:]
        if data:
            self.socket.sendall(data)

    def receive(self):
        while b"\n" not in self.buffer:
            data, ancillary, _, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(4 * 253))
            if not data:
                return None
            for _, _, rights in ancillary:
                self.descriptors += struct.unpack("%di" % (len(rights) // 4), rights)
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def call(self, method, params=None, descriptors=()):
        """The result; a refusal is raised."""
        self.send(method, params, descriptors)
        answer = self.receive()
        if answer is None:
            raise ConnectionError("the daemon closed the connection")
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def close(self):
        self.socket.close()


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["data"]["code"] + ": " + error["message"])
        self.code, self.data, self.number = error["data"]["code"], error["data"], error["code"]


class Broker:
    """The real broker between stand-in peers.  `folder` holds its state and outlives a restart."""

    def __init__(self, folder, policy, mode=2, root_flags=0, slots=4, log=None):
        self.folder, self.mode, self.root_flags, self.slots = folder, mode, root_flags, slots
        self.policy_path = os.path.join(folder, "etc", "policy.json")
        self.work = os.path.join(folder, "work")
        self.log = [] if log is None else log
        for name in ("state", "runs", "work", "etc"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        if policy is not None:
            self.write_policy(policy)
        self.process = None

    def write_policy(self, policy):
        fresh = self.policy_path + ".new"
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(policy if isinstance(policy, str) else json.dumps(policy))
        os.rename(fresh, self.policy_path)

    def boot(self, sha256):
        st = os.stat(self.work)
        place = lambda name: os.path.join(self.folder, name)
        items = [(BOOT["BOOT_MODE"], self.mode), (BOOT["BOOT_ORIGIN"], "host/test"),
                 (BOOT["BOOT_STATE_DIR"], place("state")), (BOOT["BOOT_AUDIT_DIR"], place("audit")),
                 (BOOT["BOOT_RUNS_DIR"], place("runs")), (BOOT["BOOT_POLICY_PATH"], self.policy_path),
                 (BOOT["BOOT_PROPOSE_SOCKET"], self.propose), (BOOT["BOOT_CONTROL_SOCKET"], self.control),
                 (BOOT["BOOT_BOX_DIR"], place("box")), (BOOT["BOOT_BROKER_ID"], os.getuid()),
                 (BOOT["BOOT_BROKER_GID"], os.getgid()), (BOOT["BOOT_EXECUTOR_ID"], 2), (BOOT["BOOT_AUDITOR_ID"], 3),
                 (BOOT["BOOT_EXECUTOR_PID"], 11), (BOOT["BOOT_AUDITOR_PID"], 12),
                 (BOOT["BOOT_PROFILE_FLOOR"], "default")]
        items += [(BOOT["BOOT_SLOT_JOB"], 100 + i) for i in range(self.slots)]
        items += [(BOOT["BOOT_SLOT_INIT"], 200 + i) for i in range(self.slots)]
        items += [(BOOT["BOOT_ROOT_PATH"], self.work), (BOOT["BOOT_ROOT_FLAGS"], self.root_flags),
                  (BOOT["BOOT_ROOT_UID"], st.st_uid), (BOOT["BOOT_ROOT_GID"], st.st_gid), (BOOT["BOOT_ROOT_INDEX"], 0),
                  (BOOT["BOOT_POLICY_SHA256"], sha256), (BOOT["BOOT_LAYERS"], 0),
                  (BOOT["BOOT_NETWORK"], 0), (BOOT["BOOT_COURIER_ID"], 0), (BOOT["BOOT_COURIER_PID"], 0),
                  (BOOT["BOOT_AUDIT_REQUIRE"], 0), (BOOT["BOOT_AUDIT_QUORUM"], 0), (BOOT["BOOT_AUDIT_SECONDS"], 0),
                  (BOOT["BOOT_MINIMUM"], 0)]
        return sealed(fields(b"ASBOOT01", items))

    def listen(self, path):
        if os.path.exists(path):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.listen(128)
        return listener

    def start(self, auditor=None, executor=None, serve=True):
        self.propose, self.control = self.folder + "/propose.sock", self.folder + "/control.sock"
        self.to_executor, self.to_auditor = Channel(), Channel()
        sockets = [self.listen(self.propose), self.listen(self.control)]
        there = os.path.exists(self.policy_path)
        policy = os.open(self.policy_path if there else "/dev/null", os.O_RDONLY)
        body = os.pread(policy, 1 << 21, 0) if there else b""
        sha256 = hashlib.sha256(body).digest() if there else bytes(32)
        lock = os.open(self.folder + "/lock", os.O_RDWR | os.O_CREAT)
        places = {FDS["BOOT_FD"]: self.boot(sha256), FDS["BROKER_EXECUTOR_FD"]: self.to_executor.near.fileno(),
                  FDS["BROKER_AUDITOR_FD"]: self.to_auditor.near.fileno(),
                  FDS["BROKER_PROPOSE_FD"]: sockets[0].fileno(), FDS["BROKER_CONTROL_FD"]: sockets[1].fileno(),
                  FDS["BROKER_STATE_FD"]: os.open(self.folder + "/state", os.O_RDONLY),
                  FDS["BROKER_RUNS_FD"]: os.open(self.folder + "/runs", os.O_RDONLY),
                  FDS["BROKER_POLICY_FD"]: policy, FDS["BROKER_LOCK_FD"]: lock}

        def arrange():
            high = {place: fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for place, fd in places.items()}
            for place, fd in high.items():
                os.dup2(fd, place, inheritable=True)

        self.errors = open(self.folder + "/stderr", "ab")
        self.process = subprocess.Popen([os.path.join(BUILD, "agent-safe-broker")], preexec_fn=arrange,
                                        stderr=self.errors, close_fds=False)
        for place in ("BOOT_FD", "BROKER_STATE_FD", "BROKER_RUNS_FD"):
            os.close(places[FDS[place]])
        os.close(policy)
        os.close(lock)
        for one in sockets + [self.to_executor.near, self.to_auditor.near]:
            one.close()
        self.auditor = (auditor or Auditor)(self.to_auditor, self.log)
        self.executor = (executor or Executor)(self.to_executor, self.folder + "/runs")
        if serve:
            self.auditor.start()
            self.executor.start()
        return self

    def client(self, path=None):
        return Client(path or self.control)

    def submit(self, client, command, cwd=None, **params):
        fd = os.open(cwd or self.work, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return client.call("job.submit", dict(params, command=command), [fd])
        finally:
            os.close(fd)

    def stderr(self):
        with open(self.folder + "/stderr", encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, how=signal.SIGTERM):
        """The exit status; negative: it died of a signal."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(5)
        finally:
            self.to_executor.far.close()
            self.to_auditor.far.close()
            self.errors.close()
