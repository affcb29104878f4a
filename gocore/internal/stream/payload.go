// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"fmt"
)

// Linux's numbers of the signals that mean something to this package.
const (
	sigKILL = 9
	sigCONT = 18
	sigSTOP = 19
	sigTSTP = 20

	maxSignal = 64
)

// Exit is how a task ended.
type Exit struct {
	Status       uint32 // as of wait(2)
	OOMKills     uint32 // processes that the kernel killed for want of memory in the container
	UserMicros   uint64
	SystemMicros uint64
	PeakBytes    uint64
}

const exitSize = 32

func (e Exit) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, e.Status)
	dst = binary.BigEndian.AppendUint32(dst, e.OOMKills)
	dst = binary.BigEndian.AppendUint64(dst, e.UserMicros)
	dst = binary.BigEndian.AppendUint64(dst, e.SystemMicros)
	return binary.BigEndian.AppendUint64(dst, e.PeakBytes)
}

func parseExit(b []byte) (Exit, error) {
	if len(b) != exitSize {
		return Exit{}, breach("EXIT of %d bytes", len(b))
	}
	return Exit{Status: binary.BigEndian.Uint32(b), OOMKills: binary.BigEndian.Uint32(b[4:]),
		UserMicros: binary.BigEndian.Uint64(b[8:]), SystemMicros: binary.BigEndian.Uint64(b[16:]),
		PeakBytes: binary.BigEndian.Uint64(b[24:])}, nil
}

// Signal is a signal for a task: to its process, or as far as Flags say.
type Signal struct {
	Number uint32
	Flags  uint8 // FlagGroup, FlagEvery
}

// String is for logs.
func (s Signal) String() string {
	switch {
	case s.Flags&FlagEvery != 0:
		return fmt.Sprintf("signal %d to every process", s.Number)
	case s.Flags&FlagGroup != 0:
		return fmt.Sprintf("signal %d to the group", s.Number)
	}
	return fmt.Sprintf("signal %d", s.Number)
}

func parseSignal(f Frame) (Signal, error) {
	if len(f.Payload) != 4 {
		return Signal{}, breach("SIGNAL of %d bytes", len(f.Payload))
	}
	s := Signal{binary.BigEndian.Uint32(f.Payload), f.Flags & (FlagGroup | FlagEvery)}
	if s.Number < 1 || s.Number > maxSignal {
		return Signal{}, breach("signal %d", s.Number)
	}
	return s, nil
}

func (s Signal) frame(task uint32) Frame {
	return Frame{Type: TypeSignal, Flags: s.Flags, Task: task, Payload: binary.BigEndian.AppendUint32(nil, s.Number)}
}

// Winsize is the size of a terminal.
type Winsize struct{ Rows, Columns uint16 }

func (w Winsize) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(dst, w.Rows), w.Columns)
}

func parseWinsize(b []byte) (Winsize, error) {
	if len(b) != 4 {
		return Winsize{}, breach("WINSIZE of %d bytes", len(b))
	}
	return Winsize{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}, nil
}
