# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands in the Pod: podinit's part and the relay's, with scripts for the real ones."""
import os
import random
import select
import socket
import subprocess
import unittest

import podinit_wire as wire
from commands_driver import (ALL, BEGIN, COMMAND_END, COMMANDS, CREDIT, ERROR, EXIT, INPUT, OPEN, OUTPUT, RELAY,
                             REFUSED, RUN, SIGNAL, Bridge, CommandsTest, Node, message)
from podinit_driver import LIMIT, read_text, wait_for, write_text


class Test(CommandsTest):
    def test_streams_words_and_code(self):
        self.command("squeue", 'echo "out $0 $#: $1|$2"; echo err >&2; exit 7\n')
        status, out, err = self.bridge().run('squeue "a b" ""; echo "code $?"')
        self.assertEqual((status, out, err), (0, "out %s 2: a b|\ncode 7\n" % self.path("squeue"), "err\n"))

    def test_environment(self):
        self.command("srun", "env\npwd\n")
        status, out, _ = self.bridge(image={"LD_LIBRARY_PATH": "/image/lib"}).run(
            "export FOO='a b' SLURM_JOB_ID=7 SLURM_CONF=/evil SBATCH_ACCOUNT=x SLURM_K8S_WORKDIR=/inherited HOME=/root2; "
            "export SLURM_K8S_INSIDE_IMAGE=evil SLURM_K8S_ENV_X=evil; cd /usr/lib; srun")
        lines = out.splitlines()
        for line in ("SLURM_K8S_ENV_FOO=a b", "SLURM_JOB_ID=7", "SLURM_CONF=/node/slurm.conf", "SBATCH_ACCOUNT=x",
                     "SLURM_K8S_ENV_SBATCH_ACCOUNT=x", "SLURM_K8S_INSIDE_IMAGE=debian:12", "SLURM_K8S_ENV_HOME=/root2",
                     "SLURM_K8S_INSIDE_DIRECTORY=/usr/lib", "HOME=/", "PATH=/usr/bin:/bin", "/usr/lib",
                     "SLURM_K8S_ENV_LD_LIBRARY_PATH=/image/lib"):
            self.assertIn(line, lines)
        names = [line.split("=")[0] for line in lines]
        for name in ("FOO", "SECRET", "LD_LIBRARY_PATH", "SLURM_K8S_WORKDIR", "SLURM_K8S_ENV_SLURM_JOB_ID",
                     "SLURM_K8S_ENV_X", "SLURM_K8S_COMMANDS_FD"):
            self.assertNotIn(name, names)

    def test_binding_of_the_calling_task(self):
        self.command("srun", "env | grep -c BIND; echo ${SLURM_CPU_BIND-none}\n")
        _, out, _ = self.bridge().run(
            "export SLURM_CPU_BIND=quiet,mask_cpu:0x1 SLURM_CPU_BIND_VERBOSE=quiet SLURM_CPU_BIND_TYPE=mask_cpu: SLURM_CPU_BIND_LIST=0x1; "
            "srun; export SLURM_CPU_BIND=map_cpu:2; srun")
        self.assertEqual(out, "0\nnone\n4\nmap_cpu:2\n")

    def test_input_of_any_size(self):
        self.command("srun", "sha256sum\n")
        with open(self.path("input"), "wb") as file:
            file.write(random.Random(1).randbytes(3_000_000))
        want = subprocess.run(["sha256sum"], input=random.Random(1).randbytes(3_000_000), capture_output=True).stdout.decode()
        status, out, _ = self.bridge().run("srun < %s" % self.path("input"))
        self.assertEqual(out, want)

    def test_output_of_any_size(self):
        self.command("sacct", "head -c 5000000 /dev/zero; echo end >&2\n")
        status, out, err = self.bridge().run("sacct | wc -c")
        self.assertEqual((out, err), ("5000000\n", "end\n"))

    def test_a_loop_keeps_its_input(self):
        self.command("squeue", 'echo "job $2"\n')
        _, out, _ = self.bridge().run("printf '1\\n2\\n3\\n' | while read job; do squeue -j $job; done")
        self.assertEqual(out, "job 1\njob 2\njob 3\n")

    def test_srun_that_reads_nothing_leaves_a_loop_its_input(self):
        self.command("srun", 'for last; do :; done; echo "job $last"; cat >/dev/null\n')
        for before, want in (("--input=none", True), ("--input none", True), ("-N1 -inone", True), ("-n 2 -l -i none", True),
                             ("-i/dev/null", True), ("-k --immediate -I5 --input /dev/null", True), ("--input=all", False),
                             ("-i0", False), ("", False), ("tool --input=none", False), ("-n 2 tool -i none", False),
                             ("-l tool -inone", False), ("-- -inone", False), ("--wait 5 --input=none", True)):
            _, out, _ = self.bridge().run("printf '1\\n2\\n' | while read job; do srun %s $job; done" % before)
            self.assertEqual(out, "job 1\njob 2\n" if want else "job 1\n", before)
        _, out, _ = self.bridge().run("export SLURM_STDINMODE=none; printf '1\\n2\\n' | while read job; do srun $job; done")
        self.assertEqual(out, "job 1\njob 2\n")

    def test_a_pipe_that_closes(self):
        self.command("sinfo", "while :; do echo y; done\n")
        _, out, err = self.bridge().run("sinfo | head -1; echo next")
        self.assertEqual((out, err), ("y\nnext\n", ""))

    def test_signals(self):
        self.command("srun", "trap 'echo usr1; exit 3' USR1\necho ready\nwhile :; do sleep 0.1; done\n")
        _, out, _ = self.bridge().run("srun > %s & until grep -q ready %s; do sleep 0.05; done; kill -USR1 $!; wait $!; "
                                      "echo $?; cat %s" % ((self.path("o"),) * 3))
        self.assertEqual(out, "3\nready\nusr1\n")

    def test_dies_of_the_same_signal(self):
        self.command("srun", "kill -TERM $$\n")
        _, out, _ = self.bridge().run("srun; echo $?")
        self.assertEqual(out, "143\n")

    def test_caller_that_goes(self):
        self.command("srun", "trap 'echo ended > %s; exit' TERM\necho ready > %s\nwhile :; do sleep 0.1; done\n"
                     % (self.path("ended"), self.path("ready")))
        bridge = self.bridge()
        bridge.start("srun & until test -s %s; do sleep 0.05; done; kill -9 $!; wait; read forever" % self.path("ready"))
        bridge.until("the command's end", lambda: os.path.exists(self.path("ended")))

    def test_script_of_sbatch(self):
        self.command("sbatch", 'echo "$# ${1##*/} $2"; for last; do :; done; echo "$last"; cat "$3"; basename "$3"; echo "$3" > %s\n'
                     % self.path("at"))
        write_text(self.path("job.sh"), "#!/bin/sh\necho hello\n")
        _, out, _ = self.bridge().run("cd %s; sbatch -N 2 ./job.sh word" % self.directory)
        self.assertEqual(out, "4 -N 2\nword\n#!/bin/sh\necho hello\njob.sh\n")
        self.assertFalse(os.path.exists(os.path.dirname(read_text(self.path("at")).strip())))

    def test_script_of_sbatch_behind_shortened_options(self):
        self.command("sbatch", 'echo "$#"; for last; do :; done; cat "$last"\n')
        write_text(self.path("job.sh"), "echo hello\n")
        for before, count in (("--requ", 2), ("--parsa -H", 3), ("--cons fast", 3), ("--constraint fast", 3), ("--exclus", 2), ("-I5", 2)):
            _, out, _ = self.bridge().run("cd %s; sbatch %s job.sh < /dev/null" % (self.directory, before))
            self.assertEqual(out, "%d\necho hello\n" % count, before)

    def test_script_of_sbatch_with_components(self):
        self.command("sbatch", 'echo "$1 $2 $3 ${4##*/}"; cat "$4"\n')
        write_text(self.path("job.sh"), "#!/bin/sh\necho hello\n")
        _, out, err = self.bridge().run("cd %s; sbatch -n1 : -n2 job.sh" % self.directory)
        self.assertEqual((out, err), ("-n1 : -n2 job.sh\n#!/bin/sh\necho hello\n", ""))

    def test_script_of_sbatch_from_stdin(self):
        self.command("sbatch", 'echo "$*"; cat\n')
        _, out, _ = self.bridge().run("echo text | sbatch --time=5 -J name; sbatch --wrap 'a b' -n 2 < /dev/null")
        self.assertEqual(out, "--time=5 -J name\ntext\n--wrap a b -n 2\n")

    def test_script_that_is_not_there(self):
        self.command("sbatch", "echo never\n")
        _, out, err = self.bridge().run("sbatch nowhere.sh; echo $?")
        self.assertEqual((out, err), ("1\n", "sbatch: error: Unable to open file nowhere.sh\n"))

    def test_what_the_site_does_not_offer(self):
        for name in ALL:
            self.command(name, 'echo "ran $*"\n')
        bridge = self.bridge(offered=["squeue", "scontrol queries"])
        _, out, err = bridge.run(
            "squeue; scontrol -o -M c show job 7; scontrol update x; scontrol -M show delete; scontrol; "
            "scontrol -oM show update x; scontrol --clus show update x; scontrol -Mc show; scontrol -M; "
            "ls %s/bin; ln -s $(readlink %s/bin/squeue) %s/bin/srun; srun; echo $?"
            % ((bridge.step.directory,) * 3))
        self.assertEqual(out, "ran \nran -o -M c show job 7\nscontrol\nsqueue\n1\n")
        self.assertEqual([line.split(": ")[2] for line in err.splitlines()], ["scontrol"] * 7 + ["srun"], err)
        self.assertIn("this site does not offer it in Pods (commands.allow in k8s.yaml)", err)

    def test_not_on_the_node(self):
        _, _, err = self.bridge().run("sinfo")
        self.assertEqual(err, "slurm-k8s: error: sinfo: not found on the Slurm node (commands.path in k8s.yaml)\n")

    def test_too_many_at_once(self):
        self.command("srun", "echo x >> %s; until test -e %s; do sleep 0.2; done\n" % (self.path("running"), self.path("go")))
        bridge = self.bridge()
        bridge.start("for i in $(seq 70); do srun & done; wait; echo all; srun && echo again")
        running = self.path("running")
        bridge.until("the refusals", lambda: bridge.error().count("\n") == 6)
        bridge.until("the others", lambda: os.path.exists(running) and read_text(running).count("x") == 64)
        self.assertEqual(set(bridge.error().splitlines()),
                         {"slurm-k8s: error: srun: too many of Slurm's commands run in this Pod at once"})
        write_text(self.path("go"), "")
        bridge.finish()
        self.assertEqual(bridge.text(), "all\nagain\n")

    def test_few_files_and_many_calls(self):
        """The core is let in whatever the tasks call."""
        self.command("srun", "until test -e %s; do sleep 0.2; done\n" % self.path("go"))
        bridge = self.bridge(limits=["prlimit", "--nofile=48:48"])
        bridge.start("for i in $(seq 40); do srun & done; wait; echo all")
        bridge.until("a refusal", lambda: "too many of Slurm's commands" in bridge.error())
        bridge.core.close()
        bridge.connect()
        write_text(self.path("go"), "")
        bridge.finish()
        self.assertEqual(bridge.text(), "all\n")

    def test_one_that_never_reads_and_goes(self):
        self.command("srun", "trap 'head -c 1000000 /dev/zero; echo over > %s; exit' TERM\n"
                     "echo ready > %s\nwhile :; do head -c 100 /dev/zero; sleep 0.01; done\n" % (self.path("over"), self.path("ready")))
        bridge = self.bridge()
        files = "/proc/%d/fd" % bridge.node.process.pid
        bridge.turn(0.5)
        before = len(os.listdir(files))
        bridge.start("sh -c 'echo $$ > %s; exec srun' | sleep 200 & until test -s %s; do sleep 0.05; done; kill -9 $(cat %s); "
                     "read forever" % (self.path("pid"), self.path("ready"), self.path("pid")))
        bridge.until("the command's end", lambda: os.path.exists(self.path("over")))
        bridge.until("the call's", lambda: len(os.listdir(files)) == before)

    def test_large_calls_at_once(self):
        node = Node(ALL, [self.directory])
        self.addCleanup(node.close)
        for call in range(1, 7):
            node.carry(message(call, BEGIN) + message(call, OPEN, b"x" * 16384) * 500)
        node.until_said(message(5, REFUSED, b"too many large calls of Slurm's commands are made in this Pod at once"))

    def test_one_that_does_not_read_keeps_nobody_waiting(self):
        self.command("srun", "cat /dev/zero\n")
        self.command("squeue", "head -c 300000 /dev/zero\n")
        bridge = self.bridge()
        bridge.start("srun | sleep 200 & for i in 1 2 3; do squeue | wc -c; done; kill %1; read forever")
        bridge.until_text("300000\n300000\n300000\n")

    def test_resumes_at_the_byte(self):
        self.command("srun", "sha256sum; seq 200000\n")
        want = subprocess.run("seq 100000 | sha256sum; seq 200000 | sha256sum", shell=True, capture_output=True, text=True).stdout
        bridge = self.bridge()
        bridge.start("seq 100000 | srun > %s; head -1 %s; tail -n +2 %s | sha256sum" % ((self.path("o"),) * 3))
        for size in (100_000, 400_000, 800_000):
            bridge.until("%d bytes" % size, lambda: len(bridge.down) + bridge.node.sent >= size)
            bridge.core.close()
            bridge.connect()
        bridge.finish()
        self.assertEqual(bridge.text(), want)

    def test_another_user(self):
        bridge = self.bridge()
        bridge.start("read forever")
        path = bridge.step.directory + "/commands"
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        os.chmod(path, 0o666)
        os.chmod(bridge.step.directory, 0o755)
        program = ("import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                   "s.sendall(bytes.fromhex(sys.argv[2])); sys.exit(0 if s.recv(1) == b'' else 9)")
        done = subprocess.run(["setpriv", "--reuid=12345", "--clear-groups", "python3", "-c", program, path,
                               message(0, RUN).hex()], capture_output=True, text=True, timeout=LIMIT)
        self.assertTrue(done.returncode == 0 or "Broken pipe" in done.stderr or "reset" in done.stderr, done.stderr)
        self.assertIn("another user", bridge.step.read_log())
        self.assertEqual(bridge.step.stream(COMMANDS, wire.STDOUT).offset, 0)

    def test_terminal(self):
        self.command("srun", 'test -t 0 && test -t 1 && echo "tty $(stty size)"; read line; echo "got $line"; '
                     "trap 'echo int; exit 5' INT; echo wait; while :; do sleep 0.1; done\n")
        bridge = self.bridge()
        bridge.start("srun; echo code $?", size=(33, 99))
        bridge.until_text("tty 33 99\r\n")
        bridge.type(b"hello\r")
        bridge.until_text("got hello\r\nwait\r\n")
        bridge.type(b"\x03")
        bridge.until_text("int\r\ncode 5\r\n")

    def test_the_end_of_the_job(self):
        self.command("srun", "trap '' TERM; echo $$ > %s; while :; do sleep 0.1; done\n" % self.path("pid"))
        bridge = self.bridge()
        bridge.start("srun")
        bridge.until("the command", lambda: os.path.exists(self.path("pid")) and read_text(self.path("pid")))
        bridge.node.close()
        bridge.node = None
        pid = int(read_text(self.path("pid")))
        wait_for("the command's end", lambda: not os.path.exists("/proc/%d" % pid))
        bridge.core.send(wire.EOF, task=COMMANDS, stream=wire.STDIN, offset=len(bridge.down))
        bridge.core.until("the caller's end", lambda: 0 in bridge.step.exits)
        self.assertIn("slurm-k8s: error: srun: the Slurm node does not run Slurm's commands", bridge.error())

    def test_callers_that_make_no_sense(self):
        self.command("squeue", "echo fine\n")
        bridge = self.bridge()
        bridge.start("until test -e %s; do sleep 0.05; done; squeue" % self.path("go"))
        chance = random.Random(5)
        good = [message(0, OPEN, wire.record("A", "squeue")), message(0, RUN), message(0, INPUT, b"x" * 100),
                message(0, SIGNAL, b"\0\0\0\x0f"), message(0, COMMAND_END, b"\0\0\0\0"), message(0, CREDIT, b"\xff\xff\xff\xff"), message(0, OPEN, b"\xff" * 40)]
        for _ in range(300):
            with socket.socket(socket.AF_UNIX) as caller:
                caller.connect(bridge.step.directory + "/commands")
                data = bytearray(b"".join(chance.choices(good, k=chance.randrange(1, 6))))
                for _ in range(chance.randrange(0, 4)):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                try:
                    caller.sendall(data)
                except (BrokenPipeError, ConnectionResetError):
                    pass
            bridge.turn(0)
        write_text(self.path("go"), "")
        # Calls of the mutations may still hold slots: they end by themselves.
        bridge.finish()
        self.assertIn(bridge.text(), ("fine\n",))

    def test_a_node_that_makes_no_sense(self):
        for seed in range(25):
            chance = random.Random(seed)
            bridge = Bridge(self.directory)
            try:
                bridge.node.close()
                bridge.node = None
                bridge.start("squeue; echo $?")
                bridge.core.until("a call", lambda: bridge.step.stream(COMMANDS, wire.STDOUT).offset > 0)
                data = bytearray(message(1, OUTPUT, b"o" * 50) + message(1, ERROR, b"e" * 50) +
                                 message(1, CREDIT, b"\0\0\1\0") + message(chance.randrange(70), EXIT, b"\0\0\3\0"))
                for _ in range(chance.randrange(1, 9)):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                bridge.core.send(wire.DATA, bytes(data), task=COMMANDS, stream=wire.STDIN, offset=0)
                bridge.core.send(wire.EOF, task=COMMANDS, stream=wire.STDIN, offset=len(data))
                bridge.core.until("the task's end", lambda: 0 in bridge.step.exits)
            finally:
                bridge.close()

    def test_a_pod_that_makes_no_sense(self):
        self.command("squeue", "cat\n")
        chance = random.Random(9)
        records = wire.record("A", "squeue") + wire.record("E", "A=b") + wire.record("D", "/")
        good = message(1, BEGIN) + message(1, OPEN, records) + message(1, RUN) + message(1, INPUT, b"abc") + message(1, INPUT + 1)
        for _ in range(60):
            node = Node(ALL, [self.directory])
            data = bytearray(good * 3)
            for _ in range(chance.randrange(0, 12)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            try:
                node.carry(data)
                node.send(wire.HEARTBEAT, offset=1)
                node.socket.shutdown(socket.SHUT_WR)
                while node.socket.recv(1 << 16):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
            node.close()

    def test_relay_makes_the_process_when_it_is_needed(self):
        core, theirs = socket.socketpair()
        commands, its = socket.socketpair()
        environment = {"PATH": "/usr/bin", "SLURM_K8S_RELAY_FD": str(theirs.fileno()), "SLURM_K8S_ARGV0": "/bin/true",
                       "SLURM_K8S_COMMANDS_FD": str(its.fileno())}
        relay = subprocess.Popen(["relay"], executable=RELAY, env=environment, stdin=subprocess.DEVNULL,
                                 pass_fds=[theirs.fileno(), its.fileno()])
        theirs.close()
        its.close()
        self.addCleanup(commands.close)
        children = "/proc/%d/task/%d/children" % (relay.pid, relay.pid)
        self.assertTrue(select.select([core], [], [], LIMIT)[0])
        self.assertEqual(read_text(children), "")
        commands.sendall(wire.Frame(wire.START).encode())
        commands.settimeout(LIMIT)
        self.assertEqual(wire.Decoder(0).feed(commands.recv(100))[0].type, wire.HELLO)
        child = read_text(children).split()[0]
        self.assertEqual(read_text("/proc/%s/cmdline" % child), "relay\0--commands\0")
        core.sendall(wire.Frame(wire.EXIT, payload=bytes(32)).encode())
        self.assertEqual(relay.wait(LIMIT), 0)
        core.close()


if __name__ == "__main__":
    unittest.main()
