#!/usr/bin/python3
"""A second verifier of AL1 logs, written from the format alone; standard library only.

usage: verify_al1.py [--origin TEXT --key BASE64] [--operator BASE64] [--anchors FILE] SEGMENT...
Segments in order, plain or compressed (that takes the program zstd).  Exit: 0 whole, 4 tampered, 6 incomplete; one line on standard output says why.
It shares no code with agent-safe-audit-verify and is there to disagree with it.
"""
import base64
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

LINE = re.compile(
    rb'\{"v":1,"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",'
    rb'"t":"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z)",'
    rb'"src":"(auditor|broker|executor)","sn":(0|[1-9][0-9]{0,17}),"type":"([a-z0-9._]{1,48})","d":(\{.*\})\}\n', re.S)
SEAL = re.compile(rb'\{"n":(0|[1-9][0-9]{0,17}),"size":(0|[1-9][0-9]{0,17}),"root":"([^"]{44})","next":"([^"]{44})",'
                  rb'"sig":"([^"]{88})"\}')
GENESIS = re.compile(rb'\{"origin":"([^"\\]{1,511})","key":"([^"]{44})"\}')
REKEY = re.compile(rb'\{"size":(0|[1-9][0-9]{0,17}),"head":"([0-9a-f]{64})","key":"([^"]{44})",'
                   rb'"reason":"([ !#-\[\]-~]{1,200})","sig":"([^"]{88})"\}')
PRUNE = re.compile(rb'\{"from":(0|[1-9][0-9]{0,17}),"to":(0|[1-9][0-9]{0,17}),"head_hash":"([0-9a-f]{64})",'
                   rb'"root":"([^"]{44})","seals":(0|[1-9][0-9]{0,17}),"sn":\[(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17}),'
                   rb'(0|[1-9][0-9]{0,17})\],"segments":(0|[1-9][0-9]{0,17})\}')
ANCHOR = re.compile(rb'\{"anchor":1,"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})","sn":\[(0|[1-9][0-9]{0,17}),'
                    rb'(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17})\],"unsealed":(0|[1-9][0-9]{0,17}),'
                    rb'"peaks":\[((?:"[^"]{44}"(?:,(?=")|(?=\])))*)\]\}\n')
JOINT = re.compile(rb'\{"after":"seg-[0-9]{20}\.jsonl","torn":(?:0,"torn_sha256":""|[1-9][0-9]{0,17},"torn_sha256":"[0-9a-f]{64}")\}')
SOURCES = (b"auditor", b"broker", b"executor")
LOG_TYPES = {b"log." + t for t in (b"genesis", b"seal", b"segment", b"recover", b"challenge", b"cosign", b"refused",
                                   b"prune", b"rekey", b"space")}


class Bad(Exception):
    pass


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def unbase64(text, length):
    raw = base64.b64decode(text, validate=True)
    if len(raw) != length or base64.b64encode(raw) != text:
        raise Bad("base64")
    return raw


# --- strict JSON: one regular expression for each token, by hand for the rest

TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\bfnrt]|\\u(?!d[89a-f])[0-9a-f]{4})*"|-?(?:0|[1-9][0-9]*)|true|false|null|[\[\]{},:]')
KEY = re.compile(r'"[^"\\]*"\Z')


def strict(raw):
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Bad("not UTF-8")
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Bad("token")
        tokens.append(match.group())
        at = match.end()
    end = value(tokens, 0, 0)
    if tokens[:1] != ["{"] or end != len(tokens):
        raise Bad("not one object")


def value(tokens, at, depth):
    if at >= len(tokens):
        raise Bad("value expected")
    token = tokens[at]
    if token in "{[":
        if depth == 16:
            raise Bad("too deep")
        return container(tokens, at, depth + 1)
    if token in "}],:":
        raise Bad("value expected")
    if token[0] in "-0123456789" and (token == "-0" or abs(int(token)) > 2**53 - 1):
        raise Bad("number")
    return at + 1


def container(tokens, at, depth):
    is_object, keys = tokens[at] == "{", set()
    closing = "}" if is_object else "]"
    at += 1
    if tokens[at:at + 1] == [closing]:
        return at + 1
    while True:
        if is_object:
            key = tokens[at] if at < len(tokens) else ""
            if not KEY.match(key) or key in keys or tokens[at + 1:at + 2] != [":"]:
                raise Bad("key")
            keys.add(key)
            at += 2
        at = value(tokens, at, depth)
        if tokens[at:at + 1] == [closing]:
            return at + 1
        if tokens[at:at + 1] != [","]:
            raise Bad("comma expected")
        at += 1


# --- Ed25519, RFC 8032, only to verify

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * I % P
    if (x * x - x2) % P or (x == 0 and sign):
        raise Bad("point")
    return P - x if x & 1 != sign else x


def point(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        raise Bad("point")
    x = recover_x(y, sign)
    return (x, y, 1, x * y % P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(s, p):
    q = (0, 1, 1, 0)
    while s:
        if s & 1:
            q = add(q, p)
        p, s = add(p, p), s >> 1
    return q


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


@functools.lru_cache(None)
def signed(key, text, signature):
    r, s = point(signature[:32]), int.from_bytes(signature[32:], "little")
    if s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % L
    left, right = times(s, BASE), add(r, times(h, point(key)))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


# --- the chain

class Chain:
    def __init__(self, origin, key, operator=None):
        self.origin, self.key, self.trusted, self.operator = origin, key, key is not None, operator
        self.seq, self.head, self.peaks = 0, bytes(32), []  # peaks: (level, hash), largest first
        self.sn = {source: 0 for source in SOURCES}
        self.seals, self.unsealed, self.told, self.joint = 0, 0, 0, None
        self.begin, self.begin_head = 0, None  # where the segment in hand begins, and the hash before that
        self.unproven, self.cut, self.cut_told = False, None, False
        self.approved, self.runs, self.outputs = set(), {}, {}

    def root(self):
        if not self.peaks:
            return sha()
        root = self.peaks[-1][1]
        for _, peak in reversed(self.peaks[:-1]):
            root = sha(b"\x01", peak, root)
        return root

    def grow(self, line):
        level, node = 0, sha(b"\x00", line)
        while self.peaks and self.peaks[-1][0] == level:
            node, level = sha(b"\x01", self.peaks.pop()[1], node), level + 1
        self.peaks.append((level, node))

    def join(self, joint):
        self.joint, self.begin, self.begin_head = joint, self.seq, self.head

    @staticmethod
    def form(line):
        match = LINE.fullmatch(line)
        if not match or len(line) > 65536:
            raise Bad("form")
        kind, src = match.group(6), match.group(4)
        if (kind in LOG_TYPES) != (src == b"auditor") or (kind.startswith(b"log.") and kind not in LOG_TYPES):
            raise Bad("type")
        strict(match.group(7))
        return match.groups()

    def take(self, line):
        seq, prev, t, src, sn, kind, d = self.form(line)
        if int(seq) != self.seq or prev.decode() != self.head.hex() or int(sn) != self.sn[src]:
            raise Bad("seq, prev or sn")
        if (self.seq == 0) != (kind == b"log.genesis") or (self.seq == 1 and kind != b"log.seal"):
            raise Bad("begin of the log")
        if (kind == b"log.segment") != (self.joint is not None):
            raise Bad("place")
        if kind == b"log.seal":
            self.seal(d, seq, prev, t, self.root())
        elif self.unsealed == 256:
            raise Bad("unsealed")
        if kind == b"log.segment" and (d != self.joint if self.joint else not JOINT.fullmatch(d)):
            raise Bad("joint")
        if kind == b"log.rekey":
            if self.seq != self.begin + 1 or self.begin == 0:
                raise Bad("rekey: place")
            self.rekey(d, self.begin_head)
        if kind == b"log.prune":
            self.prune(d)
        if kind == b"log.genesis":
            self.genesis(d)
        self.unsealed = 0 if kind == b"log.seal" else self.unsealed + 1
        self.told += src != b"auditor"
        self.joint, self.seq, self.head = None, self.seq + 1, sha(line)
        self.sn[src] += 1
        self.grow(line)
        self.follow(src, kind, d)

    def genesis(self, d):
        match = GENESIS.fullmatch(d)
        if not match or (self.trusted and (match.group(1) != self.origin or unbase64(match.group(2), 32) != self.key)):
            raise Bad("genesis")
        self.origin, self.key = match.group(1), unbase64(match.group(2), 32)

    def seal(self, d, seq, prev, t, own_root):
        match = SEAL.fullmatch(d)
        if not match:
            raise Bad("seal: form")
        n, size, root, following, signature = match.groups()
        if int(n) != self.seals or size != seq or (own_root and unbase64(root, 32) != own_root):
            raise Bad("seal: number, size or root")
        text = b"%s\n%s\n%s\nseal %s %s %s %s\n" % (self.origin, size, root, n, prev, following, t)
        unbase64(root, 32)
        if not signed(self.key, text, unbase64(signature, 64)):
            raise Bad("seal: signature")
        self.key, self.seals = unbase64(following, 32), self.seals + 1

    def rekey(self, d, head):
        match = REKEY.fullmatch(d)
        if not match:
            raise Bad("rekey: form")
        size, signed_head, key, reason, signature = match.groups()
        if int(size) + 1 != self.seq or (head is not None and signed_head.decode() != head.hex()):
            raise Bad("rekey: size or head")
        text = b"agent-safe-audit-rekey/1\n%s\n%s\n%s\n%s\n%s\n" % (self.origin, size, signed_head, key, reason)
        signature, key = unbase64(signature, 64), unbase64(key, 32)
        if self.operator is None:
            self.unproven = True
        elif not signed(self.operator, text, signature):
            raise Bad("rekey: signature")
        self.key = key

    def prune(self, d):
        match = PRUNE.fullmatch(d)
        if not match or not int(match.group(1)) <= int(match.group(2)) < self.seq or int(match.group(9)) == 0:
            raise Bad("prune: form")
        seq = int(match.group(2)) + 1
        if self.cut and seq == self.cut[0]:
            told = (seq, match.group(3).decode(), unbase64(match.group(4), 32), int(match.group(5)),
                    tuple(int(n) for n in match.groups()[5:8]))
            if told != self.cut:
                raise Bad("prune: differs from the anchors")
            self.cut_told = True

    def follow(self, src, kind, d):
        """What the records of a run say of each other."""
        if kind == b"job.approved" and src == b"broker":
            self.approved.add(text_of(d, "job"))
        elif kind == b"job.dispatch" and src == b"broker":
            run = (text_of(d, "job"), number_of(d, "attempt"))
            if None not in run and text_of(d, "spec_sha256") is not None and not self.runs.get(run, "").startswith("used"):
                self.runs[run] = text_of(d, "spec_sha256")
                self.outputs.pop(run, None)
        elif kind == b"exec.intent" and src == b"executor":
            run, digest = (text_of(d, "job"), number_of(d, "attempt")), text_of(d, "spec_sha256")
            if None in run or digest is None or self.runs.get(run) != digest or run[0] not in self.approved:
                raise Bad("intent without dispatch or approval")
            self.runs[run] = "used"
        elif kind in (b"exec.output", b"exec.exit") and src == b"executor":
            self.follow_end(kind, d)

    def follow_end(self, kind, d):
        """An older log has no exec.output; where there is one, the exec.exit says the same of the streams."""
        run = (text_of(d, "job"), number_of(d, "attempt"))
        told = tuple(text_of(d, stream + digest) for stream in ("stdout", "stderr")
                     for digest in ("_sha256", "_stored_sha256"))
        if None in run or run not in self.runs:
            return
        if kind == b"exec.exit" and self.outputs.get(run, told) != told:
            raise Bad("exit and output differ")
        if kind == b"exec.output":
            if None in told:
                raise Bad("output without digests")
            self.outputs[run] = told

    # --- a log whose beginning was removed

    def take_anchor(self, line):
        if self.cut:
            raise Bad("anchors: a line behind the anchor")
        match = ANCHOR.fullmatch(line)
        if match:
            self.begin_at(match)
            return
        seq, prev, t, src, sn, kind, d = self.form(line)
        if int(seq) < self.seq or int(sn) < self.sn[b"auditor"]:
            raise Bad("anchors: backwards")
        if int(seq) == self.seq and prev.decode() != self.head.hex():
            raise Bad("anchors: prev")
        if (kind == b"log.genesis") != (self.seq == 0) or (self.seq == 0 and int(seq) != 0):
            raise Bad("anchors: genesis")
        self.seq = int(seq)
        if kind == b"log.genesis":
            self.genesis(d)
        elif kind == b"log.seal":
            self.seal(d, seq, prev, t, None)
        elif kind == b"log.rekey":
            self.rekey(d, None)
        else:
            raise Bad("anchors: type")
        self.seq, self.head = self.seq + 1, sha(line)
        self.sn[b"auditor"] = int(sn) + 1

    def begin_at(self, match):
        seq, prev, unsealed = int(match.group(1)), match.group(2), int(match.group(6))
        sn = tuple(int(n) for n in match.groups()[2:5])
        peaks = [unbase64(text, 32) for text in re.findall(rb'"([^"]{44})"', match.group(7))]
        levels = [level for level in range(63, -1, -1) if seq >> level & 1]
        if self.seals == 0 or seq == 0 or seq < self.seq or sn[0] < self.sn[b"auditor"] or unsealed >= 256 or len(peaks) != len(levels):
            raise Bad("anchors: the anchor")
        self.peaks, self.seq, self.head, self.unsealed = list(zip(levels, peaks)), seq, bytes.fromhex(prev.decode()), unsealed
        self.sn = dict(zip(SOURCES, sn))
        self.cut = (seq, prev.decode(), self.root(), self.seals, sn)
        self.join(b"")


def text_of(d, key):
    """A string member of the top level without an escape; keys have none, and the bytes are strict JSON."""
    value_of = members(d).get(key)
    return value_of if isinstance(value_of, str) and ("\\" not in value_of) else None


def number_of(d, key):
    value_of = members(d).get(key)
    return value_of if type(value_of) is int and value_of >= 0 else None


def members(d):
    return json.loads(d.decode())


# --- compressed segments (RFC 8878): the frame's limits are looked at here, the content is zstd's work

MAGIC = b"\x28\xb5\x2f\xfd"


def unpack(raw):
    if not raw.startswith(MAGIC):
        return raw
    if len(raw) < 6:
        raise Bad("frame: cut off")
    descriptor = raw[4]
    single, code = descriptor >> 5 & 1, descriptor >> 6
    size_bytes = (single, 2, 4, 8)[code]
    at = 5
    if descriptor & 0x0b or size_bytes == 0:
        raise Bad("frame: dictionary, reserved bit or no size")
    window = 0
    if not single:
        window = (1 << 10 + (raw[at] >> 3)) * (8 + (raw[at] & 7)) // 8
        at += 1
    size = int.from_bytes(raw[at:at + size_bytes], "little") + (256 if size_bytes == 2 else 0)
    at += size_bytes
    if size > 128 << 20 or (size if single else window) > 8 << 20:
        raise Bad("frame: too large")
    last = False
    while not last:
        header = int.from_bytes(raw[at:at + 3], "little")
        if len(raw) < at + 3:
            raise Bad("frame: cut off")
        last, kind = header & 1, header >> 1 & 3
        at += 3 + (1 if kind == 1 else header >> 3)
    at += 4 * (descriptor >> 2 & 1)
    if at != len(raw):
        raise Bad("frame: cut off, or bytes behind it")
    done = subprocess.run(["zstd", "-dcq", "--no-sparse"], input=raw, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0 or len(done.stdout) != size:
        raise Bad("frame: damaged")
    return done.stdout


def read_segment(chain, raw):
    """The bytes behind the last good line, and why that line's follower is none."""
    at = 0
    while at < len(raw):
        end = raw.find(b"\n", at) + 1
        try:
            if end == 0:
                raise Bad("incomplete line")
            chain.take(raw[at:end])
        except (Bad, ValueError) as why:
            return raw[at:], str(why), at
        at = end
    return b"", None, at


def read_anchors(chain, raw):
    lines = raw.split(b"\n")
    for line in lines[:-1]:
        chain.take_anchor(line + b"\n")
    if lines[-1] or not chain.cut:
        raise Bad("anchors: not complete")


def verify(segments, names, origin, key, operator=None, anchors=None):
    chain = Chain(origin, key, operator)
    torn, why, before, number = b"", None, None, 0
    try:
        if anchors is not None:
            read_anchors(chain, anchors)
    except (Bad, ValueError) as reason:
        return 4, str(reason)
    for number, raw in enumerate(segments):
        if chain.cut and before is None and names[number] is not None and names[number] < chain.cut[0]:
            continue
        if names[number] is not None and names[number] != chain.seq:
            return 4, why or "name"
        first, had = chain.seq, why
        if before is not None:
            chain.join(b'{"after":"seg-%020d.jsonl","torn":%d,"torn_sha256":"%s"}' % (
                before, len(torn), sha(torn).hex().encode() if torn else b""))
        try:
            torn, why, good = read_segment(chain, unpack(raw))
        except Bad as reason:
            return 4, had or str(reason)
        if had and good == 0:
            return 4, had
        before = first
    if why and b"\n" in torn:
        return 4, why
    if chain.seals == 0:
        return 4, "no seal"
    if chain.cut and not chain.cut_told:
        return 4, "no log.prune tells of the cut"
    if torn or chain.joint is not None or chain.unsealed or chain.told == 0 or chain.unproven:
        return 6, "not complete, or a log.rekey that nobody can check"
    return 0, "%d lines" % chain.seq


def main():
    arguments, given = sys.argv[1:], {}
    while arguments and arguments[0].startswith("--"):
        given[arguments[0]], arguments = arguments[1], arguments[2:]
    keys = {name: base64.b64decode(given[name]) if name in given else None for name in ("--key", "--operator")}
    anchors = open(given["--anchors"], "rb").read() if "--anchors" in given else None
    segments = [open(path, "rb").read() for path in arguments]
    names = []
    for path in arguments:
        match = re.fullmatch(r"seg-([0-9]{20})\.jsonl(\.zst)?", os.path.basename(path))
        names.append(int(match.group(1)) if match else None)
    origin = given["--origin"].encode() if "--origin" in given else None
    code, why = verify(segments, names, origin, keys["--key"], keys["--operator"], anchors)
    print({0: "ok", 4: "tampered", 6: "incomplete"}[code] + ": " + why)
    return code


if __name__ == "__main__":
    sys.exit(main())
