// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The numbers of include/frames.h.
const (
	frameMagic   = 0x534b3846
	frameVersion = 1

	// HeaderSize is the size of a frame's header.
	HeaderSize = 32
	// MaxPayload is the most that one frame carries.
	MaxPayload = 65536
	// TaskAll stands for every task.
	TaskAll = 0xffffffff
	// TaskCommands is the pseudo task of Slurm's commands that a container's tasks call.
	TaskCommands = 0xfffffffe
	// OutputWindow is the most that may be unacknowledged on one output stream, see outputWindow.
	OutputWindow = 1024 * 1024
	outputTotal  = 8 * 1024 * 1024
	outputLeast  = 64 * 1024
	// InputWindow is the most that may be unacknowledged of one task's input.
	InputWindow = 256 * 1024
	// MaxRecords is the most that the records of one HELLO or START take.
	MaxRecords = 16 * 1024 * 1024
	// MaxTasks is the most tasks that one container has.
	MaxTasks = 4096
)

// Type is what a frame is for.
type Type uint8

// The types of frames.
const (
	TypeHello Type = iota + 1
	TypeStart
	TypeData
	TypeAck
	TypeHeartbeat
	TypeSignal
	TypeWinsize
	TypeEOF
	TypeExit
	TypeDetach
)

// outputWindow is the most that may be unacknowledged on each output stream of so many tasks.
func outputWindow(tasks int) uint64 {
	return uint64(min(max(outputTotal/(2*tasks), outputLeast), OutputWindow))
}

var typeNames = [...]string{"", "HELLO", "START", "DATA", "ACK", "HEARTBEAT", "SIGNAL", "WINSIZE", "EOF", "EXIT", "DETACH"}

// String names the type as frames.h does.
func (t Type) String() string {
	if t >= TypeHello && t <= TypeDetach {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Stream is which of a task's streams a frame is about.
type Stream uint8

// The streams of a task.
const (
	Stdin Stream = iota
	Stdout
	Stderr
	Notice
)

var streamNames = [...]string{"stdin", "stdout", "stderr", "notice"}

// String names the stream.
func (s Stream) String() string {
	if s <= Notice {
		return streamNames[s]
	}
	return fmt.Sprintf("stream %d", uint8(s))
}

// The flags of frames.
const (
	FlagMore  uint8 = 0x01 // HELLO, START: the records go on in the next frame
	FlagReply uint8 = 0x02 // HEARTBEAT: the answer
	FlagGroup uint8 = 0x04 // SIGNAL: to the task's process group
	FlagEvery uint8 = 0x08 // SIGNAL: to every process of the container
)

// Frame is one frame. The payload of a frame that a Reader returned is the
// Reader's and changes with its next call.
type Frame struct {
	Type    Type
	Stream  Stream
	Flags   uint8
	Session uint64
	Task    uint32
	Offset  uint64
	Payload []byte
}

// ErrProtocol is what every breach of frames.h by a peer wraps.
var ErrProtocol = errors.New("the peer broke the protocol")

// FrameError is a frame or record that a reader refuses; Reason is the word
// that tests/vectors/frames.txt uses.
type FrameError struct{ Reason, Detail string }

// Error says what was refused.
func (e *FrameError) Error() string { return fmt.Sprintf("bad %s (%s)", e.Reason, e.Detail) }

// Unwrap makes a FrameError an ErrProtocol.
func (e *FrameError) Unwrap() error { return ErrProtocol }

// breach makes an ErrProtocol with a reason of its own.
func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// AppendHeader appends the header of f, with the length of its payload.
func AppendHeader(dst []byte, f Frame) []byte {
	dst = binary.BigEndian.AppendUint32(dst, frameMagic)
	dst = append(dst, frameVersion, byte(f.Type), byte(f.Stream), f.Flags)
	dst = binary.BigEndian.AppendUint64(dst, f.Session)
	dst = binary.BigEndian.AppendUint32(dst, f.Task)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Payload)))
	return binary.BigEndian.AppendUint64(dst, f.Offset)
}

// parseHeader decodes the HeaderSize bytes at b and says how long the payload is.
func parseHeader(b []byte, session uint64) (Frame, int, error) {
	b = b[:HeaderSize]
	if m := binary.BigEndian.Uint32(b); m != frameMagic {
		return Frame{}, 0, &FrameError{"magic", fmt.Sprintf("%q", b[:4])}
	}
	if b[4] != frameVersion {
		return Frame{}, 0, &FrameError{"version", fmt.Sprint(b[4])}
	}
	f := Frame{Type: Type(b[5]), Stream: Stream(b[6]), Flags: b[7], Session: binary.BigEndian.Uint64(b[8:]),
		Task: binary.BigEndian.Uint32(b[16:]), Offset: binary.BigEndian.Uint64(b[24:])}
	if f.Type < TypeHello || f.Type > TypeDetach {
		return Frame{}, 0, &FrameError{"type", fmt.Sprint(b[5])}
	}
	if f.Stream > Notice {
		return Frame{}, 0, &FrameError{"stream", fmt.Sprint(b[6])}
	}
	if f.Session != session {
		return Frame{}, 0, &FrameError{"session", fmt.Sprintf("%016x", f.Session)}
	}
	n := binary.BigEndian.Uint32(b[20:])
	if n > MaxPayload {
		return Frame{}, 0, &FrameError{"length", fmt.Sprint(n)}
	}
	return f, int(n), nil
}
