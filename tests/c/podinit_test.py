# SPDX-License-Identifier: Apache-2.0
"""podinit, driven as the core would drive it. PODINIT names the build to test."""
import hashlib
import os
import random
import signal
import stat
import subprocess
import unittest

import podinit_driver as driver
import podinit_wire as wire
from podinit_driver import SESSION, Step, read_text, wait_for, write_text
from podinit_wire import STDERR, STDOUT, record

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


class Ends(PodinitTest):
    def test_exit_codes(self):
        for code in (0, 7, 255):
            step, core = self.begin()
            core.shell("exit %d" % code)
            self.assertEqual(core.finish(), code)
            self.assertEqual(step.exits[0].status, code << 8)

    def test_signals(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            step, core = self.begin()
            core.shell("ulimit -c 0; kill -%d $$" % number)
            self.assertEqual(core.finish(), 128 + number)
            self.assertEqual(step.exits[0].status & 0x7F, number)

    def test_usage(self):
        step, core = self.begin()
        core.shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
        core.finish()
        usage = step.exits[0]
        self.assertGreater(usage.utime + usage.stime, 0)
        self.assertGreater(usage.peak, 100000)
        self.assertEqual(usage.oom, 0)

    def test_report(self):
        step, core = self.begin()
        core.shell("exit 2")
        core.finish()
        self.assertRegex(step.report(), r"^task=0 status=512 oom=0 utime=\d+ stime=\d+ peak=\d+\n$")

    def test_oom_kills_since_start(self):
        for name, before, after in (("memory.events", "low 0\noom 9\noom_kill 2\noom_group_kill 1\n", "oom_kill 5\n"),
                                    ("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n",
                                     "under_oom 1\noom_kill 10\n")):
            step = self.step()
            path = os.path.join(step.cgroup, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_text(path, before)
            core = step.connect()
            core.run("/bin/cat")
            write_text(path, after)
            core.send(wire.EOF, task=0)
            core.finish()
            self.assertEqual(step.exits[0].oom, 3)

    def test_linger_without_core(self):
        step, core = self.begin(linger=1)
        core.shell("exit 5")
        core.until("exit", lambda: step.exits)
        core.close()
        self.assertEqual(step.wait(), 5)

    def test_core_that_comes_late_gets_all(self):
        step, core = self.begin()
        core.shell("echo kept; exit 9")
        core.close()
        wait_for("the report", step.report)
        core = step.connect()
        self.assertEqual(core.phase(), wire.ENDED)
        self.assertEqual(core.finish(), 9)
        self.assertEqual(step.text(), "kept\n")

    def test_detach_before_the_end_is_ignored(self):
        step, core = self.begin()
        core.send(wire.DETACH)
        core.run("/bin/cat")
        core.send(wire.DETACH)
        core.beat(1)
        core.send(wire.EOF, task=0)
        self.assertEqual(core.finish(), 0)

    def test_leftovers_are_killed(self):
        step, core = self.begin()
        core.shell("trap '' TERM; sleep 1001 & setsid sleep 1002 & (setsid sleep 1003 &) ; echo ready; exit 3")
        self.assertEqual(core.finish(), 3)
        wait_for("the leftovers' ends", lambda: not self.running(step, "sleep 100"))

    def running(self, step, words):
        """Lines of ps for processes with these words in the directory's environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if words not in read_text("/proc/%s/cmdline" % pid).replace("\0", " "):
                    continue
                if ("MARK=" + step.directory) in read_text("/proc/%s/environ" % pid):
                    found.append(pid)
            except OSError:
                pass
        return found

    def test_leftover_that_forks(self):
        step, core = self.begin()
        core.shell("(while :; do (:) & (:) & wait; done) & exit 4")
        self.assertEqual(core.finish(), 4)

    def test_grandchild_does_not_delay_the_exit_of_its_task(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "setsid sleep 1000 & echo done", task=0),
                   record("A", "exec cat", task=1), tasks=2)
        core.until("exit of task 0", lambda: 0 in step.exits)
        self.assertNotIn(1, step.exits)
        self.assertEqual(step.text(0), "done\n")
        core.send(wire.EOF, task=1)
        self.assertEqual(core.finish(tasks=2), 0)


class IsolatedEnds(Ends):
    isolated = True

    def test_every_kill_spares_the_pump(self):
        step, core = self.begin()
        core.shell("trap '' TERM INT HUP; sleep 1000 & echo ready; while :; do wait; done")
        core.until_text("ready")
        core.signal(signal.SIGKILL, task=wire.ALL, flags=wire.EVERY)
        self.assertEqual(core.finish(), 137)

    def test_orphans_are_reaped(self):
        step, core = self.begin()
        core.shell("(sh -c 'exit 0' & sh -c 'exit 0' &) ; echo ready; read line")
        core.until_text("ready")
        proc = "/proc/%d/task/%d/children" % (step.pid, step.pid)
        wait_for("one child", lambda: len(read_text(proc).split()) == 1)
        core.send(wire.EOF, task=0)
        core.finish()

    def test_runs_without_privileges(self):
        step, core = self.begin()
        core.shell("id -u; id -G; grep -E 'Cap(Eff|Bnd)' /proc/self/status; cat /proc/1/comm")
        core.finish()
        self.assertEqual(step.text().split(), ["12345", "12345", "CapEff:", "0" * 16, "CapBnd:", "0" * 16, "podinit"])


class Output(PodinitTest):
    def test_apart(self):
        step, core = self.begin()
        core.shell("for i in $(seq 1000); do echo out $i; echo err $i >&2; done")
        core.finish()
        self.assertEqual(step.text(0, STDOUT), "".join("out %d\n" % i for i in range(1, 1001)))
        self.assertEqual(step.text(0, STDERR), "".join("err %d\n" % i for i in range(1, 1001)))

    def test_checksum_of_128_mib(self):
        step, core = self.begin()
        script, digest = self.blob(step, 128)
        core.shell(script)
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_pump_killed_again_and_again(self):
        step, core = self.begin()
        script, digest = self.blob(step, 48)
        core.shell(script)
        for megabytes in range(4, 44, 4):
            core.until("%d MiB" % megabytes, lambda: step.stream(0, STDOUT).offset >= megabytes << 20)
            os.kill(core.pump_pid(), signal.SIGKILL)
            core = step.connect()
            self.assertEqual(core.said("X")[0][3] >= wire.STARTED, True)
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_frames_that_were_lost_come_again(self):
        step, core = self.begin()
        script, digest = self.blob(step, 8)
        core.acknowledging = False
        core.shell(script)
        core.until("a full window", lambda: step.stream(0, STDOUT).offset == WINDOW)
        core.close()
        step.streams.clear()
        core = step.connect()
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_unacknowledged_is_bounded_by_the_window(self):
        step, core = self.begin()
        script, digest = self.blob(step, 8)
        core.acknowledging = False
        core.shell(script)
        core.until("a full window", lambda: step.stream(0, STDOUT).offset == WINDOW)
        for counter in range(20):
            core.beat(counter)
        self.assertEqual(step.stream(0, STDOUT).offset, WINDOW)
        core.acknowledging = True
        core.acknowledge({(0, STDOUT)})
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_reader_stalls_and_a_new_one_comes(self):
        step, core = self.begin()
        script, digest = self.blob(step, 32)
        core.shell(script)
        os.kill(core.pump_pid(), signal.SIGSTOP)
        new = step.connect()
        new.finish()
        # Frames that the old pump had before it was killed are no loss: they come again.
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_slow_reader_of_an_ended_task(self):
        """What is in the pipe when all is killed arrives, however late the reader asks."""
        step, core = self.begin()
        script, digest = self.blob(step, 2)
        core.acknowledging = False
        core.shell(script)
        core.until("a full window", lambda: step.stream(0, STDOUT).offset == WINDOW)
        core.acknowledging = True
        core.acknowledge({(0, STDOUT)})
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)

    def test_both_streams_at_full_speed(self):
        step, core = self.begin()
        script, digest = self.blob(step, 24)
        core.shell("( %s ) & ( %s ) >&2; wait" % (script, script))
        core.finish()
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), digest)
        self.assertEqual(step.stream(0, STDERR).hash.hexdigest(), digest)

    def test_acknowledgement_of_what_was_never_sent(self):
        step, core = self.begin()
        core.shell("echo x; read line")
        core.until_text("x\n")
        core.send(wire.ACK, task=0, stream=STDOUT, offset=3)
        core.until_closed()
        core = step.connect()
        core.send(wire.EOF, task=0)
        core.finish()


class IsolatedOutput(PodinitTest):
    isolated = True
    test_checksum_of_128_mib = Output.test_checksum_of_128_mib
    test_pump_killed_again_and_again = Output.test_pump_killed_again_and_again
    test_reader_stalls_and_a_new_one_comes = Output.test_reader_stalls_and_a_new_one_comes


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


class Tasks(PodinitTest):
    def test_environment(self):
        step, core = self.begin()
        core.start(record("A", "/usr/bin/env"), record("E", "BOTH=all"), record("E", "BOTH=mine", task=0),
                   record("E", "NEW=a=b"), record("E", "NOEQUALS"), record("E", "=x"), record("E", "OTHER=1", task=1), tasks=2)
        core.finish(tasks=2)
        self.assertEqual(sorted(step.text(0).split()), ["BOTH=mine", "FROM_IMAGE=yes", "HOME=/image", "NEW=a=b", "PATH=/usr/bin:/bin"])
        self.assertIn("BOTH=all", step.text(1))
        self.assertIn("OTHER=1", step.text(1))

    def test_home_only_where_it_is(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "echo $HOME"), record("H", "/usr", task=0),
                   record("H", "/nowhere", task=1), tasks=2)
        core.finish(tasks=2)
        self.assertEqual((step.text(0), step.text(1)), ("/usr\n", "/image\n"))

    def test_directory(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "pwd; echo $PWD"), record("D", "/usr/bin"))
        core.finish()
        self.assertEqual(step.text(), "/usr/bin\n/usr/bin\n")

    def test_missing_directory(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "pwd; echo $PWD"), record("D", "/home/nobody here"))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text(), "/\n/\n")
        self.assertEqual(step.text(0, STDERR), 'slurm-k8s: directory "/home/nobody here" is not in the image; starting in "/"\n')

    def test_missing_directory_and_the_images_own(self):
        step, core = self.begin(limits=["env", "-C", "/usr/share"])
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "pwd; echo $PWD"), record("D", "/home/nobody here"))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text(), "/usr/share\n/usr/share\n")
        self.assertRegex(step.text(0, STDERR), 'is not in the image; starting in "/usr/share"\n$')

    def test_missing_directory_that_is_required(self):
        step, core = self.begin()
        core.start(record("A", "/bin/pwd"), record("D", "/nowhere"), record("R"))
        self.assertEqual(core.finish(), 1)
        self.assertEqual(step.text(), "")
        self.assertEqual(step.text(0, STDERR), 'slurm-k8s: error: the job\'s directory "/nowhere" is not in the container\n')

    def test_umask(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "umask"), record("U", (0o27).to_bytes(4, "big")))
        core.finish()
        self.assertEqual(step.text(), "0027\n")

    def limit(self, resource, soft, hard):
        return record("L", resource.to_bytes(4, "big") + soft.to_bytes(8, "big") + hard.to_bytes(8, "big"))

    def test_limits(self):
        infinite = (1 << 64) - 1
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"),
                   record("A", "ulimit -Sn; ulimit -Hn; ulimit -Sf; ulimit -Hf; ulimit -Sc; ulimit -Hc"),
                   self.limit(7, 100, 200), self.limit(1, 512 * 5, 512 * 5), self.limit(4, infinite, 0), self.limit(999, 1, 1))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text().split(), ["100", "200", "5", "5", "0", "0"])

    def test_limits_without_records_are_those_podinit_was_given(self):
        step = self.step(limits=["prlimit", "--nofile=111:222"])
        core = step.connect()
        core.shell("ulimit -Sn; ulimit -Hn")
        core.finish()
        self.assertEqual(step.text().split(), ["111", "222"])

    def test_command_not_found(self):
        for command in ("no-such-command", "/no/such/command", "podinit"):
            step, core = self.begin()
            core.start(record("A", command), record("D", step.directory))
            self.assertEqual(core.finish(), 127)
            self.assertEqual(step.text(0, STDERR), 'slurm-k8s: "%s": command not found in the image\n' % command)

    def test_command_in_the_path_of_the_task(self):
        step, core = self.begin()
        self.file(step, "mine", b"#!/bin/sh\necho mine $1\n")
        core.start(record("A", "mine"), record("A", "x"), record("E", "PATH=/nowhere:/etc/passwd:%s" % step.directory))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text(), "mine x\n")

    def test_command_not_executable(self):
        step, core = self.begin()
        core.run("/etc/passwd")
        self.assertEqual(core.finish(), 126)
        self.assertEqual(step.text(0, STDERR), 'slurm-k8s: "/etc/passwd": cannot be executed in the image: Permission denied\n')

    def test_command_that_is_no_program(self):
        step, core = self.begin()
        path = self.file(step, "text", b"echo no interpreter line\n")
        core.run(path)
        self.assertEqual(core.finish(), 126)
        self.assertIn("neither a program for this machine nor a script with a #! line", step.text(0, STDERR))

    def test_command_without_its_interpreter(self):
        step, core = self.begin()
        path = self.file(step, "program", b"#! /opt/bin/perl -w\n")
        core.run(path)
        self.assertEqual(core.finish(), 127)
        self.assertEqual(step.text(0, STDERR), 'slurm-k8s: "%s": its interpreter "/opt/bin/perl" not found in the image\n' % path)

    def script(self, data, *arguments):
        step, core = self.begin()
        parts = [record("S", data[i:i + 32768]) for i in range(0, len(data), 32768)] or [record("S")]
        core.start(record("A", "/var/spool/slurmd/job7/slurm_script"), *[record("A", a) for a in arguments], *parts)
        return step, core.finish()

    def test_script(self):
        data = b'#!/bin/sh\necho "$0" "$1" "$2"; cat "$0" | wc -c; exit 3\n'
        step, code = self.script(data, "one", "two words")
        self.assertEqual(code, 3)
        self.assertEqual(step.text(), step.directory + "/slurm_script one two words\n%d\n" % len(data))

    def test_script_of_4_mb(self):
        data = b"#!/bin/sh\nwc -c < $0; exit 11\n" + b"#" * (4 << 20)
        step, code = self.script(data)
        self.assertEqual(code, 11)
        self.assertEqual(int(step.text()), len(data))

    def test_script_is_private(self):
        step, core = self.begin()
        core.start(record("A", "x"), record("S", b"#!/bin/sh\nread line\n"), record("U", b"\0\0\0\0"))
        self.assertEqual(stat.S_IMODE(os.stat(step.directory + "/slurm_script").st_mode), 0o700)
        core.send(wire.EOF, task=0)
        core.finish()

    def test_script_without_its_interpreter(self):
        step, code = self.script(b"#!/bin/nosuchbash\necho\n")
        self.assertEqual(code, 127)
        self.assertEqual(step.text(0, STDERR), 'slurm-k8s: "/bin/nosuchbash": interpreter of the job\'s script not found in the image\n')

    def test_script_with_carriage_returns(self):
        step, code = self.script(b"#!/bin/sh\r\necho\r\n")
        self.assertEqual(code, 127)
        self.assertIn('"/bin/sh": interpreter of the job\'s script not found in the image (the line ends with a carriage return)',
                      step.text(0, STDERR))

    def test_script_without_interpreter_line(self):
        for data in (b"echo x\n", b""):
            step, code = self.script(data)
            self.assertEqual(code, 126)
            self.assertIn("the job's script: cannot be executed", step.text(0, STDERR))

    def test_no_command(self):
        step, core = self.begin()
        core.start()
        self.assertEqual(core.finish(), 127)

    def test_sixteen_tasks(self):
        step, core = self.begin()
        own = [record("E", "SLURM_LOCALID=%d" % i, task=i) for i in range(16)]
        core.start(record("A", "/bin/sh"), record("A", "-c"),
                   record("A", "echo out $SLURM_LOCALID; echo err $SLURM_LOCALID >&2; exit $SLURM_LOCALID"), *own, tasks=16)
        self.assertEqual(core.finish(tasks=16), 0)
        for i in range(16):
            self.assertEqual(step.text(i), "out %d\n" % i)
            self.assertEqual(step.text(i, STDERR), "err %d\n" % i)
            self.assertEqual(step.exits[i].status, i << 8)

    def test_many_tasks_with_much_output(self):
        step, core = self.begin()
        script, digest = self.blob(step, 1)
        core.shell(script, tasks=64)
        self.assertEqual(core.finish(tasks=64), 0)
        for i in range(64):
            self.assertEqual(step.stream(i, STDOUT).hash.hexdigest(), digest)

    def test_more_tasks_than_files(self):
        step = self.step(limits=["prlimit", "--nofile=128:128"])
        core = step.connect()
        core.shell("exit 0", tasks=64)
        core.finish(tasks=64)
        failed = [i for i in range(64) if step.exits[i].status]
        self.assertTrue(0 < len(failed) < 64)
        self.assertIn("cannot be started in the Pod", step.text(failed[0], STDERR))

    def test_signals_and_files_are_as_new(self):
        step, core = self.begin()
        core.shell("grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l; ps -o pid=,pgid=,sid= $$")
        core.finish()
        words = step.text().split()
        self.assertEqual(words[:4], ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16])
        self.assertEqual(words[4], "4")  # 0, 1, 2, and the directory that ls reads
        self.assertEqual(len(set(words[5:])), 1)


class Input(PodinitTest):
    def feed(self, core, data, task=0, begin=0):
        """Sends as much as the window lets, as a relay would."""
        sent = begin
        while sent < len(data):
            core.until("room in the window", lambda: sent - core.acknowledged.get(task, 0) < INPUT_WINDOW)
            some = min(INPUT_WINDOW - (sent - core.acknowledged.get(task, 0)), 65536, len(data) - sent)
            core.send(wire.DATA, data[sent:sent + some], task=task, stream=wire.STDIN, offset=sent)
            sent += some
        core.until("all input to be taken", lambda: core.acknowledged.get(task) == len(data))

    def test_input_comes_back(self):
        step, core = self.begin()
        data = os.urandom(3 << 20)
        core.run("/bin/cat")
        self.feed(core, data)
        core.send(wire.EOF, task=0, offset=len(data))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), hashlib.sha256(data).hexdigest())

    def test_input_goes_on_after_a_break(self):
        step, core = self.begin()
        data = os.urandom(INPUT_WINDOW)
        core.run("/bin/sh", "-c", "read -r line < %s; exec cat" % self.fifo(step))
        for at in range(0, len(data), 65536):
            core.send(wire.DATA, data[at:at + 65536], task=0, stream=wire.STDIN, offset=at)
        core.beat(1)
        core = step.connect()
        have = int.from_bytes(core.said("I", 0)[0], "big")
        self.assertEqual(have, len(data))
        # The core need not know that: what is there already is skipped.
        core.send(wire.DATA, data[:1000], task=0, stream=wire.STDIN)
        core.send(wire.EOF, task=0, offset=len(data))
        core.send(wire.EOF, task=0, offset=len(data))
        write_text(step.directory + "/fifo", "go\n")
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.stream(0, STDOUT).hash.hexdigest(), hashlib.sha256(data).hexdigest())

    def fifo(self, step):
        os.mkfifo(step.directory + "/fifo")
        return step.directory + "/fifo"

    def test_more_than_the_window(self):
        step, core = self.begin()
        core.run("/bin/sleep", "1000")
        sent = 0
        try:
            for _ in range(16):
                core.send(wire.DATA, bytes(65536), task=0, stream=wire.STDIN, offset=sent)
                sent += 65536
        except BrokenPipeError:
            pass
        core.until_closed()
        self.assertLessEqual(int.from_bytes(step.connect().said("I", 0)[0], "big"), INPUT_WINDOW + (1 << 20))

    def test_task_that_does_not_read(self):
        step, core = self.begin()
        core.shell("exec <&-; echo closed; read -r line < %s" % self.fifo(step))
        core.until_text("closed")
        self.feed(core, bytes(2 << 20))
        core.send(wire.EOF, task=0, offset=2 << 20)
        write_text(step.directory + "/fifo", "go\n")
        core.finish()

    def test_bytes_behind_the_end(self):
        step, core = self.begin()
        core.run("/bin/sleep", "1000")
        core.send(wire.EOF, task=0)
        core.send(wire.DATA, b"x", task=0, stream=wire.STDIN)
        core.until_closed()


class Signals(PodinitTest):
    def test_to_the_task(self):
        step, core = self.begin()
        core.shell("trap 'echo usr1' USR1; trap 'echo term; exit 4' TERM; echo ready; while :; do read x; done")
        core.until_text("ready")
        core.signal(signal.SIGUSR1)
        core.until_text("usr1")
        core.signal(signal.SIGTERM, task=wire.ALL)
        self.assertEqual(core.finish(), 4)
        self.assertEqual(step.text(), "ready\nusr1\nterm\n")

    def test_to_the_task_alone_and_to_its_group(self):
        step, core = self.begin()
        core.shell("sh -c 'trap \"echo child\" USR1; echo ready; while :; do read x; done' & "
                   "trap 'echo parent' USR1; while :; do wait; done")
        core.until_text("ready")
        core.signal(signal.SIGUSR1)
        core.until_text("parent")
        self.assertNotIn("child", step.text())
        core.signal(signal.SIGUSR1, flags=wire.GROUP)
        core.until_text("child")
        core.signal(signal.SIGKILL)
        self.assertEqual(core.finish(), 137)

    def test_suspend_and_resume_every_process(self):
        step, core = self.begin()
        core.shell("setsid sh -c 'echo $$; exec sleep 1000' & echo $$; while :; do read x; done")
        core.until("two process ids", lambda: len(step.text().split()) == 2)
        count = lambda state: sum(1 for pid in self.descendants(step) if self.state(pid) in state)
        core.signal(signal.SIGSTOP, task=wire.ALL, flags=wire.EVERY)
        wait_for("the processes to stop", lambda: count("T") >= 2)
        core.beat(1)
        core.signal(signal.SIGCONT, task=wire.ALL, flags=wire.EVERY)
        wait_for("the processes to go on", lambda: count("T") == 0)
        core.signal(signal.SIGTERM, task=wire.ALL, flags=wire.EVERY)
        self.assertEqual(core.finish(), 143)

    def descendants(self, step):
        found, todo = [], [step.pid]
        while todo:
            pid = todo.pop()
            children = [int(c) for c in read_text("/proc/%d/task/%d/children" % (pid, pid)).split()]
            found += children
            todo += children
        return found

    def state(self, pid):
        return read_text("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0]

    def test_before_start(self):
        step, core = self.begin()
        core.signal(signal.SIGTERM)
        core.signal(signal.SIGKILL, task=wire.ALL, flags=wire.EVERY)
        core.beat(1)
        core.shell("exit 0")
        self.assertEqual(core.finish(), 0)

    def test_kubelet_ends_podinit_before_start(self):
        step, core = self.begin()
        os.kill(step.pid, signal.SIGTERM)
        self.assertEqual(step.wait(), 143)

    def test_kubelet_ends_podinit_after_start(self):
        step, core = self.begin()
        core.shell("trap 'echo last words; exit 12' TERM; echo ready; while :; do read x; done")
        core.until_text("ready")
        os.kill(step.pid, signal.SIGTERM)
        self.assertEqual(core.finish(), 12)
        self.assertEqual(step.text(), "ready\nlast words\n")

    def test_kubelet_ends_a_suspended_step(self):
        step, core = self.begin()
        core.shell("trap 'echo last words; exit 12' TERM; echo ready; while :; do read x; done")
        core.until_text("ready")
        core.signal(signal.SIGSTOP, task=wire.ALL, flags=wire.EVERY)
        wait_for("the task to stop", lambda: self.state(self.descendants(step)[0]) == "T")
        os.kill(step.pid, signal.SIGTERM)
        self.assertEqual(core.finish(), 12)


class IsolatedSignals(Signals):
    isolated = True


class Timeouts(PodinitTest):
    def test_never_started(self):
        step = self.step(start_timeout=1)
        self.assertEqual(step.wait(), 75)
        self.assertEqual(step.report(), "never started\n")

    def test_orphan_ends_by_term(self):
        step, core = self.begin(orphan_timeout=1, linger=1)
        core.shell("trap 'exit 21' TERM; echo ready; while :; do read x; done")
        core.until_text("ready")
        core.close()
        self.assertEqual(step.wait(), 21)
        self.assertRegex(step.report(), r"^orphaned\ntask=0 status=5376 ")

    def test_orphan_that_ignores_term_is_killed(self):
        step, core = self.begin(orphan_timeout=1, linger=1)
        core.shell("trap '' TERM; echo ready; while :; do sleep 1; done")
        core.until_text("ready")
        core.close()
        self.assertEqual(step.wait(), 137)
        self.assertRegex(step.report(), r"^orphaned\ntask=0 status=9 ")

    def test_a_silent_core_counts_as_none(self):
        step, core = self.begin(orphan_timeout=1)
        core.shell("trap 'exit 22' TERM; while :; do read x; done")
        core.until("the exit", lambda: step.exits)
        self.assertEqual(step.exits[0].status, 22 << 8)
        self.assertTrue(step.report().startswith("orphaned\n"))

    def test_heartbeats_keep_the_tasks_alive(self):
        step, core = self.begin(orphan_timeout=2)
        core.shell("sleep 3; exit 5")
        counter = 0
        while not step.exits:
            core.beat(counter)
            counter += 1
        self.assertEqual(core.finish(), 5)


class Terminal(PodinitTest):
    size = (24).to_bytes(2, "big") + (80).to_bytes(2, "big")

    def test_size_and_end_of_file(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"),
                   record("A", "stty -echo; test -t 0 && test -t 1 && test -t 2 && stty size; "
                          "echo ready >/dev/tty; while read x; do echo got $x; stty size; done; echo end >&2; exit 6"), record("T", self.size))
        core.until_text("ready")
        self.assertTrue(step.text().startswith("24 80\r\n"))
        core.send(wire.WINSIZE, (50).to_bytes(2, "big") + (132).to_bytes(2, "big"), task=0)
        core.send(wire.DATA, b"line\n", task=0, stream=wire.STDIN)
        core.until_text("got line")
        core.send(wire.EOF, task=0, offset=5)
        self.assertEqual(core.finish(), 6)
        self.assertIn("50 132\r\n", step.text())
        self.assertTrue(step.text().endswith("end\r\n"), step.text())
        self.assertEqual(step.text(0, STDERR), "")

    def test_long_output(self):
        step, core = self.begin()
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "seq 100000"), record("T", self.size))
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text().split(), [str(i) for i in range(1, 100001)])


def load_tests(loader, tests, pattern):
    if os.geteuid() == 0:
        return tests
    print("not root: the tests in a pid namespace are left out")
    return unittest.TestSuite(test for group in tests for test in group if not test.isolated)


if __name__ == "__main__":
    unittest.main()
