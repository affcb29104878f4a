# SPDX-License-Identifier: Apache-2.0
"""The relay, between a core and the files of a task."""
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import tempfile
import termios
import unittest

import podinit_wire as wire
from podinit_driver import LIMIT, read_text, wait_for
from podinit_wire import NOTICE, STDERR, STDIN, STDOUT
from relay_driver import RelayTest

WINDOW = 1024 * 1024
INPUT_WINDOW = 256 * 1024


class Output(RelayTest):
    def test_apart_and_acknowledged_when_written(self):
        relay = self.relay()
        relay.send(wire.DATA, b"to stdout\n", stream=STDOUT)
        relay.send(wire.DATA, b"to stderr\n", stream=STDERR)
        relay.until_acknowledged(STDOUT, 10)
        relay.until_acknowledged(STDERR, 10)
        self.assertEqual((read_text(relay.out), read_text(relay.err)), ("to stdout\n", "to stderr\n"))

    def test_notices_go_to_stderr_without_acknowledgement(self):
        relay = self.relay()
        relay.send(wire.DATA, b"slurm-k8s: waiting\n", stream=NOTICE)
        relay.send(wire.DATA, b"x", stream=STDERR)
        relay.until_acknowledged(STDERR, 1)
        self.assertEqual(read_text(relay.err), "slurm-k8s: waiting\nx")
        self.assertEqual([f for f in relay.frames if f.type == wire.ACK and f.stream == NOTICE], [])

    def send_all(self, relay, data, stream=STDOUT):
        """As much as the window lets; what comes twice is written once."""
        sent = 0
        while sent < len(data):
            relay.until("room", lambda: sent - relay.acknowledged.get(stream, 0) < WINDOW)
            some = min(65536, len(data) - sent, WINDOW - (sent - relay.acknowledged.get(stream, 0)))
            back = min(sent, 100)
            relay.send(wire.DATA, data[sent - back:sent + some][:65536], stream=stream, offset=sent - back)
            sent = min(sent + some, sent - back + 65536)

    def test_to_a_file(self):
        relay = self.relay()
        data = os.urandom(20 << 20)
        self.send_all(relay, data)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        with open(relay.out, "rb") as file:
            self.assertTrue(file.read() == data)

    def test_a_slow_pipe_keeps_neither_heartbeats_nor_signals_waiting(self):
        reading, writing = self.pipe()
        relay = self.relay(stdout=writing)
        writing.close()
        data = os.urandom(WINDOW)
        for at in range(0, WINDOW, 65536):
            relay.send(wire.DATA, data[at:at + 65536], stream=STDOUT, offset=at)
        relay.send(wire.HEARTBEAT, offset=5)
        self.assertEqual(relay.expect(wire.HEARTBEAT).offset, 5)
        self.assertLess(relay.acknowledged.get(STDOUT, 0), WINDOW)
        os.kill(relay.process.pid, signal.SIGUSR1)
        self.assertEqual(relay.signals(1), [signal.SIGUSR1])
        relay.exit(3 << 8)
        relay.send(wire.HEARTBEAT, offset=6)
        relay.expect(wire.HEARTBEAT)
        self.assertIsNone(relay.process.poll())
        self.assertTrue(reading.read(1) + b"".join(iter(lambda: reading.read(1 << 20), b"")) == data)
        self.assertEqual(relay.wait(), 3)

    def test_more_than_the_window(self):
        reading, writing = self.pipe()
        relay = self.relay(stdout=writing)
        try:
            for at in range(0, 3 * WINDOW, 65536):
                relay.send(wire.DATA, bytes(65536), stream=STDOUT, offset=at)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assertEqual(relay.wait(), 1)
        self.assertIn("makes no sense", read_text(relay.err))

    def test_a_flood_of_notices_is_cut_not_fatal(self):
        reading, writing = self.pipe()
        # stderr is the slow one.
        relay = self.relay(preexec_fn=lambda: os.dup2(writing.fileno(), 2))
        for at in range(100):
            relay.send(wire.DATA, b"n" * 4096, stream=NOTICE, offset=at * 4096)
        relay.send(wire.HEARTBEAT, offset=1)
        relay.expect(wire.HEARTBEAT)
        relay.core.close()
        writing.close()
        self.assertIn(b"nnn", b"".join(iter(lambda: reading.read(1 << 20), b"")))
        self.assertEqual(relay.wait(), 1)

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            relay = self.relay(stdout=full)
        relay.send(wire.DATA, b"lost", stream=STDOUT)
        relay.until_acknowledged(STDOUT, 4)
        relay.send(wire.DATA, b"lost too", stream=STDOUT, offset=4)
        relay.until_acknowledged(STDOUT, 12)
        relay.send(wire.DATA, b"kept\n", stream=STDERR)
        relay.until_acknowledged(STDERR, 5)
        self.assertEqual(read_text(relay.err),
                         "slurm-k8s: error: standard output of the job is lost from here on: No space left on device\nkept\n")
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)

    def test_a_reader_that_went(self):
        reading, writing = self.pipe()
        relay = self.relay(stdout=writing)
        writing.close()
        reading.close()
        relay.send(wire.DATA, b"nobody", stream=STDOUT)
        relay.until_acknowledged(STDOUT, 6)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)

    def test_files_are_as_before_in_the_end(self):
        reading, writing = self.pipe()
        relay = self.relay(stdout=writing)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        self.assertFalse(fcntl.fcntl(writing, fcntl.F_GETFL) & os.O_NONBLOCK)


class Input(RelayTest):
    def test_nothing_is_read_before_start(self):
        reading, writing = self.pipe()
        writing.write(b"keep")
        relay = self.relay(stdin=reading)
        relay.send(wire.DATA, b"note\n", stream=NOTICE)
        relay.send(wire.HEARTBEAT, offset=1)
        relay.expect(wire.HEARTBEAT)
        relay.core.close()
        self.assertEqual(relay.wait(), 1)
        self.assertEqual(reading.read(4), b"keep")

    def test_end_of_file_at_once(self):
        relay = self.relay()
        relay.send(wire.START)
        self.assertEqual(relay.expect(wire.EOF).offset, 0)

    def test_closed_stdin(self):
        relay = self.relay(preexec_fn=lambda: os.close(0))
        relay.send(wire.START)
        self.assertEqual(relay.expect(wire.EOF).offset, 0)

    def test_window(self):
        data = os.urandom(1 << 20)
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            relay = self.relay(stdin=file)
        relay.send(wire.START)
        relay.until("a full window", lambda: len(relay.input) == INPUT_WINDOW)
        relay.send(wire.HEARTBEAT, offset=1)
        relay.expect(wire.HEARTBEAT)
        self.assertEqual(len(relay.input), INPUT_WINDOW)
        acknowledged = 0
        while len(relay.input) < len(data):
            acknowledged = len(relay.input)
            relay.send(wire.ACK, stream=STDIN, offset=acknowledged)
            relay.until("more input", lambda: len(relay.input) > acknowledged)
        relay.send(wire.ACK, stream=STDIN, offset=len(relay.input))
        self.assertEqual(relay.expect(wire.EOF).offset, len(data))
        self.assertTrue(relay.input == data)


class Signals(RelayTest):
    def test_every_signal_is_forwarded_and_none_ends_the_relay(self):
        relay = self.relay()
        ignored = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGWINCH}
        names = [n for n in signal.Signals if n not in ignored and n < signal.SIGRTMIN]
        for number in names + [signal.SIGRTMIN + 1, signal.SIGRTMAX]:
            os.kill(relay.process.pid, number)
            self.assertEqual(relay.signals(1), [number])
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)

    def test_term_during_hello_waits_for_the_core(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(4 << 20)
            relay = self.relay([file.name], batch=True, hello=False)
            relay.read("the beginning of hello")
            os.kill(relay.process.pid, signal.SIGTERM)
            relay.frames.insert(0, wire.Frame(wire.HEARTBEAT))
            relay.hello()
        self.assertEqual(relay.signals(1), [signal.SIGTERM])


class Ends(RelayTest):
    def test_codes(self):
        for code in (0, 7, 255):
            relay = self.relay()
            relay.exit(code << 8)
            self.assertEqual(relay.wait(), code)

    def test_signals(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR1, signal.SIGPIPE, signal.SIGXCPU):
            relay = self.relay(cwd=tempfile.gettempdir())
            relay.exit(number | 0x80)
            self.assertEqual(relay.wait(), -number)

    def test_signals_that_do_not_kill(self):
        for number in (signal.SIGCHLD, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH):
            relay = self.relay()
            relay.exit(number)
            self.assertEqual(relay.wait(), 128 + number)

    def test_other_signals_that_wait_change_nothing(self):
        relay = self.relay()
        os.kill(relay.process.pid, signal.SIGSTOP)
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
            os.kill(relay.process.pid, number)
        relay.exit(signal.SIGINT)
        os.kill(relay.process.pid, signal.SIGCONT)
        self.assertEqual(relay.wait(), -signal.SIGINT)

    def test_core_gone(self):
        relay = self.relay()
        relay.core.close()
        self.assertEqual(relay.wait(), 1)
        self.assertEqual(read_text(relay.err), "slurm-k8s: error: the connection between Slurm and the Pod was lost\n")

    def test_core_gone_after_term(self):
        relay = self.relay()
        os.kill(relay.process.pid, signal.SIGTERM)
        relay.signals(1)
        relay.core.close()
        self.assertEqual(relay.wait(), -signal.SIGTERM)

    def test_core_gone_after_exit(self):
        relay = self.relay()
        relay.send(wire.DATA, b"last\n", stream=STDOUT)
        relay.exit(9 << 8)
        relay.core.close()
        self.assertEqual(relay.wait(), 9)
        self.assertEqual(read_text(relay.out), "last\n")

    def test_malformed(self):
        good = wire.Frame(wire.HEARTBEAT).encode()
        for data in (b"garbage" * 10, good[:4] + b"\2" + good[5:], wire.Frame(wire.HEARTBEAT, session=1).encode(),
                     wire.Frame(wire.DATA, stream=STDIN, payload=b"x").encode(),
                     wire.Frame(wire.DATA, stream=STDOUT, offset=1, payload=b"x").encode(),
                     wire.Frame(wire.ACK, stream=STDIN, offset=1).encode(), wire.Frame(wire.ACK, stream=STDOUT).encode(),
                     wire.Frame(wire.EXIT).encode(), wire.Frame(wire.SIGNAL, payload=bytes(4)).encode()):
            relay = self.relay()
            relay.raw(data)
            self.assertEqual(relay.wait(), 1, data)
            self.assertRegex(read_text(relay.err), r"^slurm-k8s: error: the plugin's core sent .*\n$")


class Terminal(RelayTest):
    def open(self):
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, self.slave)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def start(self, **popen):
        """As slurmstepd does for srun --pty: all three files of the task are the terminal."""
        relay = self.relay(stdin=self.slave, stdout=self.slave, start_new_session=True,
                           preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **popen)
        wait_for("no lines", lambda: not termios.tcgetattr(self.slave)[3] & termios.ICANON)
        return relay

    def is_raw(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ISIG

    def test_before_the_start(self):
        self.open()
        relay = self.start()
        os.write(self.master, b"ahead\r")
        # Ctrl-C is a signal while nothing runs, and takes what waits with it, as everywhere.
        os.write(self.master, b"\x03")
        self.assertEqual(relay.signals(1), [signal.SIGINT])
        os.write(self.master, b"more\r")
        self.assertFalse(self.is_raw())
        relay.send(wire.START)
        wait_for("raw mode", self.is_raw)
        os.write(self.master, b"\x03")
        relay.until("the characters", lambda: relay.input == b"more\r\x03")
        self.assertEqual(relay.frames_of(wire.SIGNAL), [])
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        # Nothing was echoed.
        self.assertEqual(select.select([self.master], [], [], 0)[0], [])

    def test_notices(self):
        self.open()
        relay = self.start(stderr=self.slave)
        relay.send(wire.DATA, b"one\n", stream=NOTICE)
        wait_for("the notice", lambda: select.select([self.master], [], [], 0)[0])
        self.assertEqual(os.read(self.master, 100), b"one\r\n")
        relay.send(wire.START)
        wait_for("raw mode", self.is_raw)
        relay.send(wire.DATA, b"two\nthree\n\n", offset=4, stream=NOTICE)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        self.assertEqual(os.read(self.master, 100), b"two\r\nthree\r\n\r\n")

    def test_terminal(self):
        self.open()
        master, slave = self.master, self.slave
        before = termios.tcgetattr(slave)
        relay = self.start()
        self.assertEqual([v for t, _, v in relay.records if t == "T"], [struct.pack(">HH", 30, 100)])
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 101, 0, 0))
        self.assertEqual(relay.expect(wire.WINSIZE).payload, struct.pack(">HH", 31, 101))
        relay.send(wire.START)
        wait_for("raw mode", self.is_raw)
        os.write(master, b"\x03\x04")
        relay.until("the characters", lambda: relay.input == b"\x03\x04")
        relay.send(wire.DATA, b"a\r\n", stream=STDOUT)
        relay.until_acknowledged(STDOUT, 3)
        self.assertEqual(os.read(master, 100), b"a\r\n")
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        self.assertEqual(termios.tcgetattr(slave)[3], before[3])


class Calls(RelayTest):
    """The socket of Slurm's commands. Slurm finds every process of a step that ends, and waits a second for it."""

    def relay_with_commands(self):
        ours, its = socket.socketpair()
        self.addCleanup(ours.close)
        return self.relay(commands=its), ours

    def children(self, relay):
        return read_text("/proc/%d/task/%d/children" % (relay.process.pid, relay.process.pid))

    def test_no_process_once_the_core_has_closed(self):
        for before in (b"", wire.Frame(wire.START).encode()):
            relay, commands = self.relay_with_commands()
            relay.process.send_signal(signal.SIGSTOP)  # so that it sees all of this at once
            os.waitid(os.P_PID, relay.process.pid, os.WSTOPPED | os.WNOWAIT)
            commands.sendall(before)
            commands.close()
            relay.send(wire.HEARTBEAT, offset=1)
            relay.process.send_signal(signal.SIGCONT)
            relay.expect(wire.HEARTBEAT)
            self.assertEqual(self.children(relay), "")
            relay.exit(0)
            self.assertEqual(relay.wait(), 0)

    def test_a_process_once_there_is_something_to_serve(self):
        relay, commands = self.relay_with_commands()
        relay.send(wire.HEARTBEAT, offset=1)
        relay.expect(wire.HEARTBEAT)
        self.assertEqual(self.children(relay), "", "not before")
        commands.sendall(wire.Frame(wire.START).encode())
        self.assertEqual(self.said(commands), wire.Frame(wire.HELLO).encode())
        child = self.children(relay).split()
        self.assertEqual(len(child), 1)
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        self.assertEqual(self.command(child[0]), "relay --commands ", "it outlives the relay")
        commands.close()
        wait_for("its end", lambda: not self.command(child[0]))

    def test_a_process_where_the_relay_ends_before_the_others(self):
        relay, commands = self.relay_with_commands()
        relay.exit(0)
        self.assertEqual(relay.wait(), 0)
        self.assertEqual(self.said(commands), wire.Frame(wire.HELLO).encode())

    def said(self, commands):
        commands.settimeout(LIMIT)
        return commands.recv(1 << 16)

    def command(self, pid):
        """Its command line, or "" once it has ended."""
        try:
            return read_text("/proc/%s/cmdline" % pid).replace("\0", " ")
        except OSError:
            return ""


if __name__ == "__main__":
    unittest.main()
