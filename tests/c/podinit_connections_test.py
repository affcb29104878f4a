# SPDX-License-Identifier: Apache-2.0
"""Who connects to podinit, well and badly; the pump. PODINIT names the build to test."""
import os
import random
import signal
import stat
import subprocess
import unittest

import podinit_driver as driver
import podinit_wire as wire
from podinit_case import PodinitTest, load_tests
from podinit_driver import SESSION, wait_for
from podinit_wire import STDOUT, record


class Connections(PodinitTest):
    def test_hello_says_state_version_and_input(self):
        step, core = self.begin()
        self.assertEqual(core.phase(), wire.WAITING)
        self.assertRegex(core.said("V")[0].decode(), r"^\d+\.\d+\.\d+")
        self.assertEqual([tag for tag, _, _ in core.records], ["X", "V"])
        core.run("/bin/cat", tasks=3)
        core.send(wire.DATA, b"12345", task=1, stream=wire.STDIN)
        core.until("an acknowledgement", lambda: core.acknowledged.get(1) == 5)
        core = step.connect()
        self.assertEqual(core.phase(), wire.STARTED)
        self.assertEqual([int.from_bytes(core.said("I", k)[0], "big") for k in range(3)], [0, 5, 0])
        core.signal(signal.SIGKILL, task=wire.ALL)
        core.finish(tasks=3)

    def test_newest_pump_wins(self):
        step, core = self.begin()
        core.run("/bin/cat")
        os.kill(core.process.pid, signal.SIGSTOP)
        new = step.connect()
        self.assertEqual(core.process.wait(driver.LIMIT), -signal.SIGKILL)
        new.send(wire.EOF, task=0)
        self.assertEqual(new.finish(), 0)

    def test_a_pump_without_hello_displaces_nobody(self):
        step, core = self.begin()
        silent = step.connect(hello=False)
        silent.until_connected()
        core.run("/bin/cat")
        other = step.connect(hello=False)
        silent.until_closed()
        core.beat(7)
        other.close()
        core.send(wire.EOF, task=0)
        self.assertEqual(core.finish(), 0)

    def refused(self, data):
        step, core = self.begin()
        bad = step.connect(hello=False)
        bad.raw(data)
        bad.until_closed()
        self.assertEqual(bad.queue, [])
        bad.process.wait(driver.LIMIT)
        core.beat(1)
        core.shell("exit 6")
        self.assertEqual(core.finish(), 6)

    def test_wrong_session(self):
        self.refused(wire.Frame(wire.HELLO, session=SESSION + 1, task=wire.ALL).encode())

    def test_no_hello(self):
        self.refused(wire.Frame(wire.HEARTBEAT, session=SESSION, task=wire.ALL).encode())

    def test_garbage(self):
        self.refused(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + os.urandom(4096))

    def test_start_in_pieces_broken_off(self):
        step, core = self.begin()
        data = record("N", b"\0\0\0\1") + record("A", "/bin/false")
        core.raw(wire.Frame(wire.START, flags=wire.MORE, session=SESSION, task=wire.ALL, payload=data[:20]).encode())
        core.beat(1)
        core.close()
        core = step.connect()
        self.assertEqual(core.phase(), wire.WAITING)
        core.shell("echo once; exit 8")
        self.assertEqual(core.finish(), 8)
        self.assertEqual(step.text(), "once\n")

    def test_start_in_pieces_of_every_size(self):
        for size in (1, 11, 12, 13, 4096):
            step, core = self.begin()
            data = b"".join([record("N", b"\0\0\0\1"), record("A", "/bin/echo"), record("A", "a b"), record("E", "X=1")])
            for frame in wire.pieces(wire.START, SESSION, data, size=size):
                core.raw(frame.encode())
            self.assertEqual(core.finish(), 0)
            self.assertEqual(step.text(), "a b\n")

    def test_start_that_makes_no_sense(self):
        one = record("N", b"\0\0\0\1")
        for data in (b"", record("A", "/bin/true"), record("N", b"\0\0\0\0"), record("N", b"\0\0\x10\1"),
                     one + record("A", "/bin/true", task=1), one + record("A", b"/bin/tr\0ue"), one + b"A", one[:-1]):
            step, core = self.begin()
            core.send(wire.START, data)
            core.until_closed()
            core = step.connect()
            self.assertEqual(core.phase(), wire.WAITING)
            core.shell("exit 2")
            self.assertEqual(core.finish(), 2)

    def test_start_too_long(self):
        step, core = self.begin()
        piece = wire.Frame(wire.START, flags=wire.MORE, session=SESSION, task=wire.ALL, payload=bytes(65536)).encode()
        try:
            for _ in range(257):
                core.raw(piece)
        except BrokenPipeError:
            pass
        core.until_closed()
        self.assertEqual(step.connect().phase(), wire.WAITING)

    def test_second_start_is_answered_and_ignored(self):
        step, core = self.begin()
        core.run("/bin/cat")
        core.shell("echo twice")
        core.send(wire.EOF, task=0)
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text(), "")

    def test_frames_that_make_no_sense(self):
        for fields in (dict(type=wire.DATA, stream=STDOUT, payload=b"x", task=0), dict(type=wire.DATA, payload=b"x", task=1),
                       dict(type=wire.DATA, payload=b"x", task=0, offset=1), dict(type=wire.EOF, task=0, offset=1),
                       dict(type=wire.ACK, stream=3, task=0), dict(type=wire.ACK, stream=0, task=0), dict(type=wire.ACK, stream=1),
                       dict(type=wire.SIGNAL, task=0), dict(type=wire.SIGNAL, payload=b"\0\0\0\0", task=0),
                       dict(type=wire.SIGNAL, payload=b"\0\0\1\0", task=0), dict(type=wire.SIGNAL, payload=b"\0\0\0\1", task=1),
                       dict(type=wire.WINSIZE, payload=b"\0", task=0), dict(type=wire.EXIT, payload=bytes(32), task=0)):
            step, core = self.begin()
            core.run("/bin/cat")
            core.send(**fields)
            core.until_closed()
            core = step.connect()
            core.send(wire.EOF, task=0)
            self.assertEqual(core.finish(), 0, fields)

    def test_frames_at_random(self):
        """Whatever comes, podinit lives, and a right core finds it as it was."""
        step, core = self.begin()
        core.run("/bin/sleep", "1000", tasks=2)
        dice = random.Random(7)
        types = [wire.HELLO, wire.START, wire.DATA, wire.ACK, wire.HEARTBEAT, wire.WINSIZE, wire.EOF, wire.EXIT]
        for _ in range(60):
            core = step.connect()
            for _ in range(20):
                fields = dict(stream=dice.choice((0, 0, 1, 2, 3)), flags=dice.randrange(256), task=dice.choice((0, 0, 2, wire.ALL)),
                              offset=dice.choice((0, 0, 1, 1 << 63)), payload=dice.randbytes(dice.choice((0, 4, 4, 32, 5000))))
                try:
                    core.send(dice.choice(types), **fields)
                except BrokenPipeError:
                    break
            core.close()
        core = step.connect()
        core.beat(1)
        core.send(wire.SIGNAL, int(signal.SIGKILL).to_bytes(4, "big"))
        self.assertEqual(core.finish(tasks=2), 137)

    def test_heartbeat(self):
        step, core = self.begin()
        core.beat(1)
        core.run("/bin/cat")
        core.beat(0xFFFFFFFFFFFFFFFF)
        core.send(wire.EOF, task=0)
        core.finish()

    def test_socket_is_private(self):
        step = self.step()
        self.assertEqual(stat.S_IMODE(os.stat(step.directory + "/socket").st_mode), 0o600)

    def test_another_user_is_refused(self):
        if os.geteuid():
            self.skipTest("needs root to be another user")
        step, core = self.begin()
        for name in (step.directory, step.directory + "/socket"):
            os.chmod(name, 0o777)
        other = subprocess.run([*driver.AS_USER, *step.pump], input=wire.Frame(wire.HELLO, session=SESSION).encode(),
                               capture_output=True, timeout=driver.LIMIT)
        self.assertEqual(other.stdout, b"")
        core.shell("exit 1")
        self.assertEqual(core.finish(), 1)
        self.assertIn("another user", step.read_log())


class Pump(PodinitTest):
    def test_no_podinit(self):
        step, core = self.begin()
        core.shell("exit 0")
        core.finish()
        self.assertEqual(subprocess.run(step.pump, stdin=subprocess.DEVNULL, capture_output=True).returncode, 69)

    def test_ends_when_the_client_goes(self):
        step, core = self.begin()
        core.process.stdin.close()
        self.assertEqual(core.process.wait(driver.LIMIT), 0)

    def test_ends_when_nobody_reads(self):
        step, core = self.begin()
        core.shell("while :; do echo x; done")
        core.process.stdout.close()
        core.process.wait(driver.LIMIT)

    def test_ends_with_podinit(self):
        step, core = self.begin()
        os.kill(step.pid, signal.SIGKILL)
        self.assertEqual(core.process.wait(driver.LIMIT), 0)

    def test_to_a_file(self):
        """Where splice does not work: a file opened to append."""
        step, core = self.begin()
        path = step.directory + "/out"
        open(path, "w").close()
        with open(path, "ab") as out:
            pump = subprocess.Popen(step.pump, stdin=subprocess.PIPE, stdout=out)
        pump.stdin.write(wire.Frame(wire.HELLO, session=SESSION, task=wire.ALL).encode())
        pump.stdin.flush()
        wait_for("hello in the file", lambda: os.path.getsize(path) > 32)
        pump.stdin.close()
        self.assertEqual(pump.wait(driver.LIMIT), 0)

    def test_wrong_words(self):
        binary = self.step().init[0]
        for words in ([], ["other"], ["init"], ["init", "--session=1"], ["init", "--session=0000000000000000"],
                      ["init", "--session=0123456789abcdef", "--linger=-1"], ["pump", "--session=0123456789abcdef", "x"]):
            self.assertEqual(subprocess.run([binary, *words], capture_output=True).returncode, 64, words)


if __name__ == "__main__":
    unittest.main()
