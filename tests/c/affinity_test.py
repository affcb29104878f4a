# SPDX-License-Identifier: Apache-2.0
"""Cpus: what the relay says that Slurm bound it to, and what podinit binds a task to. RELAY and PODINIT name the builds."""
import os
import unittest

from podinit_driver import Step
from podinit_wire import STDERR, record
from relay_driver import RelayTest

OWN = sorted(os.sched_getaffinity(0))
SHOW = "grep Cpus_allowed_list /proc/self/status"


def bitmap(cpus, size):
    return sum(1 << cpu for cpu in cpus).to_bytes(size, "little")


def cpus(data):
    number = int.from_bytes(data, "little")
    return [cpu for cpu in range(8 * len(data)) if number >> cpu & 1]


class Relay(RelayTest):
    def said(self, **popen):
        value = next(value for tag, _, value in self.relay(**popen).records if tag == "B")
        self.assertEqual(len(value) % 2, 0)
        return cpus(value[:len(value) // 2]), cpus(value[len(value) // 2:])

    def test_not_bound(self):
        task, step = self.said()
        self.assertEqual(task, OWN)
        self.assertLessEqual(set(task), set(step))

    def test_bound(self):
        for cpu in OWN[:2]:
            task, step = self.said(preexec_fn=lambda cpu=cpu: os.sched_setaffinity(0, {cpu}))
            self.assertEqual(task, [cpu])
            self.assertLessEqual(set(OWN), set(step))

    def test_stays_bound(self):
        relay = self.relay(preexec_fn=lambda: os.sched_setaffinity(0, {OWN[0]}))
        self.assertEqual(os.sched_getaffinity(relay.process.pid), {OWN[0]})


class Podinit(unittest.TestCase):
    def run_tasks(self, records, own=OWN):
        """What each task may run on."""
        step = Step(limits=["taskset", "-c", ",".join(map(str, own))])
        self.addCleanup(step.close)
        core = step.connect()
        tasks = len(records)
        values = [record("B", value, task) for task, value in enumerate(records) if value is not None]
        core.start(*[record("A", word) for word in ("/bin/sh", "-c", SHOW)], *values, tasks=tasks)
        self.assertEqual(core.finish(tasks=tasks), 0)
        self.assertEqual([step.text(task, STDERR) for task in range(tasks)], [""] * tasks)
        return [step.text(task).split()[1] for task in range(tasks)]

    def test_each_its_own(self):
        if len(OWN) < 2:
            self.skipTest("one cpu here")
        own = OWN[:2]
        step = bitmap([0, 1], 1)
        said = self.run_tasks([bitmap([0], 1) + step, bitmap([1], 1) + step, None], own)
        self.assertEqual(said[:2], [str(cpu) for cpu in own])
        self.assertNotIn(said[2], said[:2])

    def test_fewer_than_the_step(self):
        step = bitmap(range(200), 40)
        self.assertEqual(self.run_tasks([bitmap([170], 40) + step], OWN[:1]), [str(OWN[0])])

    def test_shared_with_others(self):
        if len(OWN) < 2:
            self.skipTest("one cpu here")
        said = self.run_tasks([bitmap([0], 1) + bitmap([0], 1), None])
        self.assertEqual(said[0], said[1])

    def test_values_that_make_no_sense(self):
        for value in (b"", b"\1", b"\1" * 3, b"\xff" * 5000, bytes(2048)):
            said = self.run_tasks([value, None])
            self.assertEqual(said[0], said[1])


if __name__ == "__main__":
    unittest.main()
