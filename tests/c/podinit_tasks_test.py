# SPDX-License-Identifier: Apache-2.0
"""How podinit starts tasks, and their terminals. PODINIT names the build to test."""
import os
import stat
import unittest

import podinit_wire as wire
from podinit_case import PodinitTest, load_tests
from podinit_wire import STDERR, STDOUT, record


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


class OneOutput(PodinitTest):
    def test_both_outputs_stay_in_order(self):
        step, core = self.begin()
        script = "for i in $(seq 500); do echo out $i; echo err $i >&2; done; test /dev/fd/1 -ef /dev/fd/2"
        core.start(record("O"), *[record("A", word) for word in ("/bin/sh", "-c", script)])
        self.assertEqual(core.finish(), 0)
        self.assertEqual(step.text(), "".join("out %d\nerr %d\n" % (i, i) for i in range(1, 501)))
        self.assertEqual(step.text(stream=STDERR), "")

    def test_of_one_task_alone(self):
        step, core = self.begin()
        core.start(record("O", task=0), *[record("A", word) for word in ("/bin/sh", "-c", "echo out; echo err >&2")],
                   tasks=2)
        core.finish(tasks=2)
        self.assertEqual([step.text(task) for task in (0, 1)], ["out\nerr\n", "out\n"])
        self.assertEqual([step.text(task, STDERR) for task in (0, 1)], ["", "err\n"])

    def test_a_task_that_cannot_be_started(self):
        step, core = self.begin()
        core.start(record("O"), record("A", "/nowhere"))
        self.assertEqual(core.finish(), 127)
        self.assertEqual(step.text(), 'slurm-k8s: "/nowhere": command not found in the image\n')


if __name__ == "__main__":
    unittest.main()
