# SPDX-License-Identifier: Apache-2.0
"""A podinit with a task that calls Slurm's commands, the process that runs them (relay --commands),
and between them a core that carries bytes. PODINIT and RELAY name the builds to test.

The real commands are scripts in a directory of the test's."""
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import podinit_wire as wire
from podinit_driver import LIMIT, Late, Step, Stream, write_text

RELAY = os.path.abspath(os.environ.get("RELAY", "build/out/relay"))
COMMANDS = 0xFFFFFFFE
ALL = ["srun", "sbatch", "salloc", "scancel", "squeue", "sinfo", "sacct", "scontrol"]
MESSAGE = struct.Struct(">IBBBBI")
(BEGIN, GONE, OPEN, RUN, INPUT, INPUT_END, SIGNAL, WINSIZE, COMMAND_END, CREDIT, OUTPUT, ERROR, TERMINAL, ALLOCATED, EXIT,
 REFUSED) = range(1, 17)


def message(call, kind, payload=b""):
    return MESSAGE.pack(call, kind, 0, 0, 0, len(payload)) + payload


class Node:
    """The process on the Slurm node, and the core's end of its socket."""

    def __init__(self, offered, directories, environment=None, variables=("SLURM_K8S_INSIDE_IMAGE=debian:12",)):
        self.socket, theirs = socket.socketpair()
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/", "SLURM_CONF": "/node/slurm.conf",
                       "SLURM_K8S_WORKDIR": "/inherited", "SECRET": "node", **(environment or {}),
                       "SLURM_K8S_COMMANDS_FD": str(theirs.fileno())}
        self.process = subprocess.Popen(["relay", "--commands"], executable=RELAY, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        theirs.close()
        self.decoder, self.sent, self.said = wire.Decoder(0), 0, b""
        records = b"".join([wire.record("C", name) for name in offered] + [wire.record("P", path) for path in directories] +
                           [wire.record("E", text) for text in variables])
        self.send(wire.START, records)

    def send(self, type, payload=b"", **fields):
        self.socket.settimeout(LIMIT)
        self.socket.sendall(wire.Frame(type, payload=payload, **fields).encode())

    def carry(self, data):
        for at in range(0, len(data), wire.PAYLOAD):
            part = bytes(data[at:at + wire.PAYLOAD])
            self.send(wire.DATA, part, stream=wire.STDOUT, offset=self.sent)
            self.sent += len(part)

    def until_said(self, text):
        """Until these bytes came on the stream to the Pod."""
        while text not in self.said:
            data = self.socket.recv(1 << 16)
            assert data, "the relay of commands has ended"
            for frame in self.decoder.feed(data):
                if frame.type == wire.DATA:
                    self.said += frame.payload

    def close(self):
        self.socket.close()
        code = self.process.wait(LIMIT)
        assert code == 0, "the relay of commands ended with %d" % code


class Up(Stream):
    """The stream to the Slurm node: what is new goes there."""

    def __init__(self, bridge):
        super().__init__()
        self.bridge = bridge

    def take(self, frame):
        new = frame.payload[self.offset - frame.offset:]
        super().take(frame)
        if new and self.bridge.node:
            self.bridge.node.carry(new)


class CommandsTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="commands-")
        self.addCleanup(shutil.rmtree, self.directory, True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def command(self, name, script):
        """A real command. Written before any task begins that calls it."""
        write_text(self.path(name), "#!/bin/sh\n" + script)
        os.chmod(self.path(name), 0o755)

    def bridge(self, **options):
        bridge = Bridge(self.directory, **options)
        self.addCleanup(bridge.close)
        return bridge


class Bridge:
    def __init__(self, directory, offered=ALL, environment=None, image=None, **options):
        self.directory, self.offered = directory, offered
        self.step = Step(image={"PATH": "/usr/bin:/bin", **(image or {})}, **options)
        self.node = Node(offered, [directory], environment)
        self.step.streams[(COMMANDS, wire.STDOUT)] = Up(self)
        self.core, self.down, self.told, self.typed = None, bytearray(), 0, 0
        self.connect()

    def connect(self):
        """A new pump, which goes on where podinit is."""
        self.core = self.step.connect()
        said = self.core.said("I", COMMANDS)
        self.send_down(int.from_bytes(said[0], "big") if said else 0)

    def start(self, script, size=None, shell="/bin/sh"):
        """`size`: the rows and columns of a terminal."""
        records = [wire.record("C", name.split()[0]) for name in self.offered]
        records += [wire.record("A", word) for word in (shell, "-c", script)]
        if size:
            records.append(wire.record("T", struct.pack(">HH", *size)))
        self.core.start(*records)

    def type(self, keys):
        """On the task's terminal."""
        self.core.send(wire.DATA, keys, task=0, stream=wire.STDIN, offset=self.typed)
        self.typed += len(keys)

    def send_down(self, offset):
        while offset < len(self.down):
            part = bytes(self.down[offset:offset + wire.PAYLOAD])
            self.core.send(wire.DATA, part, task=COMMANDS, stream=wire.STDIN, offset=offset)
            offset += len(part)

    def turn(self, limit):
        """Carries what there is, once."""
        ready, _, _ = select.select([self.core.process.stdout, self.node.socket], [], [], limit)
        if self.node.socket in ready:
            data = self.node.socket.recv(1 << 16)
            if not data:
                raise EOFError("the relay of commands has ended; podinit's log: " + self.step.read_log())
            for frame in self.node.decoder.feed(data):
                if frame.type == wire.DATA:
                    assert frame.offset == len(self.down)
                    self.down += frame.payload
                    self.send_down(frame.offset)
        if self.core.process.stdout in ready and not self.core.read("podinit"):
            raise EOFError("podinit's connection has ended; its log: " + self.step.read_log())
        had = self.core.acknowledged.get(COMMANDS, 0)
        if had > self.told:
            self.told = had
            self.node.send(wire.ACK, stream=wire.STDIN, offset=had)

    def until(self, what, condition):
        deadline = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > deadline:
                raise Late("waited %d s for %s; out: %r err: %r; podinit's log: %s" % (
                    LIMIT, what, self.text()[-500:], self.error()[-500:], self.step.read_log()))
            self.turn(0.05)

    def text(self):
        return self.step.text(0, wire.STDOUT)

    def error(self):
        return self.step.text(0, wire.STDERR)

    def until_text(self, text):
        self.until(repr(text), lambda: text in self.text())

    def finish(self):
        """The wait status of the task."""
        self.until("the task's end", lambda: 0 in self.step.exits)
        return self.step.exits[0].status

    def run(self, script):
        """Runs a task: its wait status, output and error."""
        self.start(script)
        status = self.finish()
        return status, self.text(), self.error()

    def close(self):
        self.core.close()
        self.step.close()
        if self.node:
            self.node.close()
