#!/usr/bin/python3
"""A second verifier of AL1 logs, written from the format alone; standard library only.

usage: verify_al1.py [--origin TEXT --key BASE64] SEGMENT...
Segments in order.  Exit: 0 whole, 4 tampered, 6 incomplete; one line on standard output says why.
It shares no code with agent-safe-audit-verify and is there to disagree with it.
"""
import base64
import functools
import hashlib
import os
import re
import sys

LINE = re.compile(
    rb'\{"v":1,"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",'
    rb'"t":"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z)",'
    rb'"src":"(auditor|broker|executor)","sn":(0|[1-9][0-9]{0,17}),"type":"([a-z0-9._]{1,48})","d":(\{.*\})\}\n', re.S)
SEAL = re.compile(rb'\{"n":(0|[1-9][0-9]{0,17}),"size":(0|[1-9][0-9]{0,17}),"root":"([^"]{44})","next":"([^"]{44})",'
                  rb'"sig":"([^"]{88})"\}')
GENESIS = re.compile(rb'\{"origin":"([^"\\]{1,511})","key":"([^"]{44})"\}')
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
    def __init__(self, origin, key):
        self.origin, self.key, self.trusted = origin, key, key is not None
        self.seq, self.head, self.peaks = 0, bytes(32), []  # peaks: (level, hash), largest first
        self.sn = {b"auditor": 0, b"broker": 0, b"executor": 0}
        self.seals, self.unsealed, self.told, self.joint = 0, 0, 0, None

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

    def take(self, line):
        match = LINE.fullmatch(line)
        if not match or len(line) > 65536:
            raise Bad("form")
        seq, prev, t, src, sn, kind, d = match.groups()
        if (kind in LOG_TYPES) != (src == b"auditor") or (kind.startswith(b"log.") and kind not in LOG_TYPES):
            raise Bad("type")
        strict(d)
        if int(seq) != self.seq or prev.decode() != self.head.hex() or int(sn) != self.sn[src]:
            raise Bad("seq, prev or sn")
        if (self.seq == 0) != (kind == b"log.genesis") or (self.seq == 1 and kind != b"log.seal"):
            raise Bad("begin of the log")
        if (kind == b"log.segment") != (self.joint is not None) or kind == b"log.rekey":
            raise Bad("place")
        if kind == b"log.segment" and d != self.joint:
            raise Bad("joint")
        if kind == b"log.seal":
            self.seal(d, seq, prev, t)
        elif self.unsealed == 256:
            raise Bad("unsealed")
        if kind == b"log.genesis":
            self.genesis(d)
        self.unsealed = 0 if kind == b"log.seal" else self.unsealed + 1
        self.told += src != b"auditor"
        self.joint, self.seq, self.head = None, self.seq + 1, sha(line)
        self.sn[src] += 1
        self.grow(line)

    def genesis(self, d):
        match = GENESIS.fullmatch(d)
        if not match or (self.trusted and (match.group(1) != self.origin or unbase64(match.group(2), 32) != self.key)):
            raise Bad("genesis")
        self.origin, self.key = match.group(1), unbase64(match.group(2), 32)

    def seal(self, d, seq, prev, t):
        match = SEAL.fullmatch(d)
        if not match:
            raise Bad("seal: form")
        n, size, root, following, signature = match.groups()
        if int(n) != self.seals or size != seq or unbase64(root, 32) != self.root():
            raise Bad("seal: number, size or root")
        text = b"%s\n%s\n%s\nseal %s %s %s %s\n" % (self.origin, size, root, n, prev, following, t)
        if not signed(self.key, text, unbase64(signature, 64)):
            raise Bad("seal: signature")
        self.key, self.seals = unbase64(following, 32), self.seals + 1


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


def verify(segments, names, origin, key):
    chain = Chain(origin, key)
    torn, why, before = b"", None, 0
    for number, raw in enumerate(segments):
        if names[number] is not None and names[number] != chain.seq:
            return 4, why or "name"
        first, had = chain.seq, why
        if number:
            chain.joint = b'{"after":"seg-%020d.jsonl","torn":%d,"torn_sha256":"%s"}' % (
                before, len(torn), sha(torn).hex().encode() if torn else b"")
        torn, why, good = read_segment(chain, raw)
        if had and good == 0:
            return 4, had
        before = first
    if why and b"\n" in torn:
        return 4, why
    if chain.seals == 0:
        return 4, "no seal"
    if torn or chain.joint is not None or chain.unsealed or chain.told == 0:
        return 6, "not complete"
    return 0, "%d lines" % chain.seq


def main():
    arguments, origin, key = sys.argv[1:], None, None
    if arguments[:1] == ["--origin"]:
        origin, key, arguments = arguments[1].encode(), base64.b64decode(arguments[3]), arguments[4:]
    segments = [open(path, "rb").read() for path in arguments]
    names = []
    for path in arguments:
        match = re.fullmatch(r"seg-([0-9]{20})\.jsonl", os.path.basename(path))
        names.append(int(match.group(1)) if match else None)
    code, why = verify(segments, names, origin, key)
    print({0: "ok", 4: "tampered", 6: "incomplete"}[code] + ": " + why)
    return code


if __name__ == "__main__":
    sys.exit(main())
