"""The broker against stand-in peers: every method, and what holds when a peer or a client misbehaves."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peers import *  # noqa
import shutil
import sqlite3
import tempfile
import time
import unittest

PROGRAMS = ["true", "false", "sh", "echo", "sleep", "cat"]
POLICY = {"version": 1, "allowed_commands": [{"program": name} for name in PROGRAMS],
          "allowed_working_roots": None, "denied_arguments": ["--forbidden"], "environment_allowlist": ["LANG"],
          "max_timeout_seconds": 300, "max_output_chars": 8000}
OWNER = 12345


class Case(unittest.TestCase):
    mode = 2

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="agent-safe-broker.")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.policy = dict(POLICY, allowed_working_roots=[self.folder + "/work"])
        self.broker = Broker(self.folder, self.policy, self.mode)
        os.chown(self.broker.work, OWNER, OWNER)
        self.broker.start()
        self.clients = []

    def tearDown(self):
        for client in self.clients:
            client.close()
        status = self.broker.stop()
        if getattr(self, "dies", False):
            self.assertNotEqual(status, 0)
        else:
            self.assertEqual(status, 0, self.broker.stderr())

    def client(self, path=None):
        self.clients.append(self.broker.client(path))
        return self.clients[-1]

    def approved(self, client, command, **params):
        job = self.broker.submit(client, command, **params)
        return client.call("job.approve", {"job_id": job["id"], "by": "op"})

    def refused(self, code, call, *args, **kwargs):
        with self.assertRaises(Refused) as caught:
            call(*args, **kwargs)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        return caught.exception

    def restart(self, **kwargs):
        self.broker.stop(signal.SIGKILL)
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log)
        return self.broker.start(**kwargs)

    def until(self, condition, seconds=20):
        end = time.time() + seconds
        while not condition():
            self.assertLess(time.time(), end, "it does not happen")
            time.sleep(0.01)


class Life(Case):
    def test_an_approved_command_runs_and_every_step_is_on_record_in_order(self):
        c = self.client()
        job = self.broker.submit(c, ["sh", "-c", "echo out; echo err >&2"], label="first")
        self.assertEqual((job["status"], job["approval_status"], job["created"]), ("queued", "pending", True))
        self.assertTrue(job["assessment"]["allowed"], job["assessment"])
        self.assertEqual(job["command"], ["sh", "-c", "echo out; echo err >&2"])
        approved = c.call("job.approve", {"job_id": job["id"], "by": "op", "reason": "fine",
                                          "digest": job["spec_digest"]})
        self.assertEqual(approved["approval_status"], "approved")
        done = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual(done["status"], "succeeded", done)
        self.assertEqual(done["result"]["returncode"], 0)
        self.assertEqual(done["result"]["stdout"], "out\n")
        self.assertEqual(done["result"]["stderr"], "err\n")
        self.assertEqual(done["attempts"], 1)
        self.assertEqual([a["outcome"] for a in done["attempts_log"]], ["succeeded"])
        self.assertEqual(self.broker.auditor.types(), ["policy.loaded", "job.proposed", "job.approved",
                                                       "job.queued", "job.dispatch", "job.finished"])
        self.assertEqual([seal for _, kind, _, seal in self.broker.log if kind == "job.approved"], [1])
        d = next(d for _, kind, d, _ in self.broker.log if kind == "job.dispatch").decode()
        self.assertRegex(d, r'^\{"job":"[0-9a-f-]{36}","attempt":1,"slot":0,"spec_sha256":"[0-9a-f]{64}"\}$')
        self.until(lambda: len(self.broker.executor.collected) == 1)

    def test_the_first_systems_twenty_fields_are_flat(self):
        job = self.broker.submit(self.client(), ["true"])
        for name in ("id idempotency_key command status created_at updated_at available_at attempts max_attempts "
                     "timeout cwd lease_owner lease_until result error_class approval_status decided_by decided_at "
                     "decision_reason source").split():
            self.assertIn(name, job)
        self.assertIsInstance(job["created_at"], float)

    def test_outcomes_are_distinct(self):
        c = self.client()
        for command, status, error in ((["false"], "failed", "nonzero_exit"),
                                       (["sh", "-c", "kill -9 $$"], "failed", "signal")):
            job = self.approved(c, command)
            done = c.call("job.run", {"job_id": job["id"], "execute": True})
            self.assertEqual((done["status"], done["error_class"]), (status, error))
        self.assertEqual(done["result"]["returncode"], -9)
        job = self.approved(c, ["sleep", "30"], timeout=1)
        done = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual((done["status"], done["error_class"]), ("failed", "timeout"))
        self.broker.executor.refuse_run = (STAGE["STAGE_MOUNT"], 13)
        job = self.approved(c, ["true"])
        done = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual((done["status"], done["error_class"]), ("failed", "spawn_error"))
        self.assertEqual((done["result"]["stage"], done["result"]["errno"]), ("mount", 13))

    def test_a_failed_try_waits_is_visible_and_is_tried_again(self):
        c, watcher = self.client(), self.client()
        flag = self.broker.work + "/flag"
        job = self.approved(c, ["sh", "-c", "test -e %s || { touch %s; exit 3; }" % (flag, flag)], max_attempts=2)
        begun = time.time()
        c.send("job.run", {"job_id": job["id"], "execute": True})
        # First for its record, then for its time.
        self.until(lambda: watcher.call("job.get", {"job_id": job["id"]})["waiting_for"] == ["retry"])
        seen = watcher.call("job.get", {"job_id": job["id"]})
        self.assertEqual(seen["status"], "retry_wait")
        self.assertGreater(seen["attempts_log"][0]["next_try_at"], begun + 1)
        done = c.receive()["result"]
        self.assertEqual((done["status"], done["attempts"]), ("succeeded", 2))
        self.assertGreaterEqual(time.time() - begun, 1.7)

    def test_cancel_ends_waiting_and_running_jobs(self):
        c, runner = self.client(), self.client()
        job = self.broker.submit(c, ["true"])
        self.assertEqual(c.call("job.cancel", {"job_id": job["id"]})["status"], "cancelled")
        self.refused("invalid_job_state", c.call, "job.cancel", {"job_id": job["id"]})
        job = self.approved(c, ["sleep", "60"])
        runner.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.executor.children) == 1)
        self.assertEqual(c.call("job.cancel", {"job_id": job["id"]})["status"], "cancelled")
        self.assertEqual(runner.receive()["result"]["status"], "cancelled")
        self.assertEqual(self.broker.auditor.types()[-2:], ["job.cancel_requested", "job.finished"])

    def test_retry_by_hand_decides_everything_anew_under_a_new_attempt_number(self):
        c = self.client()
        job = self.approved(c, ["false"])
        c.call("job.run", {"job_id": job["id"], "execute": True})
        again = c.call("job.retry", {"job_id": job["id"]})
        self.assertEqual((again["status"], again["approval_status"], again["attempts"]), ("queued", "pending", 0))
        self.refused("approval_required", c.call, "job.run", {"job_id": job["id"], "execute": True})
        c.call("job.approve", {"job_id": job["id"], "by": "op"})
        done = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual([a["attempt"] for a in done["attempts_log"]], [1, 2])
        self.assertEqual(done["attempts"], 1)

    def test_dry_runs_change_nothing_and_are_recorded(self):
        c = self.client()
        job = self.approved(c, ["true"])
        dry = c.call("job.run", {"job_id": job["id"], "execute": False})
        self.assertEqual(dry["dry_run"], {"policy_allowed": True, "policy_error": None})
        self.assertEqual(dry["status"], "queued")
        self.assertEqual(self.broker.auditor.types()[-1], "job.dry_run")
        self.assertEqual(self.broker.executor.started, [])

    def test_a_succeeded_job_is_answered_and_not_run_again(self):
        c = self.client()
        job = self.approved(c, ["true"])
        for _ in range(2):
            self.assertEqual(c.call("job.run", {"job_id": job["id"], "execute": True})["status"], "succeeded")
        self.assertEqual(len(self.broker.executor.started), 1)


class Proposals(Case):
    def test_any_bytes_but_nul_come_back_as_they_were(self):
        c = self.client()
        job = self.broker.submit(c, ["echo", {"b64": "6Q=="}, "a;b"])
        self.assertEqual(job["command"], ["echo", {"b64": "6Q=="}, "a;b"])
        self.assertEqual(c.call("job.get", {"job_id": job["id"]})["command"], job["command"])
        self.refused("invalid_input", self.broker.submit, c, ["echo", {"b64": "AA=="}])
        self.refused("invalid_input", self.broker.submit, c, [])
        self.refused("invalid_input", self.broker.submit, c, [""])

    def test_bounds_are_named_and_nothing_is_stored(self):
        c = self.client()
        self.refused("limit_exceeded", self.broker.submit, c, ["echo", "x" * 131072])
        self.assertIn("too many elements", str(self.refused("invalid_input", self.broker.submit, c, ["echo"] * 4097)))
        self.refused("limit_exceeded", self.broker.submit, c, ["echo"] + ["x" * 131000] * 5)
        self.refused("invalid_input", self.broker.submit, c, ["echo"], timeout=0)
        self.refused("invalid_input", self.broker.submit, c, ["echo"], idempotency_key="k" * 201)
        self.refused("invalid_input", self.broker.submit, c, ["echo"], surprise=1)
        self.assertEqual(c.call("job.list", {})["jobs"], [])
        self.assertNotIn("job.proposed", self.broker.auditor.types())

    def test_the_largest_argv_survives(self):
        c = self.client()
        argv = ["echo"] + ["x" * 131000] * 3 + ["\u20ac" * 40000]
        job = self.broker.submit(c, argv)
        self.assertEqual(c.call("job.get", {"job_id": job["id"]})["command"], argv)
        self.assertEqual(c.call("job.assess", {"job_id": job["id"]})["command"], argv)

    def test_secrets_are_refused_everywhere_and_found_nowhere(self):
        c = self.client()
        secret = "AKIAIOSFODNN7EXAMPL3"
        self.refused("sensitive_input", self.broker.submit, c, ["echo", secret])
        self.refused("sensitive_input", self.broker.submit, c, ["echo"], idempotency_key=secret)
        self.refused("sensitive_input", self.broker.submit, c, ["echo"], label=secret)
        self.refused("sensitive_input", self.broker.submit, c, ["echo"], environment={"LANG": secret})
        os.mkdir(self.broker.work + "/" + secret)
        os.chown(self.broker.work + "/" + secret, OWNER, OWNER)
        self.refused("sensitive_input", self.broker.submit, c, ["echo"], cwd=self.broker.work + "/" + secret)
        job = self.broker.submit(c, ["echo"])
        self.refused("sensitive_input", c.call, "job.deny", {"job_id": job["id"], "by": "op", "reason": secret})
        self.refused("sensitive_input", c.call, "job.approve", {"job_id": job["id"], "by": secret})
        self.refused("sensitive_input", c.call, "job.run", {"job_id": job["id"], "execute": False, "worker": secret})
        self.assertEqual(self.broker.auditor.types().count("job.refused"), 8)
        for _, _, d, _ in self.broker.log:
            self.assertNotIn(secret.encode(), d)
        for name in os.listdir(self.folder + "/state"):
            with open(self.folder + "/state/" + name, "rb") as file:
                self.assertNotIn(secret.encode(), file.read())
        self.assertNotIn(secret, self.broker.stderr())

    def test_a_disallowed_proposal_is_stored_with_its_verdict(self):
        c = self.client()
        job = self.broker.submit(c, ["ls"])
        self.assertFalse(job["assessment"]["allowed"])
        self.assertEqual(job["approval_status"], "pending")
        self.refused("policy_denied", c.call, "job.approve", {"job_id": job["id"], "by": "op"})
        self.assertEqual(self.broker.auditor.types()[-1], "job.decision_refused")
        outside = self.broker.submit(c, ["true"], cwd="/usr")
        self.assertEqual(outside["assessment"]["verdict"], "outside_roots")

    def test_a_policy_root_that_could_not_be_used_is_said(self):
        c = self.client()
        self.policy["allowed_working_roots"].append("/usr/lib")
        self.broker.write_policy(self.policy)
        c.close()
        self.restart()  # the boot record has one root, the policy two
        c = self.client()
        refusal = self.refused("policy_denied", self.broker.submit, c, ["true"], cwd="/usr/lib")
        self.assertIn("root_owned", str(refusal))

    def test_one_key_names_one_content(self):
        c = self.client()
        first = self.broker.submit(c, ["echo", "1"], idempotency_key="k")
        again = self.broker.submit(c, ["echo", "1"], idempotency_key="k")
        self.assertEqual((again["id"], again["created"]), (first["id"], False))
        conflict = self.refused("key_conflict", self.broker.submit, c, ["echo", "2"], idempotency_key="k", timeout=9)
        self.assertEqual(conflict.data["fields"], ["command", "timeout"])
        self.assertEqual(conflict.data["job_id"], first["id"])
        other = self.broker.submit(c, ["echo", "1"], idempotency_key="k", new=True)
        self.assertNotEqual(other["id"], first["id"])

    def test_a_made_key_covers_unfinished_work_only(self):
        c = self.client()
        first = self.approved(c, ["true"])
        self.assertFalse(self.broker.submit(c, ["true"])["created"])
        c.call("job.run", {"job_id": first["id"], "execute": True})
        self.assertTrue(self.broker.submit(c, ["true"])["created"])

    def test_forty_equal_proposals_at_once_are_one_job(self):
        clients = [self.client(self.broker.control) for _ in range(40)]
        fd = os.open(self.broker.work, os.O_RDONLY)
        for c in clients:
            c.send("job.submit", {"command": ["true"], "idempotency_key": "one"}, [fd])
        answers = [c.receive()["result"] for c in clients]
        self.assertEqual(len({a["id"] for a in answers}), 1)
        self.assertEqual(sum(a["created"] for a in answers), 1)
        self.assertEqual(self.broker.auditor.types().count("job.proposed"), 1)

    def test_the_working_directory_must_be_opened_for_reading_and_ones_own(self):
        c = self.client()
        fd = os.open(self.broker.work, os.O_PATH)
        self.refused("invalid_input", c.call, "job.submit", {"command": ["true"]}, [fd])
        fd = os.open("/etc/passwd", os.O_RDONLY)
        self.refused("invalid_input", c.call, "job.submit", {"command": ["true"]}, [fd])
        self.refused("invalid_input", c.call, "job.submit", {"command": ["true"]})
        os.mkdir(self.broker.work + "/roots")
        refusal = self.refused("policy_denied", self.broker.submit, c, ["true"], cwd=self.broker.work + "/roots")
        self.assertIn("root_owned", str(refusal))

    def test_not_before_is_kept(self):
        c = self.client()
        job = self.broker.submit(c, ["true"], not_before="2100-01-01T00:00:00Z")
        self.assertEqual(job["available_at"], 4102444800.0)
        c.call("job.approve", {"job_id": job["id"], "by": "op"})
        self.refused("invalid_job_state", c.call, "job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual(c.call("job.work", {"execute": True}), {"status": "idle"})
        self.refused("invalid_input", self.broker.submit, c, ["true"], not_before="tomorrow")


class Decisions(Case):
    def test_opposite_decisions_have_one_winner_and_one_record(self):
        a, b = self.client(), self.client()
        for turn in range(8):
            job = self.broker.submit(a, ["echo", str(turn)])
            a.send("job.approve", {"job_id": job["id"], "by": "a"})
            b.send("job.deny", {"job_id": job["id"], "by": "b", "reason": "no"})
            answers = [a.receive(), b.receive()]
            self.assertEqual(sum("result" in answer for answer in answers), 1, answers)
        decided = [k for k in self.broker.auditor.types() if k in ("job.approved", "job.denied")]
        self.assertEqual(len(decided), 8)

    def test_deny_needs_a_reason_and_cancels(self):
        c = self.client()
        job = self.broker.submit(c, ["true"])
        self.refused("invalid_input", c.call, "job.deny", {"job_id": job["id"], "by": "op"})
        self.refused("invalid_input", c.call, "job.deny", {"job_id": job["id"], "by": "op", "reason": " "})
        self.refused("invalid_input", c.call, "job.approve", {"job_id": job["id"]})
        denied = c.call("job.deny", {"job_id": job["id"], "by": "op", "reason": "no"})
        self.assertEqual((denied["status"], denied["approval_status"]), ("cancelled", "denied"))

    def test_a_digest_that_was_not_shown_is_stale(self):
        c = self.client()
        job = self.broker.submit(c, ["true"])
        self.refused("approval_stale", c.call, "job.approve",
                     {"job_id": job["id"], "by": "op", "digest": "sha256:" + "0" * 64})
        self.assertEqual(c.call("job.get", {"job_id": job["id"]})["approval_status"], "pending")

    def test_a_changed_program_voids_the_approval_and_says_what_changed(self):
        c = self.client()
        tool = self.broker.work + "/tool"
        self.write(tool, "#!/bin/sh\necho good\n")
        self.policy["allowed_commands"].append({"program": tool})
        self.broker.write_policy(self.policy)
        self.reload(c)
        job = self.approved(c, [tool])
        self.write(tool, "#!/bin/sh\necho evil\n")
        stale = self.refused("approval_stale", c.call, "job.run", {"job_id": job["id"], "execute": True})
        self.assertIn("program: its content", stale.data["changes"])
        seen = c.call("job.get", {"job_id": job["id"]})
        self.assertEqual((seen["status"], seen["approval_status"], seen["attempts"]), ("queued", "pending", 0))
        self.assertEqual([d["decision"] for d in seen["decisions"]], ["approved", "stale"])
        self.assertEqual(self.broker.executor.started, [])
        self.assertEqual(self.broker.auditor.types()[-1], "job.stale")
        os.unlink(tool)
        self.refused("policy_denied", c.call, "job.approve", {"job_id": job["id"], "by": "op"})

    def test_a_replaced_directory_voids_the_approval(self):
        c = self.client()
        place = self.broker.work + "/sub"
        os.mkdir(place)
        os.chown(place, OWNER, OWNER)
        job = self.approved(c, ["true"], cwd=place)
        os.rename(place, place + ".old")
        os.mkdir(place)
        os.chown(place, OWNER, OWNER)
        stale = self.refused("approval_stale", c.call, "job.run", {"job_id": job["id"], "execute": True})
        self.assertIn("working directory: it is another directory", stale.data["changes"])

    def write(self, path, text):
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", 0o755)
        os.rename(path + ".new", path)

    def reload(self, c):
        fd = os.open(self.broker.policy_path, os.O_RDONLY)
        try:
            return c.call("policy.reload", {}, [fd])
        finally:
            os.close(fd)

    def test_a_policy_that_says_no_buries_an_approved_job(self):
        c = self.client()
        job = self.approved(c, ["echo", "hi"])
        self.policy["allowed_commands"] = [{"program": "true"}]
        self.broker.write_policy(self.policy)
        self.assertTrue(c.call("server.status", {})["policy_changed"])
        self.assertTrue(c.call("job.get", {"job_id": job["id"]})["warnings"])
        self.assertFalse(self.reload(c)["restart"])
        dead = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual((dead["status"], dead["error_class"]), ("dead_letter", "policy_denied"))
        self.assertEqual(dead["attempts"], 0)

    def test_a_policy_that_still_says_yes_but_is_another_makes_it_stale(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.policy["max_timeout_seconds"] = 299
        self.broker.write_policy(self.policy)
        self.reload(c)
        stale = self.refused("approval_stale", c.call, "job.work", {"execute": True})
        self.assertIn("policy: its file", stale.data["changes"])
        self.assertEqual(c.call("job.get", {"job_id": job["id"]})["approval_status"], "pending")

    def test_a_broken_policy_is_refused_and_the_loaded_one_stays(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.broker.write_policy("{")
        self.refused("policy_denied", self.reload, c)
        self.assertEqual(self.broker.auditor.types()[-1], "policy.refused")
        self.assertEqual(c.call("job.run", {"job_id": job["id"], "execute": True})["status"], "succeeded")

    def test_a_missing_policy_changes_no_job(self):
        c = self.client()
        job = self.approved(c, ["true"])
        c.close()
        os.unlink(self.broker.policy_path)
        self.restart()
        c = self.client()
        self.assertFalse(c.call("server.status", {})["policy_loaded"])
        self.refused("policy_denied", c.call, "job.run", {"job_id": job["id"], "execute": True})
        seen = c.call("job.get", {"job_id": job["id"]})
        self.assertEqual((seen["status"], seen["approval_status"]), ("queued", "approved"))

    def test_other_roots_ask_for_a_restart(self):
        c = self.client()
        self.policy["allowed_working_roots"].append("/srv")
        self.broker.write_policy(self.policy)
        self.assertTrue(self.reload(c)["restart"])
        self.assertEqual(self.broker.process.wait(5), 0)


class Expiry(Case):
    def setUp(self):
        super().setUp()
        self.broker.write_policy({"version": 2, "rules": [{"program": "true"}],
                                  "allowed_working_roots": [self.folder + "/work"],
                                  "approvals": {"expires_seconds": 1}})
        self.restart()

    def test_an_approval_expires_by_itself_and_is_recorded(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: "job.expired" in self.broker.auditor.types())
        self.refused("approval_expired", c.call, "job.run", {"job_id": job["id"], "execute": True})
        c.call("job.approve", {"job_id": job["id"], "by": "op"})
        self.assertEqual(c.call("job.run", {"job_id": job["id"], "execute": True})["status"], "succeeded")


class System(Case):
    mode = 1

    def test_who_proposed_a_job_cannot_approve_it(self):
        c = self.client()
        job = self.broker.submit(c, ["true"])
        self.refused("not_permitted", c.call, "job.approve", {"job_id": job["id"], "by": "op"})
        self.assertEqual(self.broker.auditor.types()[-1], "job.decision_refused")


class Peers(Case):
    """Another uid on propose.sock."""

    def as_uid(self, uid, function):
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                function()
                os._exit(0)
            except BaseException as error:
                os.write(2, ("%r\n" % error).encode())
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_a_proposer_sees_its_own_jobs_and_decides_nothing(self):
        hidden = self.broker.submit(self.client(), ["true"])

        def propose():
            c = Client(self.broker.propose)
            job = self.broker.submit(c, ["echo", "mine"])
            assert [j["id"] for j in c.call("job.list", {})["jobs"]] == [job["id"]]
            for method in ("job.approve", "job.deny", "job.run", "job.work", "job.cancel", "job.retry",
                           "policy.reload", "audit.segments", "audit.rotate", "audit.prune", "server.stop"):
                try:
                    c.call(method, {"job_id": job["id"], "by": "me"})
                    raise AssertionError(method)
                except Refused as refusal:
                    assert refusal.code == "not_permitted", refusal
            for method in ("job.get", "job.assess", "job.wait", "job.output"):
                try:
                    c.call(method, {"job_id": hidden["id"]})
                    raise AssertionError(method)
                except Refused as refusal:
                    assert refusal.code == "job_not_found", refusal
            assert c.call("audit.head", {})["size"] == 7

        self.as_uid(OWNER, propose)

    def test_a_shared_root_is_for_its_group(self):
        self.broker.stop()
        os.chown(self.broker.work, 0, OWNER + 2)
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log, root_flags=1 | 2).start()

        def member():
            assert self.broker.submit(Client(self.broker.propose), ["true"])["assessment"]["allowed"]

        def stranger():
            try:
                self.broker.submit(Client(self.broker.propose), ["true"])
                raise AssertionError("taken")
            except Refused as refusal:
                assert refusal.code == "not_permitted", refusal

        self.as_uid(OWNER + 2, member)
        self.as_uid(OWNER + 3, stranger)

    def test_somebody_elses_directory_is_refused(self):
        def propose():
            try:
                self.broker.submit(Client(self.broker.propose), ["true"])
                raise AssertionError("taken")
            except Refused as refusal:
                assert refusal.code == "not_permitted", refusal

        self.as_uid(OWNER + 1, propose)
        self.assertEqual(self.broker.auditor.records("job.refused")[0]["code"], "not_permitted")


class Work(Case):
    def test_twelve_workers_run_sixty_jobs_once_each(self):
        c = self.client()
        ids = [self.approved(c, ["true"], idempotency_key="k%d" % i)["id"] for i in range(60)]
        answers, lock = [], threading.Lock()

        def work():
            mine = Client(self.broker.control)
            while True:
                answer = mine.call("job.work", {"execute": True})
                if answer["status"] == "idle":
                    return mine.close()
                with lock:
                    answers.append(answer)

        threads = [threading.Thread(target=work) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(sorted(a["id"] for a in answers), sorted(ids))
        self.assertEqual({a["status"] for a in answers}, {"succeeded"})
        self.assertEqual(len(self.broker.executor.started), 60)
        self.assertEqual(self.broker.auditor.types().count("job.dispatch"), 60)

    def test_a_busy_executor_is_asked_again(self):
        self.broker.executor.busy = 3
        self.assertTrue(self.broker.submit(self.client(), ["true"])["assessment"]["allowed"])

    def test_wait_answers_when_it_is_time(self):
        c, w = self.client(), self.client()
        job = self.broker.submit(c, ["true"])
        begun = time.time()
        self.assertEqual(w.call("job.wait", {"job_id": job["id"], "timeout_ms": 100})["status"], "queued")
        self.assertLess(time.time() - begun, 2)
        w.send("job.wait", {"job_id": job["id"], "for": "decided"})
        c.call("job.approve", {"job_id": job["id"], "by": "op"})
        self.assertEqual(w.receive()["result"]["approval_status"], "approved")
        w.send("job.wait", {"job_id": job["id"]})
        c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual(w.receive()["result"]["status"], "succeeded")

    def test_pages_follow_a_cursor(self):
        c = self.client()
        ids = [self.broker.submit(c, ["echo", str(i)])["id"] for i in range(7)]
        seen, cursor = [], None
        while True:
            page = c.call("job.list", dict({"limit": 3}, **({"cursor": cursor} if cursor else {})))
            seen += [j["id"] for j in page["jobs"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
        self.assertEqual(seen, ids)
        self.assertEqual([j["id"] for j in c.call("job.list", {"limit": 2, "newest": True})["jobs"]], ids[:4:-1])
        c.call("job.approve", {"job_id": ids[0], "by": "op"})
        self.assertEqual([j["id"] for j in c.call("job.list", {"inbox": True})["jobs"]], ids[1:])
        self.assertEqual([j["id"] for j in c.call("job.list", {"approval": "approved"})["jobs"]], ids[:1])
        self.assertEqual(c.call("job.list", {"status": ["failed", "lost"]})["jobs"], [])

    def test_output_is_given_in_pieces_as_bytes(self):
        c = self.client()
        job = self.approved(c, ["sh", "-c", "printf 'abc\\377def'"])
        done = c.call("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual(done["result"]["stdout"], "abc\ufffddef")
        first = c.call("job.output", {"job_id": job["id"], "limit": 3})
        self.assertEqual((first["data"], first["next_offset"], first["end"]), ("abc", 3, False))
        rest = c.call("job.output", {"job_id": job["id"], "offset": 3})
        self.assertEqual((rest["data"], rest["end"], rest["stored_bytes"]), ({"b64": "/2RlZg=="}, True, 7))


class Wire(Case):
    def answer(self, data):
        c = self.client()
        c.send_bytes(data)
        return c.receive()

    def test_protocol_faults_have_their_numbers(self):
        for data, number in ((b"{\n", -32700), (b"[]\n", -32600), (b'{"jsonrpc":"2.0","method":"x"}\n', -32600),
                             (b'{"jsonrpc":"1.0","id":1,"method":"x"}\n', -32600),
                             (b'{"jsonrpc":"2.0","id":1,"method":"x","more":1}\n', -32600),
                             (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}\n', -32602),
                             (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}\n', -32700),
                             (b'{"jsonrpc":"2.0","id":1,"method":"nope"}\n', -32601)):
            error = self.answer(data)["error"]
            self.assertEqual((error["code"], error["data"]["code"]), (number, "invalid_input"), data)

    def test_requests_are_answered_in_order_however_they_are_cut(self):
        c = self.client()
        line = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"server.hello","params":{}}\n' % i for i in range(20))
        for at in range(0, len(line), 7):
            c.send_bytes(line[at:at + 7])
        self.assertEqual([c.receive()["id"] for _ in range(20)], list(range(20)))

    def test_a_line_without_end_is_refused_and_closed(self):
        c = self.client()
        try:
            c.send_bytes(b"x" * (1 << 20) + b"yyyy")
            self.assertEqual(c.receive()["error"]["code"], -32600)
            self.assertIsNone(c.receive())
        except ConnectionError:
            pass

    def test_a_client_that_does_not_read_stops_nobody(self):
        slow = self.client()
        big = self.broker.submit(self.client(), ["echo"] + ["x" * 131000] * 3)
        line = b'{"jsonrpc":"2.0","id":1,"method":"job.get","params":{"job_id":"%s"}}\n' % big["id"].encode()
        slow.socket.setblocking(False)
        try:
            for _ in range(10000):
                slow.socket.send(line)
        except BlockingIOError:
            pass
        self.assertEqual(self.client().call("server.hello", {})["socket"], "control")
        with open("/proc/%d/status" % self.broker.process.pid, encoding="ascii") as file:
            rss = int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
        self.assertLess(rss, 60000)

    def test_descriptors_are_refused_where_none_belongs(self):
        fd = os.open("/", os.O_RDONLY)
        self.refused("invalid_input", self.client().call, "server.hello", {}, [fd])
        before = len(os.listdir("/proc/%d/fd" % self.broker.process.pid))
        c = self.client()
        c.send("server.hello", {}, [fd, fd, fd])
        self.assertIsNone(c.receive())
        self.until(lambda: len(os.listdir("/proc/%d/fd" % self.broker.process.pid)) <= before)

    def test_one_user_cannot_take_every_place(self):
        taken = [self.client(self.broker.propose) for _ in range(70)]
        # Nobody is answered who has not asked, but those for whom there is no place.
        answered = select.select([t.socket for t in taken], [], [], 60)[0]
        self.assertTrue(answered)
        first = next(t for t in taken if t.socket is answered[0])
        self.assertEqual(first.receive()["error"]["data"]["code"], "busy")
        self.assertEqual(self.client().call("server.hello", {})["socket"], "control")

    def test_the_log_is_lent_to_operators_only(self):
        for i in range(3):
            path = self.folder + "/seg-%d" % i
            with open(path, "w", encoding="ascii") as file:
                file.write("line %d\n" % i)
            self.broker.auditor.segments.append(path)
        c = self.client()
        answer = c.call("audit.segments", {})
        self.assertEqual(answer["count"], 3)
        self.assertEqual([os.read(fd, 100) for fd in c.descriptors], [b"line 0\n", b"line 1\n", b"line 2\n"])
        head = c.call("audit.head", {"nonce": "ab" * 32})
        self.assertEqual((head["size"], head["hash"]), (7, "ab" * 32))
        self.refused("invalid_input", c.call, "audit.head", {"nonce": "x"})

    def test_what_an_approval_still_needs_is_not_pruned(self):
        c = self.client()
        self.assertEqual(c.call("audit.rotate", {})["size"], 7)
        self.assertEqual(c.call("audit.prune", {"before_seq": 40}), {"first_seq": 31, "segments": 2})
        self.assertEqual(self.broker.auditor.pruned[-1], (40, 2**63 - 1))
        job = self.broker.submit(c, ["echo"])
        before = time.time()
        c.call("job.approve", {"job_id": job["id"], "by": "ana"})
        c.call("audit.prune", {"before": "2100-01-01T00:00:00Z"})
        seq, us = self.broker.auditor.pruned[-1]
        self.assertEqual(seq, 2**63 - 1)
        self.assertTrue(before <= us / 1e6 <= time.time())
        for wrong in ({}, {"before": "yesterday"}, {"before_seq": 1, "before": "2100-01-01T00:00:00Z"}, {"before_seq": -2}):
            self.refused("invalid_input", c.call, "audit.prune", wrong)

    def test_status_says_what_is_in_force(self):
        status = self.client().call("server.status", {})
        self.assertEqual(status["pids"], {"broker": self.broker.process.pid, "executor": 11, "auditor": 12})
        self.assertTrue(status["policy_loaded"])
        self.assertFalse(status["policy_changed"])
        self.assertIn("landlock", status["layers"])

    def test_stop_answers_first(self):
        self.assertEqual(self.client().call("server.stop", {}), {"stopping": True})
        self.assertEqual(self.broker.process.wait(5), 0)

    def test_the_broker_holds_nothing_it_does_not_need(self):
        self.client().call("server.hello", {})
        with open("/proc/%d/status" % self.broker.process.pid, encoding="ascii") as file:
            status = file.read()
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertRegex(status, name + r":\s+0{16}")
        self.assertRegex(status, r"NoNewPrivs:\s+1")
        self.assertRegex(status, r"Seccomp:\s+2")


class Races(Case):
    """What others do to a job while an operation about it waits."""

    def at_once(self, *requests):
        """Requests of several clients that the broker reads in one go, in this order: their answers."""
        clients = [self.client() for _ in requests]
        for c in clients:
            c.call("server.hello", {})
        self.broker.process.send_signal(signal.SIGSTOP)
        for c, (method, params) in zip(clients, requests):
            c.send(method, params)
        self.broker.process.send_signal(signal.SIGCONT)
        return [c.receive() for c in clients]

    def code(self, answer):
        return answer["error"]["data"]["code"] if "error" in answer else None

    def test_a_job_may_be_pruned_under_every_method_that_waits(self):
        c = self.client()
        prune = ("queue.prune", {"older_than_seconds": 0})
        for method, more in (("job.wait", {}), ("job.assess", {}), ("job.run", {}), ("job.get", {}),
                             ("job.run", {"execute": True}), ("job.output", {"stream": "stdout"})):
            job = self.approved(c, ["true"], new=True)
            c.call("job.run", {"job_id": job["id"], "execute": True})
            answer, pruned = self.at_once((method, dict(more, job_id=job["id"])), prune)
            self.assertEqual(pruned["result"]["pruned"], 1)
            self.assertIn(self.code(answer), (None, "job_not_found"), method)
            self.refused("job_not_found", c.call, "job.get", {"job_id": job["id"]})

    def test_a_job_may_be_cancelled_and_pruned_while_it_is_assessed(self):
        c = self.client()
        ask = self.broker.executor.on_program_assess
        for method, more, approved in (("job.approve", {"by": "op"}, False), ("job.run", {"execute": True}, True),
                                       ("job.work", {"execute": True}, True), ("job.work", {}, True)):
            job = self.broker.submit(c, ["true"], new=True)
            if approved:
                c.call("job.approve", {"job_id": job["id"], "by": "op"})
            go, asked, other = threading.Event(), threading.Event(), self.client()
            self.broker.executor.on_program_assess = lambda *args: (asked.set(), go.wait(10), ask(*args))
            other.send(method, dict(more, job_id=job["id"]) if method != "job.work" else more)
            self.assertTrue(asked.wait(10))
            self.assertEqual(c.call("job.cancel", {"job_id": job["id"]})["status"], "cancelled")
            self.assertEqual(c.call("queue.prune", {"older_than_seconds": 0})["pruned"], 1)
            go.set()
            self.assertEqual(self.code(other.receive()), "job_not_found", method)
            self.broker.executor.on_program_assess = ask

    def add_runs(self, count):
        """So many ended runs for each job of the store, which nobody has open."""
        db = sqlite3.connect(self.folder + "/state/queue.db")
        names = [row[1] for row in db.execute("PRAGMA table_info(attempts)") if row[1] != "seq"]
        for job, in db.execute("SELECT seq FROM jobs").fetchall():
            for number in range(1, count + 1):
                row = dict.fromkeys(names, 0)
                row.update(job=job, number=number, slot=number % 4, digest=bytes(32), dispatched_us=1, outcome=2,
                           worker=None, boot_id=b"", out_sha256=b"", err_sha256=b"")
                db.execute("INSERT INTO attempts (%s) VALUES (%s)" % (", ".join(names), ", ".join("?" * len(names))),
                           [row[name] for name in names])
        db.commit()
        db.close()

    def test_folders_of_many_runs_go_as_fast_as_the_executor_listens_and_none_is_forgotten(self):
        c = self.client()
        for i in range(30):
            job = self.broker.submit(c, ["true"], new=True)
            c.call("job.cancel", {"job_id": job["id"]})
        c.close()
        self.broker.stop(signal.SIGKILL)
        self.add_runs(300)
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log).start()
        executor, listen = self.broker.executor, threading.Event()
        order = executor.on_run_prune
        executor.on_run_prune = lambda *args: (listen.wait(20), order(*args))
        c = self.client()
        self.assertEqual(c.call("queue.prune", {"older_than_seconds": 0})["pruned"], 30)
        self.assertEqual(c.call("job.list", {})["jobs"], [])
        listen.set()
        self.until(lambda: len(executor.pruned) == 9000, 20)
        self.assertEqual(len(set(executor.pruned)), 9000)
        # Nobody knows whether the executor has done it: a new start says it once more.
        c.close()
        self.restart()
        self.until(lambda: len(set(self.broker.executor.pruned)) == 9000, 20)

    def test_the_same_key_again_while_its_job_is_pruned(self):
        c, other = self.client(), self.client()
        job = self.approved(c, ["true"], idempotency_key="k")
        c.call("job.run", {"job_id": job["id"], "execute": True})
        other.call("server.hello", {})
        c.call("server.hello", {})
        self.broker.process.send_signal(signal.SIGSTOP)
        c.send("job.submit", {"command": ["true"], "idempotency_key": "k"}, [os.open(self.broker.work, os.O_RDONLY)])
        other.send("queue.prune", {"older_than_seconds": 0})
        self.broker.process.send_signal(signal.SIGCONT)
        self.assertIn("result", other.receive())
        answer = c.receive()
        self.assertTrue(self.code(answer) == "job_not_found" or answer["result"]["id"], answer)

    def test_who_waits_to_run_a_job_hears_at_once_what_others_do_to_it(self):
        c = self.client()
        self.broker.executor.silent = True
        first = self.approved(c, ["true"], mutex="one")
        running = self.client()
        running.send("job.run", {"job_id": first["id"], "execute": True})
        self.until(lambda: len(self.broker.executor.started) == 1)
        for step, told in (("job.cancel", lambda a: a["result"]["status"] == "cancelled"),
                           ("job.hold", lambda a: self.code(a) == "invalid_job_state")):
            job, waiter = self.approved(c, ["true"], new=True, mutex="one"), self.client()
            asked = self.broker.executor.questions
            waiter.send("job.run", {"job_id": job["id"], "execute": True})
            self.until(lambda: self.broker.executor.questions > asked)
            c.call("job.assess", {"job_id": job["id"]})  # questions are answered in order: it waits now
            c.call(step, {"job_id": job["id"]})
            answer = waiter.receive()
            self.assertTrue(told(answer), answer)
        self.assertEqual(len(self.broker.executor.started), 1)


class Records(Case):
    def test_nothing_takes_effect_before_its_record_is_acknowledged(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: len(self.broker.log) == 4)
        self.broker.auditor.hold.clear()
        c.send("job.run", {"job_id": job["id"], "execute": True})
        other = self.client()
        other.send("job.submit", {"command": ["echo"]}, [os.open(self.broker.work, os.O_RDONLY)])
        time.sleep(0.5)
        self.assertEqual(self.broker.executor.started, [])
        self.assertFalse(select.select([other.socket], [], [], 0)[0])
        self.broker.auditor.hold.set()
        self.assertEqual(c.receive()["result"]["status"], "succeeded")
        self.assertTrue(other.receive()["result"]["created"])

    def test_a_refused_record_means_no_effect_and_no_new_work(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: len(self.broker.log) == 4)
        self.broker.auditor.refuse = REFUSAL["REFUSAL_FULL"]
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.assertEqual(c.receive()["error"]["data"]["code"], "audit_integrity_error")  # told at once
        self.assertFalse(self.client().call("server.status", {})["audit_accepts"])
        self.refused("audit_integrity_error", self.broker.submit, self.client(), ["echo"])
        self.assertEqual(self.broker.executor.started, [])
        self.broker.auditor.refuse = None
        done = c.call("job.wait", {"job_id": job["id"]})  # it takes effect once there is space again
        self.assertEqual(done["status"], "succeeded")
        self.assertEqual(len(self.broker.executor.started), 1)

    def test_unacknowledged_records_are_sent_again_after_a_restart(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: len(self.broker.log) == 4)
        self.broker.auditor.hold.clear()
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.auditor.seen) == 5)
        c.close()
        self.restart()
        self.until(lambda: len(self.broker.executor.started) == 1)  # the plan had not left
        self.until(lambda: len(self.broker.executor.asked) == 1)    # which nobody could know
        done = self.client().call("job.wait", {"job_id": job["id"]})
        self.assertEqual(done["status"], "succeeded")
        self.assertEqual(self.broker.auditor.types().count("job.dispatch"), 1)

    def found_with_an_unsettled_dispatch(self):
        """The broker as a power cut leaves it between a plan's leaving and the note of its record: (client, job, run)."""
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: len(self.broker.log) == 4)
        self.broker.auditor.hold.clear()
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.auditor.seen) == 5)
        c.close()
        self.broker.stop(signal.SIGKILL)
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log)
        self.broker.start(serve=False)
        self.broker.executor.silent = True
        self.broker.auditor.hold.clear()
        c = self.client()
        return c, job, RUN.pack(bytes.fromhex(job["id"].replace("-", "")), 1, 0)

    def test_nobody_reads_of_a_run_before_it_was_asked_after_though_its_record_is_not_noted(self):
        c, job, run = self.found_with_an_unsettled_dispatch()
        answers = threading.Event()
        ask = self.broker.executor.on_run_ask
        self.broker.executor.on_run_ask = lambda *args: (answers.wait(), ask(*args))
        self.broker.executor.answer_ask[(run[:16].hex(), 1)] = "RUN_LOST"
        self.broker.auditor.start()
        self.broker.executor.start()
        # What it says unasked, before the record is there (again), is no breach and says nothing.
        self.until(lambda: len(self.broker.auditor.seen) == 1)
        self.broker.to_executor.send("RUN_LOST", run)
        c.send("job.get", {"job_id": job["id"]})
        self.broker.auditor.hold.set()
        self.until(lambda: len(self.broker.executor.started) == 1)
        self.assertFalse(select.select([c.socket], [], [], 0.3)[0])
        self.assertEqual(self.broker.executor.collected, [])
        answers.set()
        done = c.receive()["result"]
        self.assertEqual((done["status"], done["error_class"]), ("lost", "unknown_outcome"))

    def test_clients_are_served_when_the_log_takes_no_record_of_a_run_that_was_found(self):
        c, job, run = self.found_with_an_unsettled_dispatch()
        self.broker.auditor.refuse = REFUSAL["REFUSAL_FULL"]
        self.broker.auditor.hold.set()
        self.broker.auditor.start()
        self.broker.executor.start()
        self.assertFalse(c.call("server.status", {})["audit_accepts"])
        self.assertEqual((self.broker.executor.started, self.broker.executor.asked), ([], []))
        self.broker.auditor.refuse = None
        self.broker.executor.silent = False
        self.assertEqual(c.call("job.wait", {"job_id": job["id"]})["status"], "succeeded")

    def test_a_known_record_is_not_told_twice(self):
        c = self.client()
        self.approved(c, ["true"])
        self.until(lambda: self.broker.log[-1][1] == "job.queued")
        before = list(self.broker.log)
        c.close()
        self.restart()
        self.client().call("server.hello", {})
        self.assertEqual(self.broker.log, before)
        # That the last one is there was perhaps not noted yet: nobody waited for it.
        self.assertIn(self.broker.auditor.hello[1], (len(before) - 2, len(before) - 1))

    def test_a_run_is_asked_after_and_is_lost_when_nobody_knows_it(self):
        c = self.client()
        self.broker.executor.silent = True
        job = self.approved(c, ["true"])
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.executor.started) == 1)
        self.until(lambda: self.client().call("job.get", {"job_id": job["id"]})["status"] == "running")
        c.close()
        self.restart()
        done = self.client().call("job.wait", {"job_id": job["id"]})
        self.assertEqual((done["status"], done["error_class"]), ("lost", "unknown_outcome"))
        self.assertEqual(len(self.broker.executor.asked), 1)
        self.assertEqual(self.broker.executor.started, [])
        self.assertEqual(self.broker.auditor.types()[-1], "job.lost")

    def test_a_run_that_lives_stays_running_and_its_end_is_taken_once(self):
        c = self.client()
        self.broker.executor.silent = True
        job = self.approved(c, ["true"])
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.executor.started) == 1)
        c.close()
        raw = bytes.fromhex(job["id"].replace("-", ""))
        self.broker.stop(signal.SIGKILL)
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log)
        self.broker.start(serve=False)
        self.broker.executor.answer_ask[(raw.hex(), 1)] = "RUN_LIVES"
        self.broker.auditor.start()
        self.broker.executor.start()
        c = self.client()
        self.assertEqual(c.call("job.get", {"job_id": job["id"]})["status"], "running")
        run = RUN.pack(raw, 1, 0)
        os.makedirs(self.broker.executor.folder(run))
        for name in ("out", "err"):
            open(os.path.join(self.broker.executor.folder(run), name), "w", encoding="ascii").close()
        for _ in range(2):
            self.broker.executor.end(run, "OUTCOME_SUCCEEDED", 0, time.time())
        self.assertEqual(c.call("job.wait", {"job_id": job["id"]})["status"], "succeeded")
        self.until(lambda: len(self.broker.executor.collected) == 2)
        self.assertEqual(self.broker.auditor.types().count("job.finished"), 1)


class Ends(Case):
    """What must end the broker."""
    dies = True

    def ended(self, text):
        self.assertEqual(self.broker.process.wait(5), 1)
        self.assertIn(text, self.broker.stderr())

    def test_the_end_of_a_peer(self):
        self.client().call("server.hello", {})
        self.broker.to_executor.far.shutdown(socket.SHUT_RDWR)
        self.ended("the executor is gone")

    def test_the_end_of_the_auditor(self):
        self.client().call("server.hello", {})
        self.broker.to_auditor.far.shutdown(socket.SHUT_RDWR)
        self.ended("the auditor is gone")

    def test_an_executor_that_speaks_as_the_auditor(self):
        self.broker.to_executor.send("RECORD_SYNCED", bytes(56))
        self.ended("breach by executor")

    def test_an_answer_that_was_not_asked_for(self):
        self.client().call("server.hello", {})
        self.broker.to_executor.send("PROGRAM_ASSESSED", struct.pack("<QII", 1, 1, 0), [sealed(b"")])
        self.ended("not asked for")

    def test_a_record_acknowledged_out_of_turn(self):
        self.client().call("server.hello", {})
        self.broker.to_auditor.send("RECORD_SYNCED", struct.pack("<QQ32sII", 9, 9, bytes(32), 0, 0))
        self.ended("out of turn")

    def test_an_end_of_a_run_that_was_never_handed_over(self):
        c = self.client()
        job = self.approved(c, ["true"])
        self.until(lambda: len(self.broker.log) == 4)
        self.broker.auditor.hold.clear()
        c.send("job.run", {"job_id": job["id"], "execute": True})
        self.until(lambda: len(self.broker.auditor.seen) == 5)
        run = RUN.pack(bytes.fromhex(job["id"].replace("-", "")), 1, 0)
        self.broker.to_executor.send("RUN_LOST", run)
        self.ended("never handed over")

    def test_a_log_that_lost_records(self):
        self.approved(self.client(), ["true"])  # its answer is behind the acknowledgement
        self.broker.stop(signal.SIGKILL)
        self.broker = Broker(self.folder, None, self.mode, log=[]).start()
        self.ended("the log lost records")

    def test_a_queue_older_than_the_log(self):
        self.client().call("server.hello", {})
        self.broker.stop(signal.SIGKILL)
        log = self.broker.log + [(n, "job.retry", b"{}", 0) for n in range(len(self.broker.log), 9)]
        self.broker = Broker(self.folder, None, self.mode, log=log).start()
        self.ended("older than the log")

    def test_a_second_broker_on_one_queue(self):
        self.client().call("server.hello", {})
        second = Broker(self.folder, None, self.mode)
        for name in ("propose.sock", "control.sock"):
            os.unlink(self.folder + "/" + name)
        second.start()
        self.assertEqual(second.process.wait(5), 1)
        second.stop()
        self.broker.stop(signal.SIGKILL)

    def test_a_newer_queue(self):
        import sqlite3
        self.client().call("server.hello", {})
        self.broker.stop()
        with sqlite3.connect(self.folder + "/state/queue.db") as db:
            db.execute("PRAGMA user_version = 1000")
        db.close()
        self.broker = Broker(self.folder, None, self.mode, log=self.broker.log).start()
        self.ended("version 1000")


if __name__ == "__main__":
    unittest.main()
