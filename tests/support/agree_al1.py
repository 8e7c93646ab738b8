#!/usr/bin/python3
"""Both verifiers on the vectors and on what can be done to them: they must agree on every exit code.

usage: agree_al1.py PATH-OF-agent-safe-audit-verify VECTORS-FOLDER [STEP [DUMPS-FOLDER]]
STEP: try every STEP-th byte and cut (default 13).  DUMPS-FOLDER: logs that unit tests have judged (AL1_DUMP).  Exit 0 when they agree, 1 otherwise.
"""
import json
import os
import random
import shutil
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
        suffix = ".zst" if raw.startswith(verify_al1.MAGIC) else ""
        with open(os.path.join(folder, "seg-%020d.jsonl%s" % (name, suffix)), "wb") as file:
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


def compressed(context, segments, step):
    """The first segment as a Zstandard file, and what can be done to that."""
    packed = subprocess.run(["zstd", "-19qc"], input=segments[0], stdout=subprocess.PIPE, check=True).stdout
    sized = subprocess.run(["zstd", "-19qc", "--stream-size=%d" % len(segments[0])], input=segments[0],
                           stdout=subprocess.PIPE, check=True).stdout
    if compare(context, "compressed", [sized, segments[1]]) != 0:
        failures.append("the compressed vectors do not verify")
    if compare(context, "compressed without its size", [packed, segments[1]]) != 4:
        failures.append("a frame without its size is accepted")
    for at in range(4, len(sized), step):
        compare(context, "compressed: byte %d" % at, [sized[:at] + bytes([sized[at] ^ 1 << at % 8]) + sized[at + 1:], segments[1]])
        compare(context, "compressed: cut %d" % at, [sized[:at], segments[1]])
    for more in (b"\n", sized, bytes(3)):
        compare(context, "compressed: %d bytes more" % len(more), [sized + more, segments[1]])


def dumped(folder):
    """What the unit tests have built by hand, and what our verifier's code has said of it."""
    global tried
    for name in sorted(os.listdir(folder)):
        at = os.path.join(folder, name)
        code, origin, key, operator, why = open(os.path.join(at, "expect")).read().split("\n")[:5]
        files = sorted(file for file in os.listdir(at) if file not in ("expect", "anchors"))
        seqs = [int(file.split("-")[1]) for file in files]
        segments = [open(os.path.join(at, file), "rb").read() for file in files]
        anchors = os.path.join(at, "anchors")
        said, reason = verify_al1.verify(
            segments, [None if seq == 2**64 - 1 else seq for seq in seqs], None if origin == "-" else origin.encode(),
            None if key == "-" else bytes.fromhex(key), None if operator == "-" else bytes.fromhex(operator),
            open(anchors, "rb").read() if os.path.exists(anchors) else None)
        tried += 1
        if said != int(code):
            failures.append("%s: agent-safe-audit-verify says %s (%s), the second verifier %d (%s)" % (
                at, code, why, said, reason))


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
        if shutil.which("zstd"):
            compressed(context, segments, max(1, step // 4))
        else:
            print("not compared: compressed segments, the program zstd is not here")
    if len(sys.argv) > 4:
        dumped(sys.argv[4])
    for failure in failures[:20]:
        print(failure)
    print("%d logs, %d disagreements" % (tried, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
