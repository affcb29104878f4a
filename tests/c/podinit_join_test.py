# SPDX-License-Identifier: Apache-2.0
"""podinit join: a step in a container that another step's podinit is process 1 of. In a pid
namespace, as process 1 is what adopts it; so all of it wants root."""
import os
import signal
import subprocess
import unittest

import podinit_driver as driver
import podinit_wire as wire
from podinit_driver import AS_USER, Step, children_in, read_text, wait_for
from podinit_wire import STDERR, record


class Joined(driver.Source):
    """A joined podinit in the container of `step`."""

    def __init__(self, step, session, **options):
        self.session, self.pid, self.isolated = session, step.pid, True
        self.streams, self.exits, self.cores, self.log = {}, {}, step.cores, step.log
        self.read_log = step.read_log
        common = ["--session=%016x" % session, "--run=" + step.directory]
        self.pump = [step.pump[0], "pump", *common]
        # With the container's own /proc, as an exec has it.
        self.command = ["nsenter", "--mount=/proc/%d/ns/mnt" % step.pid, *AS_USER, step.pump[0], "join", *common, "--cgroup=" + step.cgroup, "--log=" + step.log.name]
        self.command += ["--%s=%s" % (name.replace("_", "-"), value) for name, value in options.items()]
        self.socket = "%s/socket.%016x" % (step.directory, session)

    def enter(self):
        """Joins, as an exec does: what it printed is read to its end."""
        with children_in(self.pid):
            process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={"PATH": "/usr/bin:/bin", "FROM_IMAGE": "yes"}, cwd="/")
        said = b"".join(process.communicate(timeout=driver.LIMIT)).decode()
        return process.returncode, said

    def wait(self):
        """Its pumps say that there was one, and that it is gone."""
        def refused():
            with children_in(self.pid):
                pump = subprocess.run([*AS_USER, *self.pump], stdin=subprocess.DEVNULL, capture_output=True,
                                      env=driver.PUMP_ENVIRONMENT, timeout=driver.LIMIT)
            return pump.returncode == 69 and b"Connection refused" in pump.stderr
        wait_for("the joined podinit to end", refused)


class Join(unittest.TestCase):
    def step(self, **options):
        step = Step(isolated=True, **options)
        self.addCleanup(step.close)
        os.chmod(step.log.name, 0o666)
        return step

    def running(self, script="echo ready; exec sleep 200", **options):
        """A container whose own task runs."""
        step = self.step(**options)
        core = step.connect()
        core.shell(script)
        core.until_text("ready")
        return step, core

    def join(self, step, session=1, **options):
        joined = Joined(step, session, **options)
        self.assertEqual(joined.enter(), (0, ""))
        return joined, joined.connect()

    def children(self, step):
        return read_text("/proc/%d/task/%d/children" % (step.pid, step.pid)).split()

    def test_tasks_streams_and_exits(self):
        step, core = self.running()
        joined, inside = self.join(step)
        inside.start(*[record("A", word) for word in ("/bin/sh", "-c", 'read x; echo got $x by $$ $FROM_IMAGE; echo err >&2; exit $x')], tasks=2)
        for task, words in enumerate((b"3\n", b"4\n")):
            inside.send(wire.DATA, words, task=task, stream=wire.STDIN)
            inside.send(wire.EOF, task=task, offset=2)
        inside.finish(tasks=2)
        self.assertEqual([joined.exits[i].status >> 8 for i in range(2)], [3, 4])
        self.assertRegex(joined.text(0), r"^got 3 by \d+ yes\n$")
        self.assertEqual(joined.text(1, STDERR), "err\n")
        self.assertEqual(step.exits, {}, "the container's own task runs on")
        self.assertEqual(step.report(), "")
        wait_for("process 1 to reap it", lambda: len(self.children(step)) == 1)
        core.signal(signal.SIGTERM)
        self.assertEqual(core.finish(), 143)

    def test_two_at_once_and_the_same_again(self):
        step, core = self.running()
        one, first = self.join(step, 1)
        two, second = self.join(step, 2)
        self.assertEqual(one.enter(), (0, ""), "the answer of the first was lost")
        first.shell("echo first; read x; exit 1")
        second.shell("echo second; read x; exit 2")
        first.until_text("first")
        second.until_text("second")
        first.close()
        first = one.connect()
        self.assertEqual(first.phase(), wire.STARTED)
        first.send(wire.EOF, task=0)
        second.send(wire.EOF, task=0)
        first.finish()
        second.finish()
        self.assertEqual((one.exits[0].status, two.exits[0].status), (1 << 8, 2 << 8))

    def test_terminal(self):
        step, core = self.running()
        joined, inside = self.join(step)
        inside.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "stty size; tty; exit 5"),
                     record("T", (24).to_bytes(2, "big") + (80).to_bytes(2, "big")))
        inside.finish()
        self.assertRegex(joined.text(), r"^24 80\r\n/dev/")
        self.assertEqual(joined.exits[0].status, 5 << 8)

    def test_it_ends_its_own_alone(self):
        step, core = self.running()
        joined, inside = self.join(step)
        inside.shell("trap '' TERM; (setsid sleep 200 &); echo ready; exec sleep 200")
        inside.until_text("ready")
        inside.signal(signal.SIGKILL, task=wire.ALL, flags=wire.EVERY)
        inside.finish()
        self.assertEqual(joined.exits[0].status, signal.SIGKILL)
        wait_for("all of it to end", lambda: len(self.children(step)) == 1)
        self.assertEqual(step.exits, {})
        core.beat(1)

    def test_what_its_tasks_left_behind_ends(self):
        step, core = self.running()
        joined, inside = self.join(step)
        inside.shell("(setsid sleep 200 &); exit 0")
        inside.finish()
        wait_for("all of it to end", lambda: len(self.children(step)) == 1)

    def test_the_end_of_the_container_is_told(self):
        step, core = self.running("echo ready; read x; exit 6")
        joined, inside = self.join(step)
        inside.shell("trap '' TERM; echo ready; while :; do sleep 1; done")
        inside.until_text("ready")
        core.send(wire.EOF, task=0)
        core.until("the exit", lambda: step.exits)
        inside.until("the exit", lambda: joined.exits)
        self.assertEqual(joined.exits[0].status, signal.SIGKILL)
        core.send(wire.DETACH)
        inside.until_closed()
        inside.process.wait()
        self.assertEqual(step.wait(), 6)

    def test_orphaned(self):
        step, core = self.running()
        joined, inside = self.join(step, orphan_timeout=1, linger=1)
        inside.shell("trap 'exit 21' TERM; echo ready; while :; do read x; done")
        inside.until_text("ready")
        inside.close()
        joined.wait()
        self.assertEqual(step.exits, {})
        self.assertEqual(step.report(), "", "the termination message is process 1's")
        wait_for("all of it to end", lambda: len(self.children(step)) == 1)

    def test_exit_that_nobody_took_lingers(self):
        """No report has it."""
        step, core = self.running()
        joined, inside = self.join(step, linger=600, empty_linger=1)
        inside.shell("exit 3")
        inside.until("the exit", lambda: joined.exits)
        inside.close()
        other = self.step(linger=600, empty_linger=1)  # lingers from later on, and is over
        outside = other.connect()
        outside.shell("exit 0")
        outside.until("the exit", lambda: other.exits)
        outside.close()
        other.wait()
        joined.exits.clear()
        joined.connect().finish()
        self.assertEqual(joined.exits[0].status, 3 << 8)

    def test_killed_alone(self):
        step, core = self.running()
        joined, inside = self.join(step)
        inside.shell("echo $PPID; exec sleep 200")
        inside.until("its number", lambda: joined.text().endswith("\n"))
        with children_in(step.pid):
            subprocess.run(["kill", "-KILL", joined.text().strip()], check=True)
        inside.until_closed()
        joined.wait()
        core.beat(1)

    def test_never_started(self):
        step, core = self.running()
        joined = Joined(step, 1, start_timeout=1)
        self.assertEqual(joined.enter(), (0, ""))
        joined.wait()
        self.assertEqual(step.report(), "")

    def test_a_session_that_is_not_there(self):
        step, core = self.running()
        joined = Joined(step, 0x77)
        inside = joined.connect(hello=False)
        inside.send(wire.HELLO)
        inside.until_closed()
        core.beat(1)

    def test_no_place_for_its_socket(self):
        step, core = self.running()
        joined = Joined(step, 1)
        joined.command = [word.replace(step.directory, "/proc/none") if "--run=" in word else word for word in joined.command]
        code, said = joined.enter()
        self.assertEqual(code, 70)
        self.assertRegex(said, r"^podinit: /proc/none/socket.0000000000000001: No such file or directory\n$")


if __name__ == "__main__":
    if os.geteuid():
        print("not root: podinit's joins were not tested")
    else:
        unittest.main()
