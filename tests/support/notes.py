"""
Trees, proofs, signed notes and cosignatures once more, straight from RFC 6962 and the C2SP texts, sharing nothing with
the C code; Ed25519 is libsodium's.  On the command line, for the tests in bash:

  notes.py proofs MOST                     digests of all consistency proofs, for tests/unit/consistency.c
  notes.py vkey NAME SEED                  the vkey of a log whose key comes from the text SEED
  notes.py body NAME SEED LEAVES OLD SIZE [SALT] [WRONG]
                                           the body of add-checkpoint; leaves are the texts SALT0 SALT1 ...;
                                           WRONG: proof (one bit of the last hash), short (without it), more (doubled),
                                           signature, none (no proof)
  notes.py check VKEY                      body on descriptor 3, answer on standard input: does the cosignature hold?
"""
import base64
import ctypes
import ctypes.util
import hashlib
import struct
import sys

sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))


def sha(data):
    return hashlib.sha256(data).digest()


def root(leaves):
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return sha(b"\1" + root(leaves[:k]) + root(leaves[k:]))


def proof(m, leaves):
    """PROOF(m, D[n]) of RFC 6962, 2.1.2."""
    def sub(m, leaves, whole):
        if m == len(leaves):
            return [] if whole else [root(leaves)]
        k = 1
        while 2 * k < len(leaves):
            k *= 2
        if m <= k:
            return sub(m, leaves[:k], whole) + [root(leaves[k:])]
        return sub(m - k, leaves[k:], False) + [root(leaves[:k])]
    return sub(m, leaves, True)


def leaves_of(count, salt=""):
    return [sha(b"\0" + f"{salt}{i}".encode()) for i in range(count)]


def proofs(most):
    leaves = leaves_of(most)
    for size in range(1, most + 1):
        total = hashlib.sha256(root(leaves[:size]))
        for old in range(1, size + 1):
            hashes = proof(old, leaves[:size])
            total.update(struct.pack(">QQ", old, len(hashes)) + b"".join(hashes))
        print(size, total.hexdigest())


# --- notes ---------------------------------------------------------------------------

def pair(seed):
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
    sodium.crypto_sign_seed_keypair(public, secret, sha(seed.encode()))
    return public.raw, secret.raw


def key_id(name, kind, public):
    return sha(name.encode() + b"\n" + bytes([kind]) + public)[:4]


def vkey(name, kind, public):
    return f"{name}+{key_id(name, kind, public).hex()}+{base64.b64encode(bytes([kind]) + public).decode()}"


def sign(text, secret):
    signature = ctypes.create_string_buffer(64)
    sodium.crypto_sign_detached(signature, None, text, ctypes.c_ulonglong(len(text)), secret)
    return signature.raw


def note(name, seed, leaves):
    public, secret = pair(seed)
    text = f"{name}\n{len(leaves)}\n{base64.b64encode(root(leaves)).decode()}\n".encode()
    line = base64.b64encode(key_id(name, 1, public) + sign(text, secret)).decode()
    return text + f"\n\u2014 {name} {line}\n".encode()


def body(name, seed, count, old, size, salt="", wrong=""):
    leaves = leaves_of(count, salt)[:size]
    hashes = proof(old, leaves) if 0 < old <= size else []
    if wrong == "proof":
        hashes[-1] = hashes[-1][:31] + bytes([hashes[-1][31] ^ 1])
    if wrong == "short":
        hashes.pop()
    if wrong == "more":
        hashes *= 2
    if wrong == "none":
        hashes = []
    text = f"old {old}\n" + "".join(base64.b64encode(h).decode() + "\n" for h in hashes) + "\n"
    return text.encode() + note(name, "somebody else" if wrong == "signature" else seed, leaves)


def check(witness, request, answer):
    name, _, key = witness.split("+", 2)
    key = base64.b64decode(key)[1:]
    dash, who, line = answer.rstrip("\n").split(" ")
    data = base64.b64decode(line)
    assert dash == "\u2014" and who == name and len(data) == 76 and data[:4] == key_id(name, 4, key)
    text = request.split(b"\n\n", 1)[1].split(b"\n\n", 1)[0] + b"\n"
    signed = b"cosignature/v1\ntime %d\n" % struct.unpack(">Q", data[4:12])[0] + text
    assert sodium.crypto_sign_verify_detached(data[12:], signed, ctypes.c_ulonglong(len(signed)), key) == 0


def main(argv):
    if argv[1] == "proofs":
        proofs(int(argv[2]))
    elif argv[1] == "vkey":
        print(vkey(argv[2], 1, pair(argv[3])[0]))
    elif argv[1] == "body":
        count, old, size = map(int, argv[4:7])
        sys.stdout.buffer.write(body(argv[2], argv[3], count, old, size, *argv[7:]))
    elif argv[1] == "check":
        with open(3, "rb") as request:
            check(argv[2], request.read(), sys.stdin.read())


if __name__ == "__main__":
    main(sys.argv)
