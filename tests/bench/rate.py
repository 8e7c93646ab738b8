#!/usr/bin/env python3
"""Approved jobs per second, end to end, beside tools that start the same program: each round is the same
number of runs of each, one tool after the other, so that all meet the same machine.  Medians of the rounds.
Beside the clock the processors' time, of all processes that took part, where cgroup v2 tells it: on a machine
that does other things meanwhile it is the figure to trust.

usage: rate.py WS STATE BIN RATE RUNS ROUNDS LANES...     RATE: the program of rate.c; STATE "": an ordinary user's
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

from peer import Peer

WS, STATE, BIN, RATE = sys.argv[1:5]
RUNS, ROUNDS = int(sys.argv[5]), int(sys.argv[6])
LANES = [int(word) for word in sys.argv[7:]]
OURS = [os.path.join(BIN, "agent-safe"), "--workspace", WS] + (["--state", STATE] if STATE else [])
BWRAP = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--die-with-parent",
         "--new-session", "/bin/true"]
FIREJAIL = ["--quiet", "--noprofile", "--net=none", "--private", "--private-tmp", "--caps.drop=all", "--seccomp", "/bin/true"]
FIREJAIL_RUNS = 20  # it takes tens of milliseconds
SYNCS = 200


def cgroup_of(pid):
    """The folder of its cgroup v2, or None."""
    tops = [line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"]
    for line in open("/proc/%s/cgroup" % pid):
        if line.startswith("0::") and tops:
            return tops[0] + line[3:].strip()


class Processors:
    """The time of what runs in two cgroups: ours, which the tools are started in, and the trio's with its jobs."""

    def __init__(self, broker):
        self.own = self.trio = None
        top, daemons = cgroup_of("self"), cgroup_of(broker)
        if top and daemons and os.path.basename(daemons) == "daemons":
            try:
                self.own = os.path.join(top, "agent-safe-bench-%d" % os.getpid())
                os.mkdir(self.own)
                self.trio = os.path.dirname(daemons)
            except OSError:
                self.own = None

    def enter(self):
        if self.own:
            with open(self.own + "/cgroup.procs", "w") as file:
                file.write("0")

    def milliseconds(self):
        total = 0
        for folder in (self.own, self.trio):
            if folder:
                with open(folder + "/cpu.stat") as file:
                    total += int(file.readline().split()[1]) / 1000
        return total

    def close(self):
        if self.own:
            os.rmdir(self.own)


processors = None


def seconds(lanes, runs, *command):
    out = subprocess.run([RATE, str(lanes), str(runs), "--", *command], check=True, stdout=subprocess.PIPE,
                         preexec_fn=processors.enter)
    return float(out.stdout)


def sync_ms():
    """One record's append and fdatasync, beside the queue."""
    times = []
    with tempfile.TemporaryFile(dir=os.path.dirname(WS)) as file:
        for _ in range(SYNCS):
            begun = time.perf_counter()
            os.write(file.fileno(), b"x" * 400)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


class Bench:
    def __init__(self):
        status = json.loads(subprocess.run([*OURS, "--json", "status"], check=True, stdout=subprocess.PIPE).stdout)
        self.peer = Peer(os.path.dirname(status["control_socket"]))
        global processors
        processors = Processors(status["pids"]["broker"])

    def fill(self):
        ids = [self.peer.submit(os.path.join(WS, "proj")) for _ in range(RUNS)]
        for id in ids:
            self.peer.call("job.approve", {"job_id": id, "by": "bench"})
        return ids

    # Each returns seconds and milliseconds of processors per run.

    def timed(self, lanes, runs, spawns, *command):
        begun = processors.milliseconds()
        taken = seconds(lanes, spawns, *command)
        return taken / runs, (processors.milliseconds() - begun) / runs

    def bwrap(self, lanes):
        return self.timed(lanes, RUNS, RUNS, shutil.which("bwrap"), *BWRAP)

    def work(self, lanes):
        """So many connections, each takes one job after another."""
        self.fill()
        return self.timed(lanes, RUNS, lanes, *OURS, "work", "--drain", "--execute")

    def run(self, lanes):
        """One process of the command line for each job."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("\n".join(self.fill()) + "\n")
            file.flush()
            return self.timed(lanes, RUNS, RUNS, *OURS, "run", "{%s}" % file.name, "--execute")

    def spooler(self, lanes):
        """Put them into its queue, wait for the last; it confines nothing and records nothing."""
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(TS_SOCKET=os.path.join(folder, "s"), TMPDIR=folder, TS_SLOTS=str(lanes), TS_MAXFINISHED="10")
            begun, used = time.perf_counter(), processors.milliseconds()
            seconds(1, RUNS, shutil.which("tsp"), "-n", "true")
            subprocess.run(["tsp", "-w"], check=True, stdout=subprocess.DEVNULL)
            while "running" in (listing := subprocess.run(["tsp"], check=True, stdout=subprocess.PIPE).stdout.decode()) \
                    or "queued" in listing:
                time.sleep(0.001)
            taken, used = time.perf_counter() - begun, processors.milliseconds() - used
            subprocess.run(["tsp", "-K"], check=True)
            del os.environ["TMPDIR"]
        return taken / RUNS, used / RUNS

    def firejail(self, lanes):
        return self.timed(min(lanes, FIREJAIL_RUNS), FIREJAIL_RUNS, FIREJAIL_RUNS, shutil.which("firejail"), *FIREJAIL)


def report(lanes, medians):
    base = list(medians.values())[0]
    for name, (taken, used) in medians.items():
        print("%3d at a time  %-34s %7.1f runs/s %6.2f ms/run %5.2f of bwrap's rate" % (
            lanes, name, 1 / taken, taken * 1000, base[0] / taken), end="")
        print("   %6.2f ms of CPU, %5.2f" % (used, base[1] / used) if used else "", flush=True)


def main():
    bench = Bench()
    tools = [("bwrap, same namespaces", bench.bwrap), ("agent-safe work --drain", bench.work),
             ("agent-safe run ID, a process each", bench.run)]
    for name, program, measure in (("task-spooler", "tsp", bench.spooler), ("firejail", "firejail", bench.firejail)):
        if shutil.which(program):
            tools.append((name, measure))
        else:
            print("%s is not installed: left out" % name)
    print("one append of 400 bytes with its fdatasync, beside the queue: %.3f ms" % sync_ms())
    for lanes in LANES:
        figures = {name: [] for name, _ in tools}
        for _ in range(ROUNDS):
            for name, measure in tools:
                figures[name].append(measure(lanes))
        report(lanes, {name: [statistics.median(column) for column in zip(*rows)] for name, rows in figures.items()})
    processors.close()


main()
