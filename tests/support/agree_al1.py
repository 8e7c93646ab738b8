#!/usr/bin/python3
"""Both verifiers on the vectors and on what can be done to them: they must agree on every exit code.

usage: agree_al1.py PATH-OF-agent-safe-audit-verify VECTORS-FOLDER [STEP]
STEP: try every STEP-th byte and cut (default 13).  Exit 0 when they agree, 1 otherwise.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import verify_al1

NAMES = [0, 10]
failures = []
tried = 0


def ours(binary, folder, trust, segments):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    for name, raw in zip(NAMES, segments):
        with open(os.path.join(folder, "seg-%020d.jsonl" % name), "wb") as file:
            file.write(raw)
    return subprocess.run([binary, "--trust", trust, folder], stdout=subprocess.DEVNULL).returncode


def compare(context, what, segments):
    global tried
    binary, folder, trust, origin, key = context
    first = ours(binary, folder, trust, segments)
    second, why = verify_al1.verify(segments, NAMES, origin, key)
    tried += 1
    if first != second:
        failures.append("%s: agent-safe-audit-verify says %d, the second verifier %d (%s)" % (what, first, second, why))
    return first


def flips_and_cuts(context, segments, step):
    whole = b"".join(segments)
    border = len(segments[0])
    for at in range(0, len(whole), step):
        changed = whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:]
        compare(context, "byte %d" % at, [changed[:border], changed[border:]])
        compare(context, "cut %d" % at, [s for s in (whole[:min(at, border)], whole[border:max(at, border)]) if s])


def line_edits(context, segments):
    lines = [s.splitlines(keepends=True) for s in segments]
    border, flat = len(lines[0]), lines[0] + lines[1]
    for i in range(len(flat)):
        gone, twice = flat[:i] + flat[i + 1:], flat[:i + 1] + flat[i:]
        split = border - (i < border)
        compare(context, "without line %d" % i, [b"".join(gone[:split]), b"".join(gone[split:])])
        split = border + (i < border)
        compare(context, "line %d twice" % i, [b"".join(twice[:split]), b"".join(twice[split:])])
        swapped = flat[:]
        swapped[i], swapped[i - 1] = swapped[i - 1], swapped[i]
        compare(context, "line %d swapped" % i, [b"".join(swapped[:border]), b"".join(swapped[border:])])


def bodies(seed, count):
    """Objects near the edge of strict JSON: pieces put together at random, and mutations of good ones."""
    dice = random.Random(seed)
    pieces = ['{', '}', '[', ']', ':', ',', '"a"', '"b"', '""', '"\\u0000"', '"\\ud800"', '"\\u00E9"', '"\\n"', '"\\/"',
              '0', '-0', '1', '01', '-1', '9007199254740991', '9007199254740992', '1.0', '1e1', 'true', 'null', ' ', '\t',
              '"\x7f"', '"é"', '"a":1', '"a":{}', '"b":[]', '"c":"x"']
    good = ['{"a":1,"b":[true,null,{"c":"x"}],"d":"\\u0007é"}', '{"a":{"a":{"a":[]}},"b":-5}', '{}']
    for _ in range(count):
        if dice.random() < 0.5:
            yield ('{' + "".join(dice.choice(pieces) for _ in range(dice.randrange(1, 7))) + '}').encode()
        else:
            raw = bytearray(dice.choice(good).encode())
            raw[dice.randrange(len(raw))] = dice.randrange(256)
            yield bytes(raw)
    for depth in range(13, 19):
        yield b'{"a":' + b"[" * depth + b"]" * depth + b"}"


def strict_bodies(context, segments, count):
    """A log with one unsealed line: incomplete when its body is accepted, tampered when it is not."""
    begin = b"".join(segments[0].splitlines(keepends=True)[:2])
    head = verify_al1.sha(begin.splitlines(keepends=True)[1]).hex().encode()
    accepted = 0
    for body in bodies(20260921, count):
        line = (b'{"v":1,"seq":2,"prev":"%s","t":"2026-09-21T14:13:20.000000Z","src":"broker","sn":0,'
                b'"type":"job.proposed","d":%s}\n' % (head, body))
        if compare(context, "body %r" % body, [begin + line]) == 6:
            accepted += 1
            try:
                json.loads(body.decode())
            except ValueError:
                failures.append("accepted, but json.loads() refuses it: %r" % body)
    if accepted < 10:
        failures.append("only %d bodies were accepted: the corpus tests nothing" % accepted)


def main():
    binary, vectors = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 13
    segments = [open(os.path.join(vectors, "seg-%020d.jsonl" % name), "rb").read() for name in NAMES]
    trust = os.path.join(vectors, "trust")
    origin, key = open(trust, "rb").read().split()
    with tempfile.TemporaryDirectory() as folder:
        context = (binary, folder, trust, origin, verify_al1.unbase64(key, 32))
        if compare(context, "the vectors", segments) != 0:
            failures.append("the vectors do not verify")
        flips_and_cuts(context, segments, step)
        line_edits(context, segments)
        strict_bodies(context, segments, 1500)
    for failure in failures[:20]:
        print(failure)
    print("%d logs, %d disagreements" % (tried, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
