#!/usr/bin/env python3
"""Kills any subset of broker, executor, auditor, a keeper and the command line tool, at random moments and at
named points, while real jobs run; after each round the trio is started again and everything is compared:

  every acknowledged job and decision is there; no job has a line in its file more often than it has attempts,
  nor attempts than it may; what ended has its end; every job ends without a hand; state and log tell the same;
  the log verifies; a new job runs.

A named point is "before or after the N-th call of one system call" of a process (stepkill.c): before a commit,
between commit and send, between intent and start, between result and its mark, and so on.

usage: crash.py --ws DIR --state DIR --bin DIR --uid UID --stepkill FILE --rounds N --seconds S [--workers] [--seed N]
"""
import argparse, array, glob, json, os, random, re, signal, socket, subprocess, sys, threading, time

ARGS = None
POINTS = {  # process: calls at which it may die
    "broker": ["fdatasync", "sendmsg", "recvmsg", "pwrite64"],
    "auditor": ["write", "fdatasync", "sendmsg", "recvmsg", "pwrite64", "fsync"],
    "executor": ["sendmsg", "recvmsg", "mkdirat", "openat", "clone3", "unlinkat"],
    "keeper": ["fsync", "renameat", "sendmsg", "write", "recvmsg", "openat"],
}


KINDS = [["quick", "quick", "slow", "fails", "talks"], ["slow", "slow", "talks"]]  # without and with a dying keeper


class Gone(Exception):
    """The connection ended before the answer."""


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error.get("data", {}).get("code"), error.get("message"))
        self.code = error.get("data", {}).get("code")


class Peer:
    """One connection to control.sock."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.buffer = b""
        try:
            self.socket.connect(os.path.join(ARGS.state, "control.sock"))
        except OSError as error:
            raise Gone from error

    def call(self, method, params=None, fd=None):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd is not None else []
        try:
            self.socket.sendmsg([line], rights)
            while b"\n" not in self.buffer:
                part = self.socket.recv(1 << 20)
                if not part:
                    raise Gone
                self.buffer += part
        except OSError as error:
            raise Gone from error
        line, self.buffer = self.buffer.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def close(self):
        self.socket.close()


def fail(text):
    print("FAILED: " + text, flush=True)
    with open(os.path.join(ARGS.state, "trio.log"), errors="replace") as log:
        sys.stdout.write("".join(log.readlines()[-25:]))
    sys.exit(1)


def command(*words, timeout=60):
    return subprocess.Popen([os.path.join(ARGS.bin, "agent-safe"), "--workspace", ARGS.ws, "--state", ARGS.state,
                             "--json", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, close_fds=True)


def start():
    """
    The trio, as the next command of a person would start it.  Only who asks in the moment in which one of
    the three dies, of the others who have not noticed yet, may have to ask once more.
    """
    child = command("status")
    out, err = child.communicate(timeout=60)
    if child.returncode == 3 and b"broker_unreachable" in err:
        time.sleep(1)
        child = command("status")
        out, err = child.communicate(timeout=60)
    if child.returncode != 0:
        fail("no new start: %r" % err.decode())
    return json.loads(out)["pids"]


def keepers():
    """Living keepers of this workspace."""
    wanted, found = os.path.join(ARGS.bin, "agent-safe-keeper"), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink("/proc/%s/exe" % name) == wanted:
                    found.append(int(name))
            except OSError:
                pass
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Killer(threading.Thread):
    """Ends one process: at a random moment, or at a named point."""

    def __init__(self, what, pid, rng):
        super().__init__(daemon=True)
        self.what, self.pid = what, pid
        self.delay = rng.random() * 0.25
        self.call = rng.choice(POINTS[what]) if what in POINTS and rng.random() < 0.7 else None
        self.count, self.when = int(1.25 ** rng.randrange(16)), rng.choice(["before", "after"])
        self.how = "%s %s #%d" % (self.when, self.call, self.count) if self.call else "after %d ms" % (self.delay * 1000)
        self.hit, self.child = False, None
        self.armed = threading.Event()

    def disarm(self):
        """Nothing more happens in this round: a point that was not reached will not be."""
        if self.child:
            kill(self.child.pid)

    def find(self):
        """A keeper must be born first."""
        until = time.monotonic() + 1
        while self.what == "keeper" and self.pid is None and time.monotonic() < until:
            born = keepers()
            self.pid = born[-1] if born else None
            time.sleep(0.002)
        return self.pid

    def run(self):
        if self.what == "keeper":
            self.armed.set()
        if self.call and self.find():
            child = subprocess.Popen([ARGS.stepkill, str(self.pid), self.call, str(self.count), self.when, "2"],
                                     stdout=subprocess.PIPE)
            self.child = child
            child.stdout.readline()
            self.armed.set()
            child.communicate()
            self.hit = child.returncode == 0
        elif self.find():
            self.armed.set()
            time.sleep(self.delay)
            kill(self.pid)
            self.hit = True
        self.armed.set()


class Job:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.id = None
        self.approved = self.cancelled = False
        self.most = 2 if kind == "fails" else 1

    def lines(self):
        try:
            with open(os.path.join(ARGS.ws, "proj", self.name)) as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0

    def script(self):
        more = {"quick": "", "slow": "; sleep 0.4", "fails": "; exit 3", "talks": "; seq 2000"}[self.kind]
        return ["sh", "-c", "echo x >>%s%s" % (self.name, more)]


class Crash:
    def __init__(self):
        self.rng = random.Random(ARGS.seed)
        self.jobs, self.rounds, self.kills, self.points = [], 0, {}, 0

    def submit(self, peer, job):
        fd = os.open(os.path.join(ARGS.ws, "proj"), os.O_RDONLY | os.O_DIRECTORY)
        try:
            answer = peer.call("job.submit", {"command": job.script(), "idempotency_key": job.name, "timeout": 30,
                                              "max_attempts": job.most}, fd)
        finally:
            os.close(fd)
        job.id = answer["id"]
        self.jobs.append(job)
        peer.call("job.approve", {"job_id": job.id, "by": "soak"})
        job.approved = True

    def work(self, job, cancel, by_command):
        """One client: propose, approve, run; or die trying, as its broker does."""
        try:
            peer = Peer()
            self.submit(peer, job)
            if by_command:
                self.command = command("run", job.id, "--execute")
                self.command.communicate()
            elif cancel:
                threading.Thread(target=self.quietly, args=("job.run", {"job_id": job.id, "execute": True}),
                                 daemon=True).start()
                time.sleep(0.05)
                peer.call("job.cancel", {"job_id": job.id})
                job.cancelled = True
            else:
                peer.call("job.run", {"job_id": job.id, "execute": True})
            peer.close()
        except (Gone, Refused):
            pass

    def quietly(self, method, params):
        try:
            Peer().call(method, params)
        except (Gone, Refused):
            pass

    def round(self):
        pids, rng = start(), self.rng
        names = rng.sample(["broker", "executor", "auditor", "keeper", "cli"], rng.choice([1, 1, 1, 2, 2, 3, 4, 5]))
        self.command = None
        killers = [Killer(name, pids.get(name), rng) for name in names if name != "cli"]
        cli_delay = rng.random() * 0.2 if "cli" in names else None
        threads = []
        for killer in killers:
            killer.start()
        for killer in killers:
            killer.armed.wait(3)
        for i in range(3):
            job = Job("job-%d-%d" % (self.rounds, i), rng.choice(KINDS["keeper" in names]))
            threads.append(threading.Thread(target=self.work, daemon=True,
                                            args=(job, i == 1 and rng.random() < 0.4, i == 2)))
            threads[-1].start()
        if cli_delay is not None:
            time.sleep(cli_delay)
            if self.command:
                kill(self.command.pid)
                self.kills["cli"] = self.kills.get("cli", 0) + 1
        # One of the three is dead: the others end by themselves, and with them the clients' waiting.
        for thread in threads:
            thread.join(12)
            if thread.is_alive():
                fail("round %d (%s): a client waits for ever" % (self.rounds, self.told(killers)))
        for killer in killers:
            killer.disarm()
            killer.join(4)
            if killer.hit:
                self.kills[killer.what] = self.kills.get(killer.what, 0) + 1
                self.points += killer.call is not None
        self.recover(self.told(killers))
        self.rounds += 1

    def told(self, killers):
        return ", ".join("%s %s" % (k.what, k.how) for k in killers)

    def recover(self, told):
        """The next command starts the trio; what ran ends by itself; what was approved can be run."""
        try:
            self.settle(told)
        except Gone:
            # The last kill was a moment ago: who was left had not noticed when the command came.
            time.sleep(1)
            try:
                self.settle(told)
            except Gone:
                fail("round %d (%s): the trio died again" % (self.rounds, told))

    def settle(self, told):
        start()
        until = time.monotonic() + 20
        peer = Peer()
        while True:
            page = peer.call("job.list", {"status": ["running", "queued"], "limit": 1000})["jobs"]
            due = [job for job in page if job["status"] == "queued" and job["approval_status"] == "approved"]
            running = [job for job in page if job["status"] == "running"]
            if due and ARGS.workers:
                peer.call("job.wait", {"job_id": due[0]["id"], "timeout_ms": 1000})
            elif due:
                peer.call("job.work", {"execute": True})
            elif running:
                peer.call("job.wait", {"job_id": running[0]["id"], "timeout_ms": 1000})
            else:
                break
            if time.monotonic() > until:
                fail("round %d (%s): jobs do not end: %s" % (self.rounds, told, [
                    (job["id"], job["status"]) for job in running + due]))
        for job in self.jobs[-12:]:
            self.check(peer, job, told)
        peer.close()

    def check(self, peer, job, told):
        def wrong(text):
            fail("round %d (%s): job %s (%s %s): %s: %s" % (self.rounds, told, job.id, job.name, job.kind, text,
                                                          json.dumps(seen)))
        seen = None
        try:
            seen = peer.call("job.get", {"job_id": job.id})
        except Refused:
            wrong("was acknowledged and is gone")
        attempts, lines = seen["attempts_log"], job.lines()
        # A run that was never begun costs no attempt.
        begun = [attempt for attempt in attempts if attempt["stage"] != "stopped"]
        outcomes = [attempt["outcome"] for attempt in begun]
        if job.approved and not any(decision["decision"] == "approved" for decision in seen["decisions"]):
            wrong("its approval was acknowledged and is gone")
        if lines > len(begun) or len(begun) > job.most:
            wrong("%d lines, %d attempts, %d allowed" % (lines, len(begun), job.most))
        if job.cancelled and seen["status"] in ("queued", "running", "retry_wait"):
            wrong("its cancel was acknowledged")
        if seen["status"] == "succeeded" and (lines != 1 or outcomes != ["succeeded"]):
            wrong("succeeded with %d lines" % lines)
        if "lost" in outcomes[:-1]:
            wrong("a lost run was repeated")
        if any(outcome == "exited" for outcome in outcomes) and lines == 0:
            wrong("exited without a line")

    def check_log(self):
        """Every attempt has its dispatch, at most one intent, start and end, and the end the store knows."""
        records = {}
        for path in sorted(glob.glob(os.path.join(ARGS.state, "audit/log/seg-*.jsonl"))):
            with open(path, "rb") as file:
                for line in file.read().split(b"\n")[:-1]:
                    record = json.loads(line)
                    run = (record["d"].get("job"), record["d"].get("attempt"))
                    records.setdefault(run[0], []).append((record["type"], run[1], record["d"]))
        peer = Peer()
        for job in self.jobs:
            seen, found = peer.call("job.get", {"job_id": job.id}), records.get(job.id, [])
            types = [kind for kind, _, _ in found]
            if types.count("job.proposed") != 1 or types.count("job.approved") != sum(
                    decision["decision"] == "approved" for decision in seen["decisions"]):
                fail("log of %s: %s" % (job.id, types))
            for attempt in seen["attempts_log"]:
                number, of = attempt["attempt"], {}
                for kind, at, d in found:
                    if at == number:
                        of.setdefault(kind, []).append(d)
                ends = of.get("job.finished", []) + of.get("job.lost", [])
                told = of.get("exec.exit", []) + of.get("exec.refused", []) + of.get("exec.lost", [])
                if len(of.get("job.dispatch", [])) != 1 or len(of.get("exec.intent", [])) > 1 or \
                        len(of.get("exec.start", [])) > 1 or len(ends) != 1 or len(told) != 1:
                    fail("log of %s attempt %d: %s, state %s" % (job.id, number, sorted(
                        (kind, len(ds)) for kind, ds in of.items()), attempt))
                if ends[0].get("outcome", "lost") != attempt["outcome"]:
                    fail("log of %s attempt %d: ended %s, state %s" % (job.id, number, ends[0], attempt))
        for id in set(records) - {None} - {job.id for job in self.jobs}:
            # Stored and on record, but the answer never came: it must be there all the same.
            peer.call("job.get", {"job_id": id})
        peer.close()

    def verify(self):
        child = command("audit-verify")
        out, err = child.communicate(timeout=60)
        if child.returncode != 0:
            fail("the log does not verify: %s %s" % (out.decode(), err.decode()))

    def run(self):
        until = time.monotonic() + ARGS.seconds
        while self.rounds < ARGS.rounds and time.monotonic() < until:
            self.round()
            if self.rounds % 10 == 0:
                self.verify()
        start()
        self.quietly("job.list", {})
        if not ARGS.workers:
            command("work", "--drain", "--execute").communicate(timeout=60)
        time.sleep(2.5)  # what waits for its second try
        self.recover("the end")
        if not ARGS.workers:
            command("work", "--drain", "--execute").communicate(timeout=60)
        peer = Peer()
        for job in self.jobs:
            self.check(peer, job, "the end")
        job = Job("job-last", "quick")
        self.submit(peer, job)
        if not ARGS.workers:
            self.quietly("job.run", {"job_id": job.id, "execute": True})
        if peer.call("job.wait", {"job_id": job.id, "timeout_ms": 10000})["status"] != "succeeded":
            fail("a new job does not run")
        self.check_log()
        self.verify()
        left = keepers()
        if left:
            fail("keepers are left: %s" % left)
        counts = {}
        for job in self.jobs:
            status = peer.call("job.get", {"job_id": job.id})["status"]
            counts[status] = counts.get(status, 0) + 1
        print("%d rounds, seed %d: %s; %d at named points; %d acknowledged jobs: %s" % (
            self.rounds, ARGS.seed, ", ".join("%s killed %d times" % item for item in sorted(self.kills.items())),
            self.points, len(self.jobs), ", ".join("%d %s" % (n, s) for s, n in sorted(counts.items()))))


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    for name in ("ws", "state", "bin", "stepkill"):
        parser.add_argument("--" + name, required=True)
    for name in ("rounds", "seconds"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--workers", action="store_true", help="the policy has own workers: nobody lends a hand")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    ARGS = parser.parse_args()
    Crash().run()


main()
