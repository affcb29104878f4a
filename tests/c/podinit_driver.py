# SPDX-License-Identifier: Apache-2.0
"""Starts a podinit and speaks to it as the core would: through pumps.

Nothing sleeps: every wait names what it waits for, and gives up after LIMIT seconds."""
import contextlib
import ctypes
import fcntl
import hashlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time

import podinit_wire as wire

BINARY = os.path.abspath(os.environ.get("PODINIT", "build/out/podinit"))
LIMIT = float(os.environ.get("PODINIT_TEST_LIMIT", "60"))
CLONE_NEWPID = 0x20000000
SESSION = 0x0123456789ABCDEF
# Without a passwd entry, capabilities, or ways to get any: as in a container.
USER = 12345
AS_USER = ["setpriv", "--reuid=%d" % USER, "--regid=%d" % USER, "--clear-groups", "--inh-caps=-all",
           "--bounding-set=-all", "--no-new-privs"]

# A shell that runs the tests in the background has them ignore these, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


# A pump in a pid namespace has our /proc, where LeakSanitizer looks for itself in vain.
PUMP_ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


class Late(AssertionError):
    pass


def wait_for(what, condition, limit=None):
    """Polls a condition that no fd announces (another process's state)."""
    deadline = time.monotonic() + (limit or LIMIT)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Late("waited %d s for %s" % (limit or LIMIT, what))
        select.select([], [], [], 0.005)


def read_text(path):
    with open(path) as file:
        return file.read()


def write_text(path, text):
    with open(path, "w") as file:
        file.write(text)


@contextlib.contextmanager
def children_in(pid):
    """Children started here are in the pid namespace of `pid`, as an exec'ed process is in its
    container's. (nsenter would do, but it stops itself whenever its child is stopped.)"""
    if pid is None:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for path in ("/proc/%d/ns/pid" % pid, "/proc/self/ns/pid"):
        with open(path) as namespace:
            if libc.setns(namespace.fileno(), CLONE_NEWPID):
                raise OSError(ctypes.get_errno(), "setns " + path)
        if path != "/proc/self/ns/pid":
            yield


class Stream:
    """What came of one output stream, over all connections."""

    def __init__(self):
        self.offset, self.hash, self.data, self.ended = 0, hashlib.sha256(), bytearray(), False

    def take(self, frame):
        assert frame.offset <= self.offset, "gap: have %d, got %r" % (self.offset, frame)
        new = frame.payload[self.offset - frame.offset:]
        self.hash.update(new)
        if len(self.data) < 1 << 20:
            self.data += new
        self.offset += len(new)


class Source:
    """What came out of one podinit, over all its cores' connections."""

    session = SESSION

    def connect(self, hello=True):
        core = Core(self)
        self.cores.append(core)
        if hello:
            core.hello()
        return core

    def stream(self, task, stream):
        return self.streams.setdefault((task, stream), Stream())

    def text(self, task=0, stream=wire.STDOUT):
        return self.stream(task, stream).data.decode(errors="replace")


class Step(Source):
    """A podinit with a directory of its own."""

    def __init__(self, isolated=False, image=None, limits=(), **options):
        self.directory = tempfile.mkdtemp(prefix="podinit-")
        # A copy of its own: in a namespace it runs as a user who may not see our folders.
        binary = shutil.copy(BINARY, os.path.join(self.directory, "podinit"))
        self.report_path = os.path.join(self.directory, "report")
        self.cgroup = os.path.join(self.directory, "cgroup")
        open(self.report_path, "w").close()
        os.mkdir(self.cgroup)
        self.isolated = isolated
        self.streams, self.exits, self.cores = {}, {}, []
        common = ["--session=%016x" % SESSION, "--run=" + self.directory]
        self.init = [binary, "init", *common, "--report=" + self.report_path, "--cgroup=" + self.cgroup]
        self.init += ["--%s=%s" % (name.replace("_", "-"), value) for name, value in options.items()]
        self.pump = [binary, "pump", *common]
        environment = {"PATH": "/usr/bin:/bin", "FROM_IMAGE": "yes", "BOTH": "image", "HOME": "/image"}
        environment.update(image or {})
        self.log = open(os.path.join(self.directory, "log"), "w+")
        prefix = []
        if isolated:
            prefix = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *AS_USER]
            for name in (self.directory, self.report_path, self.cgroup):
                os.chown(name, USER, USER)
        else:
            prefix = list(limits)
        self.process = subprocess.Popen(prefix + self.init, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=self.log, env=environment, cwd="/", start_new_session=True)
        wait_for("podinit's socket", lambda: os.path.exists(self.directory + "/socket") or self.process.poll())
        self.pid = self.child_of(self.process.pid) if isolated else self.process.pid

    @staticmethod
    def child_of(pid):
        return int(wait_for("a child of %d" % pid, lambda: read_text("/proc/%d/task/%d/children" % (pid, pid)).split())[0])

    def wait(self):
        """The exit code of podinit. The kernel ends a namespace only when its pumps are reaped."""
        try:
            wait_for("podinit to end", lambda: ([core.process.poll() for core in self.cores],
                                                self.process.poll() is not None)[1])
        except Late as late:
            raise Late("%s; its log: %s" % (late, self.read_log())) from None
        return self.process.returncode

    def read_log(self):
        return read_text(self.log.name)

    def report(self):
        return read_text(self.report_path)

    def close(self):
        for core in self.cores:
            core.close()
        if self.process.poll() is None:
            for pid in {self.pid, self.process.pid}:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
        log = self.read_log()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        assert "Sanitizer" not in log and "runtime error" not in log, log


class Core:
    """One connection: a pump and its frames."""

    def __init__(self, step):
        self.step = step
        command = step.pump
        if step.isolated:
            command = [*AS_USER, *command]
        with children_in(step.pid if step.isolated else None):
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=step.log,
                                            bufsize=0, env=PUMP_ENVIRONMENT if step.isolated else None)
        self.decoder = wire.Decoder(step.session)
        self.queue, self.acknowledging, self.eof = [], True, False
        self.acknowledged, self.records, self.input_ended = {}, [], False

    def pump_pid(self):
        return self.process.pid

    def until_connected(self):
        """The pump has its socket: those that begin later come later."""
        directory = "/proc/%d/fd/" % self.pump_pid()

        def has_socket():
            try:
                return any(os.readlink(directory + fd).startswith("socket:") for fd in os.listdir(directory))
            except FileNotFoundError:
                return False
        wait_for("a connection", has_socket)

    def until_carried(self):
        """What was sent is in podinit's socket: the pump has taken it, and waits for more."""
        def is_carried():
            waiting = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))
            return not any(waiting) and read_text("/proc/%d/stat" % self.pump_pid()).rsplit(")", 1)[1].split()[0] == "S"
        wait_for("the pump", is_carried)

    def raw(self, data):
        view = memoryview(data)
        while view:
            if not select.select([], [self.process.stdin], [], LIMIT)[1]:
                raise Late("waited %d s for the pump to take input" % LIMIT)
            view = view[os.write(self.process.stdin.fileno(), view[:4096]):]

    def send(self, type, payload=b"", task=wire.ALL, **fields):
        self.raw(wire.Frame(type, session=self.step.session, task=task, payload=payload, **fields).encode())

    def hello(self):
        self.send(wire.HELLO)
        data = b""
        while True:
            frame = self.expect(wire.HELLO)
            data += frame.payload
            if not frame.flags & wire.MORE:
                break
        self.records = wire.records(data)

    def said(self, tag, task=wire.ALL):
        return [value for t, k, value in self.records if t == tag and k == task]

    def phase(self):
        return int.from_bytes(self.said("X")[0], "big")

    def start(self, *records, tasks=1, wait=True):
        data = wire.record("N", tasks.to_bytes(4, "big")) + b"".join(records)
        for frame in wire.pieces(wire.START, self.step.session, data):
            self.raw(frame.encode())
        if wait:
            self.expect(wire.START)

    def run(self, *command, **kwargs):
        self.start(*[wire.record("A", word) for word in command], **kwargs)

    def shell(self, script, **kwargs):
        self.run("/bin/sh", "-c", script, **kwargs)

    def signal(self, number, task=0, flags=0, order=0):
        self.send(wire.SIGNAL, int(number).to_bytes(4, "big"), task=task, flags=flags, offset=order)

    def read(self, what):
        """Reads once; False at the connection's end."""
        if not select.select([self.process.stdout], [], [], LIMIT)[0]:
            raise Late("waited %d s for %s; podinit's log: %s" % (LIMIT, what, self.step.read_log()))
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            self.eof = True
            return False
        frames = self.decoder.feed(data)
        for frame in frames:
            self.take(frame)
        if self.acknowledging:
            self.acknowledge({(f.task, f.stream) for f in frames if f.type == wire.DATA})
        self.queue += frames
        return True

    def take(self, frame):
        step = self.step
        if frame.type == wire.DATA:
            step.stream(frame.task, frame.stream).take(frame)
        elif frame.type == wire.EOF:
            stream = step.stream(frame.task, frame.stream)
            assert stream.offset == frame.offset, "EOF at %d, have %d" % (frame.offset, stream.offset)
            stream.ended = True
        elif frame.type == wire.ACK:
            self.acknowledged[frame.task] = frame.offset
        elif frame.type == wire.EXIT:
            assert step.stream(frame.task, 1).ended and step.stream(frame.task, 2).ended, "EXIT before EOF"
            step.exits[frame.task] = wire.Exit(frame.payload)

    def acknowledge(self, keys):
        for task, stream in keys:
            self.send(wire.ACK, task=task, stream=stream, offset=self.step.stream(task, stream).offset)

    def expect(self, type, **fields):
        """The next frame of this type and with these fields; those before it are dropped."""
        what = "%s %s" % (wire.NAMES[type], fields or "")
        while True:
            while self.queue:
                frame = self.queue.pop(0)
                if frame.type == type and all(getattr(frame, k) == v for k, v in fields.items()):
                    return frame
            if not self.read(what):
                raise EOFError("connection ended, waiting for %s; podinit's log: %s" % (what, self.step.read_log()))

    def until(self, what, condition):
        """Reads until the condition holds."""
        while not condition():
            if not self.read(what):
                raise EOFError("connection ended, waiting for %s; podinit's log: %s" % (what, self.step.read_log()))

    def until_text(self, text, task=0, stream=wire.STDOUT):
        self.until(repr(text), lambda: text in self.step.text(task, stream))

    def until_closed(self):
        while self.read("the end of the connection"):
            pass

    def finish(self, tasks=1):
        """Takes everything to the last EXIT, detaches, and returns podinit's exit code."""
        self.until("%d exits" % tasks, lambda: len(self.step.exits) == tasks)
        self.send(wire.DETACH)
        return self.step.wait()

    def beat(self, counter):
        self.send(wire.HEARTBEAT, offset=counter)
        return self.expect(wire.HEARTBEAT, offset=counter, flags=wire.REPLY)

    def close(self):
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
