# SPDX-License-Identifier: Apache-2.0
"""salloc in the Pod: its COMMAND runs beside the caller, and the relay stands for it on the Slurm node.

A script is salloc as it is once the plugin has put the relay into the place of COMMAND."""
import os
import random
import signal
import subprocess
import unittest

import podinit_wire as wire
from commands_driver import ALLOCATED, COMMANDS, EXIT, OPEN, RELAY, RUN, SIGNAL, Bridge, CommandsTest, message
from podinit_driver import LIMIT, read_text, wait_for, write_text

# What it is to do before it forks, then before and after COMMAND's end, is in the files "early", "before" and "after".
SALLOC = """
cd %s
if test "$1" = -D; then export SLURM_K8S_ALLOCATED_DIRECTORY="$2"; shift 2; fi
export SLURM_K8S_ALLOCATED_FD="$SLURM_K8S_ALLOCATE_FD" SLURM_JOB_ID=77 SLURM_JOB_NODELIST=n[1-2] SLURM_NEW='a  b'
export SLURM_CONF=/node/secret SLURM_JWT=secret SLURM_SPANK_X=1 PATH=/node:$PATH OTHER=node
unset SLURM_K8S_ALLOCATE_FD
trap : TERM INT USR1
. ./early
%s --allocated "$@" &
pid=$!
echo $pid > stands
test -t 0 && echo yes > terminal
. ./before
wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
. ./after
echo "salloc: Relinquishing with $code" >&2
exit $code
"""


class Test(CommandsTest):
    def setUp(self):
        super().setUp()
        self.command("salloc", SALLOC % (self.directory, RELAY))
        self.salloc()

    def salloc(self, before="", after="", early=""):
        write_text(self.path("early"), early)
        write_text(self.path("before"), before)
        write_text(self.path("after"), after)

    def wait_for_end(self, bridge, pid):
        bridge.until("the end of %d" % pid, lambda: not os.path.exists("/proc/%d" % pid))

    def test_words_streams_directory_and_code(self):
        status, out, err = self.bridge().run(
            "cd /usr/lib; echo from stdin | salloc -- 2>/dev/null; echo;"
            "echo from stdin | salloc sh -c 'cat; pwd; echo \"$1|$2|\"; echo error >&2; exit 7' x 'a  b' ''; echo $?")
        self.assertEqual(out, "\nfrom stdin\n/usr/lib\na  b||\n7\n")
        self.assertEqual(err, "error\nsalloc: Relinquishing with 7\n")

    def test_variables(self):
        _, out, _ = self.bridge().run("export SLURM_JOB_ID=1 SLURM_CONF=pod OTHER=pod SLURM_OLD=1 SLURM_SUBMIT_DIR=/x; cd /usr; salloc env")
        lines = out.splitlines()
        for line in ("SLURM_JOB_ID=77", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_NEW=a  b", "SLURM_CONF=pod", "OTHER=pod",
                     "SLURM_OLD=1", "SLURM_SUBMIT_DIR=/usr"):
            self.assertIn(line, lines)
        self.assertEqual([line for line in lines if "secret" in line or "/node" in line or "SPANK" in line or "ALLOCATE" in line], [])

    def test_directory_of_an_option(self):
        _, out, err = self.bridge().run("cd /usr; salloc -D lib pwd; salloc -D /nowhere pwd; echo $?")
        self.assertEqual(out, "/usr/lib\n1\n")
        self.assertIn("slurm-k8s: error: salloc: --chdir=/nowhere: No such file or directory\n", err)

    def test_shell(self):
        bridge = self.bridge()
        _, out, _ = bridge.run("echo 'echo shell of $SLURM_JOB_ID' | SHELL=/nowhere salloc; "
                               "echo 'echo $0 $SLURM_JOB_ID' | SHELL=/bin/bash salloc")
        self.assertEqual(out, "shell of 77\n/bin/bash 77\n")

    def test_command_that_is_not_there(self):
        _, out, err = self.bridge().run("salloc nowhere; echo $?")
        self.assertEqual(out, "1\n")
        self.assertEqual(err, "slurm-k8s: error: salloc: nowhere: No such file or directory\nsalloc: Relinquishing with 1\n")

    def test_dies_of_a_signal(self):
        _, out, _ = self.bridge().run("salloc sh -c 'kill -USR2 $$'; echo $?")
        self.assertEqual(out, "140\n")

    def test_from_who_does_not_hear_of_its_children(self):
        call = ("import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                "os.execvp('salloc', ['salloc', 'grep', 'SigIgn', '/proc/self/status', '/nowhere'])")
        _, out, _ = self.bridge().run('python3 -c "%s"; echo $?' % call)
        ignored, code = out.splitlines()
        self.assertTrue(int(ignored.split()[1], 16) >> signal.SIGCHLD - 1 & 1, "nor does COMMAND")
        self.assertEqual(code, "2")

    def test_what_salloc_sends(self):
        self.salloc(before="until test -e up; do sleep 0.05; done; kill -USR1 -$pid 2>/dev/null || kill -USR1 $pid\n")
        _, out, _ = self.bridge().run("salloc sh -c 'trap \"echo got it; exit 3\" USR1; echo > %s; while :; do sleep 0.05; done'; echo $?"
                                      % self.path("up"))
        self.assertEqual(out, "got it\n3\n")

    def test_a_killed_stand_in(self):
        self.salloc(before="until test -e up; do sleep 0.05; done; kill -KILL $pid\n", after="code=0\n")
        bridge = self.bridge()
        bridge.start("salloc sh -c 'echo $$ > %s; exec sleep 60'; echo $?; read forever" % self.path("up"))
        bridge.until_text("0\n")
        self.wait_for_end(bridge, int(read_text(self.path("up"))))

    def test_caller_that_goes(self):
        self.salloc(after="echo $code > ended\n")
        bridge = self.bridge()
        bridge.start("salloc sh -c 'echo up; exec sleep 60' & pid=$!; until test -e %s; do sleep 0.05; done; "
                     "kill -9 $pid; read forever" % self.path("go"))
        bridge.until_text("up\n")
        write_text(self.path("go"), "")
        bridge.until("salloc's end", lambda: os.path.exists(self.path("ended")) and read_text(self.path("ended")) == "1\n")

    def test_end_of_the_job(self):
        self.salloc(after="echo $code > ended\n")
        bridge = self.bridge()
        bridge.start("salloc sh -c 'echo up; exec sleep 60'; echo code $?; read forever")
        bridge.until_text("up\n")
        node, bridge.node = bridge.node, None
        node.close()
        self.assertEqual(read_text(self.path("ended")), "1\n")
        stands = int(read_text(self.path("stands")))
        wait_for("its end", lambda: not os.path.exists("/proc/%d" % stands))
        bridge.core.send(wire.EOF, task=COMMANDS, stream=wire.STDIN, offset=len(bridge.down))
        bridge.core.until("the caller's end", lambda: "code 1\n" in bridge.text())
        self.assertIn("salloc: the Slurm node does not run Slurm's commands for this Pod any more", bridge.error())

    def test_terminal(self):
        bridge = self.bridge()
        bridge.start("salloc sh -c 'test -t 0 && stty size; read line; echo got $line; trap \"echo int; exit 5\" INT; echo wait; "
                     "while :; do sleep 0.05; done'; echo code $?; stty -a | grep -o ' echo '; read line; echo and $line",
                     size=(33, 99))
        bridge.until_text("33 99\r\n")
        self.assertEqual(read_text(self.path("terminal")), "yes\n")
        bridge.type(b"hello\r")
        bridge.until_text("got hello\r\nwait\r\n")
        bridge.type(b"\x03")
        bridge.until_text("int\r\n")
        bridge.until_text("code 5\r\n echo \r\n")
        bridge.type(b"more\r")
        bridge.until_text("and more\r\n")

    def test_interrupted_when_it_was_granted(self):
        """salloc gives the allocation back then, but has COMMAND begin, and waits for its end."""
        self.salloc(early="stop=; trap stop=1 INT TERM; echo granted >&2; until test $stop; do sleep 0.05; done\n")
        bridge = self.bridge()
        bridge.start("set -m; salloc sh -c 'echo it runs; read line'; echo code $?; read line; echo and $line", size=(24, 80))
        bridge.until_text("granted\r\n")
        bridge.type(b"\x03")
        bridge.until_text("Relinquishing with 130\r\n")
        bridge.until_text("code 130\r\n")
        bridge.type(b"more\r")
        bridge.until_text("and more\r\n")
        self.assertNotIn("it runs", bridge.text())
        bridge = self.bridge()
        bridge.start("salloc sh -c 'echo it runs; exec sleep 600' & until test -e %s; do sleep 0.05; done; kill -TERM $!; wait $!; echo code $?"
                     % self.path("go"))
        bridge.until("granted", lambda: "granted\n" in bridge.error())
        write_text(self.path("go"), "")
        bridge.until_text("code 143\n")
        self.assertNotIn("it runs", bridge.text())

    def test_salloc_that_misses_the_end(self):
        """As 22.05's may where the allocation is revoked in the same moment."""
        self.salloc(before="trap hup=1 HUP\n", after="until test $hup; do sleep 0.05; done\n")
        _, out, err = self.bridge().run("salloc sh -c 'exit 3'; echo code $?")
        self.assertEqual((out, err), ("code 3\n", "salloc: Relinquishing with 3\n"))

    def test_shell_with_jobs(self):
        bridge = self.bridge()
        bridge.start("PS1='$ ' SHELL=/bin/sh exec salloc", size=(24, 80))
        bridge.until_text("$ ")
        bridge.type(b"sh -c 'echo on; exec sleep 600'\r")
        bridge.until_text("\r\non\r\n")
        bridge.type(b"\x1a")
        bridge.until("a prompt after it", lambda: "Stopped" in bridge.text() and bridge.text().endswith("$ "))
        bridge.type(b"echo in $SLURM_JOB_ID\r")
        bridge.until_text("in 77\r\n")
        bridge.type(b"kill -9 %1; exec sh -c 'exit 4'\r")
        self.assertEqual(bridge.finish(), 4 << 8)

    def test_stand_in_by_hand(self):
        done = subprocess.run(["relay", "--allocated", "true"], executable=RELAY, capture_output=True, text=True, timeout=LIMIT,
                              env={"SLURM_K8S_ALLOCATED_FD": "9"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "slurm-k8s: error: salloc: its command cannot be started in the Pod: salloc has closed the connection to it\n"))

    def test_other_commands_have_no_socket(self):
        self.command("srun", "ls -l /proc/self/fd; env\n")
        _, out, _ = self.bridge().run("srun")
        self.assertNotIn("socket:", out)
        self.assertNotIn("ALLOCATE", out)

    def test_a_node_that_makes_no_sense(self):
        records = wire.record("A", "true") + wire.record("E", "SLURM_X=1") + wire.record("D", "/")
        inner = message(0, OPEN, records) + message(0, RUN) + message(0, SIGNAL, b"\0\0\0\x0a")
        for seed in range(40):
            chance = random.Random(seed)
            bridge = Bridge(self.directory)
            try:
                bridge.node.close()
                bridge.node = None
                bridge.start("salloc; echo $?")
                bridge.core.until("a call", lambda: bridge.step.stream(COMMANDS, wire.STDOUT).offset > 0)
                bad = bytearray(inner)
                for _ in range(chance.randrange(0, 6)):
                    bad[chance.randrange(len(bad))] = chance.randrange(256)
                data = message(1, ALLOCATED, bytes(bad)) + message(1, EXIT, b"\0\0\3\0")
                bridge.core.send(wire.DATA, data, task=COMMANDS, stream=wire.STDIN, offset=0)
                bridge.core.send(wire.EOF, task=COMMANDS, stream=wire.STDIN, offset=len(data))
                bridge.core.until("the task's end", lambda: 0 in bridge.step.exits)
            finally:
                bridge.close()


if __name__ == "__main__":
    unittest.main()
