"""Runs the unittest cases of one file and says how each went in TAP: tap.py FILE."""
import importlib.util
import sys
import unittest


class Tap(unittest.TestResult):
    number = 0

    def say(self, word, test, note=""):
        self.number += 1
        title = test.id().split(".", 1)[-1] if hasattr(test, "id") else str(test)
        print(f"{word} {self.number} - {title}{note}", flush=True)

    def explain(self, text):
        for line in text.splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("ok", test, " # SKIP " + reason)

    def addExpectedFailure(self, test, error):
        self.say("ok", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say("not ok", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say("not ok", test)
        self.explain(self._exc_info_to_string(error, test))

    addError = addFailure


spec = importlib.util.spec_from_file_location("tests", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
print(f"1..{suite.countTestCases()}", flush=True)
result = Tap()
suite.run(result)
sys.exit(0 if result.wasSuccessful() else 1)
