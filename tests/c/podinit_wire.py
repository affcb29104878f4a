# SPDX-License-Identifier: Apache-2.0
"""Frames of include/frames.h in Python, for the drivers of podinit and relay.

Written from the header alone, so that a fault in common/ does not hide itself."""
import struct

MAGIC = 0x534B3846
HELLO, START, DATA, ACK, HEARTBEAT, SIGNAL, WINSIZE, EOF, EXIT, DETACH = range(1, 11)
NAMES = "? HELLO START DATA ACK HEARTBEAT SIGNAL WINSIZE EOF EXIT DETACH".split()
STDIN, STDOUT, STDERR, NOTICE = range(4)
ALL = 0xFFFFFFFF
MORE, REPLY, GROUP, EVERY = 1, 2, 4, 8
PAYLOAD = 65536
HEADER = struct.Struct(">IBBBBQIIQ")
RECORD = struct.Struct(">BBBBII")
WAITING, STARTED, ENDED = range(3)


class Frame:
    def __init__(self, type, stream=0, flags=0, session=0, task=0, offset=0, payload=b""):
        self.type, self.stream, self.flags = type, stream, flags
        self.session, self.task, self.offset, self.payload = session, task, offset, payload

    def encode(self):
        return HEADER.pack(MAGIC, 1, self.type, self.stream, self.flags, self.session, self.task,
                           len(self.payload), self.offset) + self.payload

    def __repr__(self):
        return (f"{NAMES[self.type]}(stream={self.stream} flags={self.flags} task={self.task} "
                f"offset={self.offset} length={len(self.payload)})")


class Decoder:
    """Frames out of the bytes that are fed to it; raises ValueError on what is malformed."""

    def __init__(self, session):
        self.session, self.buffer = session, bytearray()

    def feed(self, data):
        self.buffer += data
        frames, at = [], 0
        while len(self.buffer) - at >= HEADER.size:
            magic, version, type, stream, flags, session, task, length, offset = HEADER.unpack_from(self.buffer, at)
            if (magic, version, session) != (MAGIC, 1, self.session) or length > PAYLOAD or not 1 <= type <= 10:
                raise ValueError("malformed frame: %s" % bytes(self.buffer[at:at + HEADER.size]).hex())
            if len(self.buffer) - at - HEADER.size < length:
                break
            at += HEADER.size
            frames.append(Frame(type, stream, flags, session, task, offset, bytes(self.buffer[at:at + length])))
            at += length
        del self.buffer[:at]
        return frames


def record(tag, value=b"", task=ALL):
    if isinstance(value, str):
        value = value.encode()
    return RECORD.pack(ord(tag), 0, 0, 0, task, len(value)) + value


def records(data):
    """[(tag, task, value)] of joined payloads."""
    result, at = [], 0
    while at < len(data):
        tag, a, b, c, task, length = RECORD.unpack_from(data, at)
        assert a == b == c == 0, "padding of a record is not zero"
        at += RECORD.size
        assert at + length <= len(data), "a record is cut"
        result.append((chr(tag), task, data[at:at + length]))
        at += length
    return result


def pieces(type, session, payload, task=ALL, size=PAYLOAD):
    """The frames of a HELLO or START with this payload."""
    parts = [payload[i:i + size] for i in range(0, len(payload), size)] or [b""]
    return [Frame(type, flags=MORE if i < len(parts) - 1 else 0, session=session, task=task, payload=part)
            for i, part in enumerate(parts)]


class Exit:
    def __init__(self, payload):
        self.status, self.oom, self.utime, self.stime, self.peak = struct.unpack(">IIQQQ", payload)
