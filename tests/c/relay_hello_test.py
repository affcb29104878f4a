# SPDX-License-Identifier: Apache-2.0
"""How the relay is called, and what it tells the core of the task in whose place it stands."""
import os
import resource
import struct
import subprocess
import tempfile
import unittest

import podinit_wire as wire
from podinit_driver import LIMIT, read_text
from podinit_wire import STDOUT
from relay_driver import BINARY, RelayTest


class Hello(RelayTest):
    def test_arguments(self):
        words = ["./job", "", "two words", "last"]
        for prepend in (False, True):
            relay = self.relay(words, prepend=prepend)
            self.assertEqual(relay.values("A"), words)

    def test_arguments_that_look_like_our_own(self):
        words = ["/bin/job", "--task", "--", "x"]
        for prepend in (False, True):
            self.assertEqual(self.relay(words, prepend=prepend).values("A"), words)

    def test_environment_without_its_own_variables(self):
        relay = self.relay(environment={"X": "a=b", "EMPTY": "", "SLURM_K8S_IMAGE": "i"})
        self.assertEqual(sorted(v for v in relay.values("E") if not v.startswith(("ASAN", "LC_"))),
                         ["EMPTY=", "PATH=/usr/bin:/bin", "SLURM_JOB_ID=7", "SLURM_K8S_IMAGE=i", "X=a=b"])

    def test_directory(self):
        relay = self.relay(cwd="/usr/bin")
        self.assertEqual(relay.values("D"), ["/usr/bin"])

    def test_directory_by_its_logical_name(self):
        with tempfile.TemporaryDirectory() as directory:
            link = os.path.join(directory, "link")
            os.symlink("/usr/bin", link)
            for pwd, want in ((link, link), ("/nowhere", "/usr/bin"), (directory, "/usr/bin"), ("bin", "/usr/bin")):
                relay = self.relay(cwd=link, environment={"PWD": pwd})
                self.assertEqual(relay.values("D"), [want])

    def test_umask_and_limits(self):
        def prepare():
            os.umask(0o27)
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
        relay = self.relay(preexec_fn=prepare)
        records = dict((t, v) for t, _, v in relay.records if t == "U")
        self.assertEqual(records["U"], (0o27).to_bytes(4, "big"))
        limits = {struct.unpack(">IQQ", v)[0]: struct.unpack(">IQQ", v)[1:] for t, _, v in relay.records if t == "L"}
        self.assertEqual(limits[resource.RLIMIT_NOFILE], (100, 200))
        self.assertEqual(len(limits), 16)
        soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
        self.assertEqual(limits[resource.RLIMIT_CPU], tuple(x % (1 << 64) for x in (soft, hard)))

    def test_script(self):
        for size in (0, 1, 65536, 4 << 20):
            with tempfile.NamedTemporaryFile() as file:
                data = (b"#!/bin/sh\n" + os.urandom(size))[:size] if size else b""
                file.write(data)
                file.flush()
                relay = self.relay([file.name, "argument"], batch=True)
                parts = [v for t, _, v in relay.records if t == "S"]
                self.assertTrue(parts)
                self.assertTrue(b"".join(parts) == data)
                self.assertEqual(relay.values("A"), [file.name, "argument"])

    def test_no_script_for_a_command(self):
        self.assertEqual(self.relay(["/bin/sh"]).values("S"), [])

    def test_script_that_cannot_be_read(self):
        for path in ("/nowhere/script", "/usr"):
            relay = self.relay([path], batch=True, hello=False)
            self.assertEqual(relay.wait(), 1)
            self.assertIn("slurm-k8s: error: the job's script %s cannot be read" % path, read_text(relay.err))

    def test_pull_secret(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b'{"auths": {}}\0 any bytes')
            file.flush()
            relay = self.relay(environment={"SLURM_K8S_PULL_FILE": file.name})
            self.assertEqual([v for t, _, v in relay.records if t == "K"], [b'{"auths": {}}\0 any bytes'])
            self.assertFalse([v for v in relay.values("E") if v.startswith("SLURM_K8S_PULL_FILE")])
            self.assertEqual([v for t, _, v in self.relay().records if t == "K"], [])

    def test_pull_secret_refused(self):
        with tempfile.NamedTemporaryFile() as file:
            def refused(path, why):
                relay = self.relay(environment={"SLURM_K8S_PULL_FILE": path}, hello=False)
                self.assertEqual(relay.wait(), 1)
                self.assertIn('slurm-k8s: error: --k8s-pull-secret: %s: "%s"' % (why, path), read_text(relay.err))
            refused("/nowhere/file", "No such file or directory")
            refused("/dev/null", "not a file")
            os.chmod(file.name, 0o640)
            refused(file.name, "others may read the file (chmod 600 it)")
            os.chmod(file.name, 0o600)
            file.truncate(65537)
            refused(file.name, "the file is larger than 64 KiB")
            os.chown(file.name, 65534, 65534)
            refused(file.name, "the file is not your own")

    def test_script_too_large(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(17 << 20)
            relay = self.relay([file.name], batch=True, hello=False)
            with self.assertRaises(EOFError):
                relay.until("its end", lambda: False)
            self.assertEqual(relay.wait(), 1)
            self.assertIn("larger than 16 MiB", read_text(relay.err))

    def test_one_file_for_both_outputs(self):
        def says(out, err):
            relay = self.relay(stdout=out, stderr=err)
            return [v for t, _, v in relay.records if t == "O"]
        with tempfile.NamedTemporaryFile() as file:
            one, same, other = (open(file.name, mode) for mode in ("ab", "ab", "r+b"))
            for each in (one, same, other):
                self.addCleanup(each.close)
            self.assertEqual(says(one, same), [b""])
            self.assertEqual(says(one, one), [b""])
            self.assertEqual(says(one, other), [], "one that writes where it stands")
        reading, writing = self.pipe()
        self.assertEqual(says(writing, writing), [b""])
        self.assertEqual(says(writing, self.pipe()[1]), [])
        self.assertEqual(says(None, None), [])

    def test_no_terminal(self):
        self.assertEqual([t for t, _, _ in self.relay().records if t == "T"], [])

    def test_called_by_hand(self):
        for variables in ({}, {"SLURM_K8S_RELAY_FD": "0", "SLURM_K8S_ARGV0": "x"}, {"SLURM_K8S_RELAY_FD": "99", "SLURM_K8S_ARGV0": "x"},
                          {"SLURM_K8S_RELAY_FD": "3x", "SLURM_K8S_ARGV0": "x"}):
            done = subprocess.run([BINARY], env=variables, capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "slurm-k8s: error: the relay was not started by Slurm's plugin\n")

    def test_small_limits(self):
        if "asan" in BINARY:
            self.skipTest("a sanitizer needs address space")

        def prepare():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 20, 4 << 20))
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
            resource.setrlimit(resource.RLIMIT_STACK, (128 << 10, 128 << 10))
        relay = self.relay(preexec_fn=prepare)
        relay.send(wire.DATA, bytes(65536), stream=STDOUT)
        relay.until_acknowledged(STDOUT, 65536)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)


if __name__ == "__main__":
    unittest.main()
