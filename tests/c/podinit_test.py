# SPDX-License-Identifier: Apache-2.0
"""How podinit ends, and its output. PODINIT names the build to test."""
import os
import signal
import unittest

import podinit_wire as wire
from podinit_case import PodinitTest, WINDOW, load_tests
from podinit_driver import read_text, wait_for, write_text
from podinit_wire import STDERR, STDOUT, record


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
        numbers = r"utime=\d+ stime=\d+ peak=\d+\n"
        self.assertRegex(step.report(), "^usage " + numbers + "task=0 status=512 oom=0 " + numbers + "$")

    def test_report_has_the_sum_of_more_tasks_than_fit(self):
        step, core = self.begin()
        core.run("/bin/sh", "-c", "exit 3", tasks=100)
        core.finish(tasks=100)
        report = step.report()
        self.assertLessEqual(len(report), 4096)
        self.assertLess(report.count("task="), 100)
        words = dict(word.split("=") for word in report.splitlines()[0].split()[1:])
        exits = step.exits.values()
        self.assertEqual(int(words["utime"]), sum(e.utime for e in exits))
        self.assertEqual(int(words["stime"]), sum(e.stime for e in exits))
        self.assertEqual(int(words["peak"]), max(e.peak for e in exits))

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

    def test_nothing_left_does_not_linger_long(self):
        for script in ("exit 5", "echo taken; echo too >&2; exit 5"):
            step, core = self.begin(linger=600, empty_linger=1)
            core.shell(script)
            core.until("exit", lambda: step.exits)
            core.beat(1)  # behind the acknowledgements
            core.close()
            self.assertEqual(step.wait(), 5)

    def test_output_that_nobody_took_lingers(self):
        step, core = self.begin(linger=600, empty_linger=1)
        core.acknowledging = False
        core.shell("echo kept >&2; exit 6", tasks=2)
        core.until("exits", lambda: len(step.exits) == 2)
        core.close()
        self.let_the_short_one_pass()
        self.assertIsNone(step.process.poll())
        step.exits.clear()
        core = step.connect()
        core.until("exits", lambda: len(step.exits) == 2)
        core.beat(1)
        core.close()
        self.assertEqual(step.wait(), 6)

    def let_the_short_one_pass(self):
        """Another one begins to linger later, and is over."""
        other, core = self.begin(linger=600, empty_linger=1)
        core.shell("exit 0")
        core.until("exit", lambda: other.exits)
        core.close()
        self.assertEqual(other.wait(), 0)

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
        core.start(record("A", "/bin/sh"), record("A", "-c"), record("A", "setsid sleep 200 & echo done", task=0),
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
        core.shell("trap '' TERM INT HUP; sleep 200 & echo ready; while :; do wait; done")
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


if __name__ == "__main__":
    unittest.main()
