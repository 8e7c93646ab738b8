#!/usr/bin/env python3
"""Approved jobs per second, end to end, beside tools that start the same program: each round is the same
number of runs of each, one tool after the other, so that all meet the same machine.  Medians of the rounds.

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


def seconds(lanes, runs, *command):
    out = subprocess.run([RATE, str(lanes), str(runs), "--", *command], check=True, stdout=subprocess.PIPE)
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

    def fill(self):
        ids = [self.peer.submit(os.path.join(WS, "proj")) for _ in range(RUNS)]
        for id in ids:
            self.peer.call("job.approve", {"job_id": id, "by": "bench"})
        return ids

    # Each returns runs per second.

    def bwrap(self, lanes):
        return RUNS / seconds(lanes, RUNS, shutil.which("bwrap"), *BWRAP)

    def work(self, lanes):
        """So many connections, each takes one job after another."""
        self.fill()
        return RUNS / seconds(lanes, lanes, *OURS, "work", "--drain", "--execute")

    def run(self, lanes):
        """One process of the command line for each job."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("\n".join(self.fill()) + "\n")
            file.flush()
            return RUNS / seconds(lanes, RUNS, *OURS, "run", "{%s}" % file.name, "--execute")

    def spooler(self, lanes):
        """Put them into its queue, wait for the last; it confines nothing and records nothing."""
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(TS_SOCKET=os.path.join(folder, "s"), TMPDIR=folder, TS_SLOTS=str(lanes), TS_MAXFINISHED="10")
            begun = time.perf_counter()
            seconds(1, RUNS, shutil.which("tsp"), "-n", "true")
            subprocess.run(["tsp", "-w"], check=True, stdout=subprocess.DEVNULL)
            while "running" in (listing := subprocess.run(["tsp"], check=True, stdout=subprocess.PIPE).stdout.decode()) \
                    or "queued" in listing:
                time.sleep(0.001)
            rate = RUNS / (time.perf_counter() - begun)
            subprocess.run(["tsp", "-K"], check=True)
            del os.environ["TMPDIR"]
        return rate

    def firejail(self, lanes):
        return FIREJAIL_RUNS / seconds(min(lanes, FIREJAIL_RUNS), FIREJAIL_RUNS, shutil.which("firejail"), *FIREJAIL)


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
        rates = {name: [] for name, _ in tools}
        for _ in range(ROUNDS):
            for name, measure in tools:
                rates[name].append(measure(lanes))
        base = statistics.median(rates[tools[0][0]])
        for name, _ in tools:
            rate = statistics.median(rates[name])
            print("%3d at a time  %-36s %8.1f runs/s %7.2f ms/run %6.2f of bwrap's rate"
                  % (lanes, name, rate, 1000 / rate, rate / base), flush=True)


main()
