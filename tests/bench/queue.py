#!/usr/bin/env python3
"""What a queue of many jobs costs: submit, newest page, claim, cancel at two sizes, measured through the socket.
The queue is filled below it: rows in the database while the trio is stopped.

usage: queue.py WS STATE BIN SMALL LARGE
"""
import json, os, sqlite3, statistics, subprocess, sys, time

from peer import Peer

WS, STATE, BIN = sys.argv[1:4]
PROJ = os.path.join(WS, "proj")
ROUNDS = 60
PER_UID = 900  # unfinished jobs of one submitter are bounded


def command(*words):
    return subprocess.run([os.path.join(BIN, "agent-safe"), "--workspace", WS, "--state", STATE, "--json", *words],
                          check=True, stdout=subprocess.PIPE).stdout


def fill(count):
    """Copies of one approved and one pending job, until there are so many."""
    pids = json.loads(command("status"))["pids"]
    command("serve", "--stop")
    while any(os.path.exists("/proc/%d" % pid) for pid in pids.values()):
        time.sleep(0.05)
    path = os.path.join(STATE, "broker/queue.db")
    db = sqlite3.connect(path)
    columns = [row[1] for row in db.execute("PRAGMA table_info(jobs)") if row[1] not in ("seq", "id", "key", "submitter_uid")]
    names = ", ".join(columns)
    there = db.execute("SELECT count(*) FROM jobs").fetchone()[0]
    db.execute("CREATE TEMP TABLE model AS SELECT * FROM jobs WHERE status = 1 ORDER BY seq LIMIT 2")
    db.execute("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
               "INSERT INTO jobs (id, key, submitter_uid, %s) SELECT randomblob(16), hex(randomblob(16)), "
               "300000 + i / %d, %s FROM n JOIN (SELECT *, row_number() OVER () - 1 AS place FROM model) "
               "ON place = i %% 2" % (there, count - 1, names, PER_UID, names))
    db.commit()
    db.close()
    owner = os.stat(os.path.join(STATE, "broker"))
    for name in os.listdir(os.path.join(STATE, "broker")):
        os.chown(os.path.join(STATE, "broker", name), owner.st_uid, owner.st_gid)
    started = time.monotonic()
    command("status")
    return time.monotonic() - started


def measure():
    peer, times = Peer(STATE), {"submit": [], "newest page": [], "claim and run": [], "cancel": []}

    def timed(name, call):
        started = time.perf_counter()
        result = call()
        times[name].append(time.perf_counter() - started)
        return result

    for _ in range(ROUNDS):
        id = timed("submit", lambda: peer.submit(PROJ, priority=1000))
        timed("newest page", lambda: peer.call("job.list", {"newest": True, "limit": 50}))
        peer.call("job.approve", {"job_id": id, "by": "bench"})
        timed("claim and run", lambda: peer.call("job.work", {"execute": True}))
        id = peer.submit(PROJ)
        timed("cancel", lambda: peer.call("job.cancel", {"job_id": id}))
    return {name: statistics.median(values) * 1000 for name, values in times.items()}


def main():
    small, large = int(sys.argv[4]), int(sys.argv[5])
    command("status")
    peer = Peer(STATE)
    peer.call("job.approve", {"job_id": peer.submit(PROJ, priority=-1000), "by": "bench"})
    peer.submit(PROJ, priority=-1000)
    results = {}
    for size in (small, large):
        started = fill(size)
        results[size] = measure()
        print("%9d jobs: start %4.0f ms, %s" % (size, started * 1000, ", ".join(
            "%s %.2f ms" % item for item in results[size].items())), flush=True)
    worst = 0
    for name in results[small]:
        ratio = results[large][name] / results[small][name]
        worst = max(worst, ratio)
        print("%-14s %.2f times" % (name, ratio))
    print("%s: every cost within 1.5 times" % ("yes" if worst <= 1.5 else "NO"))
    sys.exit(worst > 1.5)


main()
