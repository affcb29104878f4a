# SPDX-License-Identifier: Apache-2.0
"""Input, signals and time limits of podinit. PODINIT names the build to test."""
import hashlib
import os
import signal
import unittest

import podinit_wire as wire
from podinit_case import INPUT_WINDOW, PodinitTest, load_tests
from podinit_driver import read_text, wait_for, write_text
from podinit_wire import STDOUT


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

    def test_an_order_that_is_said_again_is_done_once(self):
        step, core = self.begin()
        core.shell("trap 'echo usr1' USR1; trap 'echo usr2' USR2; echo ready; while :; do read x; done")
        core.until_text("ready")
        core.signal(signal.SIGUSR1, order=1)
        core.until_text("usr1")
        core = step.connect()
        core.signal(signal.SIGUSR1, order=1)
        core.signal(signal.SIGUSR2, order=2)
        core.until_text("usr2")
        core.signal(signal.SIGKILL, order=2)
        core.signal(signal.SIGKILL, flags=wire.EVERY, order=1)
        core.beat(1)
        core.signal(signal.SIGTERM, order=9)
        self.assertEqual(core.finish(), 143)
        self.assertEqual(step.text(), "ready\nusr1\nusr2\n")

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
        core.shell("setsid sh -c 'echo $$; exec sleep 200' & echo $$; while :; do read x; done")
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

    def test_kubelet_ends_podinit_as_it_starts(self):
        step, core = self.begin()
        core.beat(1)
        wait_for("podinit to wait", lambda: self.state(step.pid) == "S")
        os.kill(step.pid, signal.SIGSTOP)  # so that it sees both at once
        wait_for("podinit to stop", lambda: self.state(step.pid) == "T")
        os.kill(step.pid, signal.SIGTERM)
        core.shell("while :; do read x; done", wait=False)
        core.until_carried()
        os.kill(step.pid, signal.SIGCONT)
        self.assertEqual(core.finish(), 143)

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
        self.assertRegex(step.report(), r"^orphaned\nusage .*\ntask=0 status=5376 ")

    def test_orphan_that_ignores_term_is_killed(self):
        step, core = self.begin(orphan_timeout=1, linger=1)
        core.shell("trap '' TERM; echo ready; while :; do sleep 1; done")
        core.until_text("ready")
        core.close()
        self.assertEqual(step.wait(), 137)
        self.assertRegex(step.report(), r"^orphaned\nusage .*\ntask=0 status=9 ")

    def test_an_orphan_does_not_linger_long(self):
        step, core = self.begin(orphan_timeout=1, linger=600, empty_linger=1)
        core.acknowledging = False
        core.shell("trap 'echo late; exit 21' TERM; echo ready; while :; do read x; done")
        core.until_text("ready")
        core.close()
        self.assertEqual(step.wait(), 21)

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


if __name__ == "__main__":
    unittest.main()
