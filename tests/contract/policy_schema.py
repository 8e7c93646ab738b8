"""The JSON Schema of the policy and the strict loader agree: on every policy of the unit tests and fuzz seeds, and on a
policy of everything with one thing changed, thousands of times (with FULL=1 three times as many).  What the schema refuses the loader refuses.  What
the loader alone refuses is in DIFFERENCES by name, with a policy that shows it; anything else fails here."""
import base64
import hashlib
import json
import multiprocessing.pool
import os
import re
import subprocess
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BROKER = os.path.join(os.environ.get("BUILD_DIR", os.path.join(ROOT, "build")), "agent-safe-broker")
DIRECTORY = "/srv/ws"
SCHEMA = os.path.join(ROOT, "packaging", "agent-safe-policy.schema.json")


def vkey(name, byte):
    key = bytes([4]) + bytes([byte]) * 32
    ident = hashlib.sha256(name.encode() + b"\n" + key).hexdigest()[:8]
    return f"{name}+{ident}+{base64.b64encode(key).decode()}"


def witness(name, byte):
    return {"name": name, "key": vkey(name, byte), "command": ["/usr/bin/ssh", "host"]}


DIGEST = "sha256:" + "0123456789abcdef" * 4
LIMITS = {"timeout_seconds": 60, "grace_seconds": 5, "idle_seconds": 60, "keep_bytes": 4096, "output_bytes": 8192,
          "file_bytes": 8192, "cpu_seconds": 60, "cpu_percent": 100, "open_files": 64, "processes": 64,
          "memory_bytes": 64 << 20, "tmp_bytes": 2 << 20}
CAGE = {"profile": "default", "network": {"tcp_ports": [443, 80]}, "read_paths": ["/opt/tools", "/srv/data"],
        "write_paths": ["/srv/cache", {"path": "/srv/owned", "root_owned": True}], "minimum": ["landlock", "own_uid"]}
# Every key of the schema: test_everything_has_every_key holds it to that.
EVERYTHING = {
    1: {"version": 1, "allowed_commands": [{"program": "git", "args_prefix": ["status", ""]}, {"program": "./tool"}],
        "allowed_working_roots": [".", "/data"], "denied_arguments": ["--force"],
        "environment_allowlist": ["PATH", "A=B"], "max_timeout_seconds": 60, "max_output_chars": 8000},
    2: {"version": 2,
        "rules": [
            {"program": "git", "args": ["log"], "effect": "allow", "reason": "why", "digests": [DIGEST],
             "match": [{"arg": "-x"}, {"prefix": "--o"}, {"like": "*.c"}, {"option": "--out"}, {"short": "rf"}],
             "not_match": [{"arg": "-y"}], "cage": CAGE, "limits": LIMITS},
            {"program": "/usr/bin/make", "args": {"exact": ["check"]}},
            {"program": "./tool", "args": {"prefix": ["a"], "suffix": ["b"], "extra": 3}, "effect": "deny"}],
        "allowed_working_roots": [".", {"path": "/data", "shared": True, "root_owned": False, "read_only": True, "nested": "off"}],
        "path": ["/usr/bin", "/bin"], "environment": {"CI": "1", "HOME": "/srv/home"},
        "environment_allowlist": ["LANG"], "limits": LIMITS, "cage": CAGE,
        "queue": {"slots": 4, "workers": 1, "groups": {"build": 2}, "on_audit_loss": "freeze",
                  "hooks": [{"on": ["job.failed"], "argv": ["tee", "-a"], "timeout_seconds": 5, "digests": [DIGEST]}]},
        "approvals": {"expires_seconds": 60},
        "audit": {"export_command": ["/usr/bin/tee", "-a"], "witnesses": [witness("one", 1), witness("two", 2)],
                  "quorum": 1, "require": "exec", "deadline_seconds": 30},
        "secrets": {"override": True}, "agents": {}},
}


def policy(**more):
    return {"version": 2, **more}


def rule(**more):
    return policy(rules=[{"program": "ls", **more}])


# What a schema cannot say: name, what the loader says, a policy (a text, where it is the JSON's form).
DIFFERENCES = [
    ("a doubled key", r"a duplicate key", '{"version":2,"version":2}'),
    ("an integer with a fraction of nothing", r"must be an integer|version must be", policy(queue={"slots": 2.0})),
    ("a byte order mark before version 2", r"byte order mark", '\ufeff{"version":2}'),
    ("a character NUL", r"u0000 is not taken", policy(environment={"A": "\0"})),
    ("a rule's limit above the policy's", r"is more than the policy's",
     policy(limits={"processes": 8}, rules=[{"program": "ls", "limits": {"processes": 9}}])),
    ("a rule's timeout above the policy's", r"is longer than the policy's",
     policy(limits={"timeout_seconds": 8}, rules=[{"program": "ls", "limits": {"timeout_seconds": 9}}])),
    ("the same root in two ways", r"is the same directory as", policy(allowed_working_roots=[".", "/srv/ws/"])),
    ("a read path that is a root", r"is the same directory as",
     policy(allowed_working_roots=["/data"], cage={"read_paths": ["/data"]})),
    ("the same path to read and to write", r"is listed twice",
     policy(cage={"read_paths": ["/data"], "write_paths": ["/data"]})),
    ("too many paths of both kinds", r"more than 32 read_paths and write_paths",
     policy(cage={"read_paths": ["/r/%d" % i for i in range(20)], "write_paths": ["/w/%d" % i for i in range(20)]})),
    ("too many roots and paths in all", r"more than 64 roots",
     policy(allowed_working_roots=["/w/%d" % i for i in range(64)], cage={"read_paths": ["/r"]})),
    ("a rule's profile without the policy's network", r"allows no network but",
     policy(cage={"network": "loopback"}, rules=[{"program": "ls", "cage": {"profile": "strict"}}])),
    ("a rule's profile without the policy's write paths", r"has no write_paths",
     policy(cage={"write_paths": ["/data"]}, rules=[{"program": "ls", "cage": {"profile": "strict"}}])),
    ("a minimum that can never hold", r"the minimum can never hold", rule(cage={"minimum": ["cgroup_cpu"]})),
    ("more ports than 32 in all rules", r"more than 32 different ports", policy(rules=[
        {"program": "ls", "cage": {"network": {"tcp_ports": list(range(first, first + 20))}}} for first in (1, 100)])),
    ("more than 64 programs of one name", r"programs of one name",
     policy(rules=[{"program": "/p%d/ls" % i} for i in range(65)])),
    ("a secret in the environment", r"looks like a secret",
     policy(environment={"KEY": "sk-ant-api03-" + "aZ3bY4cX5d" * 9})),
    ("a program's path that is the root", r"no path of a program", policy(rules=[{"program": "/.."}])),
    ("a hook's path that is the root", r"no path of a program", policy(queue={"hooks": [{"on": ["job.lost"], "argv": ["/.."]}]})),
    ("a hook of too many bytes", r"16384 bytes", policy(queue={"hooks": [{"on": ["job.lost"], "argv": ["x" * 20000]}]})),
    ("a hook's timeout above the policy's", r"hooks\[0\].timeout_seconds must be an integer from 1 to \d{1,2}$",
     policy(limits={"timeout_seconds": 5}, queue={"hooks": [{"on": ["job.lost"], "argv": ["x"], "timeout_seconds": 6}]})),
    ("a command of too many bytes", r"is longer than 4096 bytes", policy(audit={"export_command": ["/bin/x", "x" * 4096]})),
    ("a path of too many bytes together", r"path is too long", policy(path=["/" + "x" * 3000, "/" + "y" * 3000])),
    ("a root of too many bytes", r"must be the path of a directory", policy(allowed_working_roots=["/" + "x" * 5000])),
    ("a path of too many bytes in other letters", r"must be a clean absolute path", policy(cage={"read_paths": ["/" + "\u00e9" * 3000]})),
    ("a reason of too many bytes in other letters", r"at most 300 bytes", rule(reason="\u00e9" * 200)),
    ("a group of too many bytes in other letters", r"a name has 1 to 100 bytes", policy(queue={"groups": {"\u00e9" * 60: 1}})),
    ("a quorum above the witnesses", r"audit.quorum must be an integer from 1 to [1-7]$",
     policy(audit={"witnesses": [witness("a", 1)], "quorum": 2})),
    ("a key id that is another key's", r"key id that is not this key's",
     policy(audit={"witnesses": [dict(witness("a", 1), key="a+00000000+" + vkey("a", 1)[11:])]})),
    ("a witness by another name than its key's", r"must be the name in its key",
     policy(audit={"witnesses": [dict(witness("a", 1), name="b")]})),
    ("the same witness twice", r"is the same witness as", policy(audit={"witnesses": [witness("a", 1)] * 2})),
]


def loader(text):
    """None when the broker takes the policy, else what it says."""
    done = subprocess.run([BROKER, "check", DIRECTORY], input=text.encode("utf-8", "surrogatepass"),
                          capture_output=True, timeout=20, check=False)
    if done.returncode == 0:
        return None
    return json.loads(done.stdout or done.stderr)["error"]["message"]


def strings(value):
    for path in places(value):
        if path and isinstance(path[-1], str):
            yield path[-1]
        if isinstance(at(value, path), str):
            yield at(value, path)


def is_difference(why, value):
    """Is what the loader alone says one of DIFFERENCES?  Sizes in bytes only where something is that long."""
    long = any(len(text.encode()) > 100 for text in strings(value))
    fraction = any(isinstance(at(value, path), float) for path in places(value))
    return any(re.search(words, why) for name, words, example in DIFFERENCES if not isinstance(example, str) and
               (long or "bytes" not in name) and (fraction or "fraction" not in name))


def literals(name):
    """The policies among the adjacent string literals of a C test, as they are in memory."""
    with open(os.path.join(ROOT, "tests", "unit", name), encoding="utf-8") as file:
        source = file.read()
    for run in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', source):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', run.group())
        yield re.sub(r'\\(["\\])', r"\1", "".join(parts))


def sections(text):
    """A literal as a whole policy, as members of one, or as a rule."""
    for shape in ("%s", '{"version":2,%s}', '{"version":2,"rules":[%s]}', '{"version":2,"rules":[{"program":"ls",%s}]}',
                  '{"version":2,"cage":{%s}}', '{"version":2,"audit":{%s}}', '{"version":2,"limits":{%s}}',
                  '{"version":2,"queue":{"hooks":[%s]}}'):
        try:
            value = json.loads(shape % text, object_pairs_hook=no_twins)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("doubled key")
    return dict(pairs)


def places(value, path=()):
    """Every place in a policy, the whole first."""
    yield path
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, path + (key,))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, path + (number,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def changed(whole, path, value):
    """A copy with another value there, or without it (value is REMOVED)."""
    if not path:
        return value
    whole = json.loads(json.dumps(whole))  # what is shared here is not shared there
    parent = at(whole, path[:-1])
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return whole


REMOVED = object()
OTHERS = [None, True, False, 0, 1, -1, 1.5, 1 << 40, 1 << 54, "", "x", ".", "..", "/", "/etc", "/etc/x", "/usr/lib/x", "/tmp",
          "/proc/1", "/a//b", "/a/../b", "/a/", "/a/b", "a b", "--a=b", "--", "-a", "none", "loopback", "strict", "deny",
          "PATH", "LD_PRELOAD", "9A", "sha256:00", "a:b", [], {}, [""], ["x"], [1], ["/a/b"], {"x": 1}, [[]], [{}]]


def numbers(schema):
    """Every bound in a part of the schema, and what is one beside it."""
    found = set()
    if isinstance(schema, dict):
        for word, value in schema.items():
            if word in ("minimum", "maximum", "minLength", "maxLength", "maxItems"):
                found |= {value - 1, value, value + 1} if isinstance(value, int) else set()
            found |= numbers(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= numbers(value)
    return found


def bounds_of_keys(schema, found):
    """found[key]: the numbers of all properties of that name."""
    if isinstance(schema, dict):
        for word, value in schema.items():
            if word == "properties":
                for key, part in value.items():
                    found[key] = found.get(key, set()) | numbers(part)
            bounds_of_keys(value, found)
    return found


def mutations(whole, schema):
    bounds = bounds_of_keys(schema, {})
    for path in places(whole):
        value = at(whole, path)
        if path:
            yield changed(whole, path, REMOVED)
        for other in OTHERS:
            yield changed(whole, path, other)
        if isinstance(value, dict):
            yield changed(whole, path, {**value, "unknown": 1})
            yield changed(whole, path, {**value, "secrets": {}})
            yield changed(whole, path, {**value, "comment": "x"})
        elif isinstance(value, list):
            yield changed(whole, path, value * 2)
            yield changed(whole, path, value[::-1])
            for length in 8, 9, 16, 17, 32, 33, 64, 65, 256, 257:
                yield changed(whole, path, (value * length)[:length])
        elif isinstance(value, int) and not isinstance(value, bool):
            key = next(step for step in path[::-1] if step in bounds)
            for number in sorted(bounds[key] | {0, 1}):
                yield changed(whole, path, number)
        elif isinstance(value, str):
            for other in ("x" * 101, "x" * 301, "/" + "x" * 5000, value + "x", value.upper()):
                yield changed(whole, path, other)


def keys_of_schema(schema):
    if isinstance(schema, dict):
        for word, value in schema.items():
            if word == "properties":
                yield from value
            yield from keys_of_schema(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys_of_schema(value)


def keys_of(value):
    for path in places(value):
        if path and isinstance(path[-1], str):
            yield path[-1]


@unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as file:
            cls.schema = json.load(file)
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    def agree(self, policies, step=1):
        """How many of them (of every step-th) both take, and how many both refuse."""
        texts = sorted({json.dumps(value) for value in policies})[::step]
        with multiprocessing.pool.ThreadPool(2) as pool:
            said = pool.map(loader, texts)
        taken = refused = 0
        for text, why in zip(texts, said):
            fault = next(self.validator.iter_errors(json.loads(text)), None)
            if fault is None and why is not None:
                self.assertTrue(is_difference(why, json.loads(text)), f"the loader alone refuses: {why}\n{text[:2000]}")
            elif fault is not None:
                self.assertIsNotNone(why, f"the schema alone refuses: {fault.message[:300]} {list(fault.path)}\n{text[:2000]}")
            taken += fault is None and why is None
            refused += fault is not None
        print(f"# {len(texts)} policies: {taken} taken, {refused} refused by both", flush=True)
        return taken, refused

    def test_it_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_everything_has_every_key(self):
        known = set(keys_of_schema(self.schema))
        self.assertEqual(known - set(keys_of(EVERYTHING[1])) - set(keys_of(EVERYTHING[2])), set())

    def test_both_take_a_policy_of_everything(self):
        for version in 1, 2:
            self.assertIsNone(loader(json.dumps(EVERYTHING[version])))
            self.validator.validate(EVERYTHING[version])

    def test_the_policies_of_the_unit_tests_and_the_seeds(self):
        texts = [text for name in ("policy.c", "policy_audit.c") for text in literals(name)]
        seeds = os.path.join(ROOT, "tests", "fuzz", "policy.seeds")
        for path in [os.path.join(seeds, name) for name in os.listdir(seeds)] + [os.path.join(ROOT, "packaging", "policy.json")]:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        taken, refused = self.agree(value for text in texts for value in sections(text))
        self.assertGreater(taken, 50)
        self.assertGreater(refused, 200)

    def test_version_1_with_one_thing_changed(self):
        taken, refused = self.agree(mutations(EVERYTHING[1], self.schema["$defs"]["version1"]))
        self.assertGreater(taken, 50)
        self.assertGreater(refused, 200)

    def test_version_2_with_one_thing_changed(self):
        taken, refused = self.agree(mutations(EVERYTHING[2], self.schema), 1 if os.environ.get("FULL") else 3)
        self.assertGreater(taken, 200)
        self.assertGreater(refused, 1000)

    def test_each_difference_is_one(self):
        wrong = []
        for name, words, example in DIFFERENCES:
            text = example if isinstance(example, str) else json.dumps(example)
            said = loader(text)
            fault = next(self.validator.iter_errors(json.loads(text.removeprefix("\ufeff"))), None)
            if fault or not re.search(words, said or ""):
                wrong.append(f"{name}: loader: {said}; schema: {fault and fault.message[:200]}")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
