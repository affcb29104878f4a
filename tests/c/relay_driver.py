# SPDX-License-Identifier: Apache-2.0
"""Starts a relay as slurmstepd would, and speaks to it as the core would. RELAY names the build to test."""
import os
import select
import socket
import struct
import subprocess
import tempfile
import unittest

import podinit_wire as wire
from podinit_driver import LIMIT, Late, read_text
from podinit_wire import STDIN

BINARY = os.path.abspath(os.environ.get("RELAY", "build/out/relay"))


class Relay:
    """A relay as slurmstepd would start it, and the core's end of its socket."""

    def __init__(self, argv=("/bin/true",), stdin=subprocess.DEVNULL, stdout=None, stderr=None, environment=None,
                 batch=False, prepend=False, hello=True, commands=None, **popen):
        self.directory = tempfile.TemporaryDirectory(prefix="relay-")
        self.core, theirs = socket.socketpair()
        self.out, self.err = self.path("out"), self.path("err")
        variables = {"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "7", "SLURM_K8S_RELAY_FD": str(theirs.fileno())}
        variables.update(environment or {})
        passed = [theirs.fileno()]
        if commands:
            variables["SLURM_K8S_COMMANDS_FD"] = str(commands.fileno())
            passed.append(commands.fileno())
        if prepend:
            command = ["relay", "--task", "--", *argv]
        else:
            command = ["relay", *argv[1:]]
            variables["SLURM_K8S_ARGV0"] = argv[0]
        if batch:
            variables["SLURM_K8S_BATCH"] = "1"
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self.process = subprocess.Popen(command, executable=BINARY, stdin=stdin, stdout=stdout or out,
                                            stderr=stderr or err, env=variables, pass_fds=passed, **popen)
        theirs.close()
        if commands:
            commands.close()
        self.decoder, self.frames, self.acknowledged, self.input = wire.Decoder(0), [], {}, b""
        self.records = wire.records(self.hello()) if hello else []

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def send(self, type, payload=b"", **fields):
        self.raw(wire.Frame(type, payload=payload, **fields).encode())

    def raw(self, data):
        self.core.settimeout(LIMIT)
        self.core.sendall(data)

    def read(self, what):
        if not select.select([self.core], [], [], LIMIT)[0]:
            raise Late("waited %d s for %s; stderr: %s" % (LIMIT, what, read_text(self.err)))
        try:
            data = self.core.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError("the relay closed, waiting for %s; stderr: %s" % (what, read_text(self.err)))
        for frame in self.decoder.feed(data):
            if frame.type == wire.ACK:
                self.acknowledged[frame.stream] = frame.offset
            if frame.type == wire.DATA:
                assert frame.stream == STDIN and frame.offset == len(self.input)
                self.input += frame.payload
            self.frames.append(frame)

    def until(self, what, condition):
        while not condition():
            self.read(what)

    def expect(self, type):
        while True:
            while self.frames:
                frame = self.frames.pop(0)
                if frame.type == type:
                    return frame
            self.read(wire.NAMES[type])

    def hello(self):
        data = b""
        while True:
            frame = self.expect(wire.HELLO)
            data += frame.payload
            if not frame.flags & wire.MORE:
                return data

    def frames_of(self, type):
        return [frame for frame in self.frames if frame.type == type]

    def values(self, tag):
        return [value.decode(errors="surrogateescape") for t, _, value in self.records if t == tag]

    def exit(self, status):
        self.send(wire.EXIT, struct.pack(">IIQQQ", status, 0, 0, 0, 0))

    def until_acknowledged(self, stream, offset):
        self.until("ACK %d of stream %d" % (offset, stream), lambda: self.acknowledged.get(stream) == offset)

    def wait(self):
        return self.process.wait(LIMIT)

    def signals(self, number):
        """The next `number` signals."""
        return [int.from_bytes(self.expect(wire.SIGNAL).payload, "big") for _ in range(number)]

    def close(self):
        self.core.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        text = read_text(self.err)
        self.directory.cleanup()
        assert "Sanitizer" not in text and "runtime error" not in text, text


class RelayTest(unittest.TestCase):
    def relay(self, *args, **kwargs):
        relay = Relay(*args, **kwargs)
        self.addCleanup(relay.close)
        return relay

    def pipe(self):
        ends = os.pipe()
        files = [os.fdopen(ends[0], "rb", 0), os.fdopen(ends[1], "wb", 0)]
        for file in files:
            self.addCleanup(file.close)
        return files
