# SPDX-License-Identifier: Apache-2.0
"""What the tests of podinit stand on: a step of it, driven as the core would drive it."""
import hashlib
import os
import unittest

from podinit_driver import Step

WINDOW = 1024 * 1024
INPUT_WINDOW = 256 * 1024


class PodinitTest(unittest.TestCase):
    isolated = False

    def step(self, **options):
        step = Step(isolated=self.isolated, **options)
        self.addCleanup(step.close)
        return step

    def begin(self, **options):
        step = self.step(**options)
        return step, step.connect()

    def file(self, step, name, data, mode=0o755):
        path = os.path.join(step.directory, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, mode)
        return path

    def blob(self, step, repeats):
        """A file of 1 MiB, the shell words that print it `repeats` times, and their hash."""
        data = os.urandom(1 << 20)
        path = self.file(step, "blob", data, 0o644)
        digest = hashlib.sha256()
        for _ in range(repeats):
            digest.update(data)
        return "for i in $(seq %d); do cat %s; done" % (repeats, path), digest.hexdigest()


def load_tests(loader, tests, pattern):
    if os.geteuid() == 0:
        return tests
    print("not root: the tests in a pid namespace are left out")
    return unittest.TestSuite(test for group in tests for test in group if not test.isolated)
