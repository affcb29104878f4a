// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// RecordHeader is the size of a record's header.
const RecordHeader = 12

// The tags of records.
const (
	recordArgv      = 'A'
	recordEnv       = 'E'
	recordDirectory = 'D'
	recordRequired  = 'R'
	recordHome      = 'H'
	recordUmask     = 'U'
	recordLimit     = 'L'
	recordScript    = 'S'
	recordTTY       = 'T'
	recordCPUs      = 'B'
	recordOneOutput = 'O'
	recordPull      = 'K'
	recordTasks     = 'N'
	recordState     = 'X'
	recordVersion   = 'V'
	recordInput     = 'I'
	recordCommand   = 'C'
	recordPath      = 'P'
)

// Record is one record of a HELLO or START. Value is a part of what was decoded.
type Record struct {
	Tag   byte
	Task  uint32
	Value []byte
}

// recordSize says how long the values of a tag are; -1: any.
func recordSize(tag byte) int {
	switch tag {
	case recordRequired, recordOneOutput:
		return 0
	case recordUmask, recordTasks, recordState, recordTTY:
		return 4
	case recordInput:
		return 8
	case recordLimit:
		return 20
	}
	return -1
}

// recordIsText says whether the values of a tag have no NUL.
func recordIsText(tag byte) bool {
	switch tag {
	case recordArgv, recordEnv, recordDirectory, recordHome, recordVersion, recordCommand, recordPath:
		return true
	}
	return false
}

// AppendRecord appends r, encoded.
func AppendRecord(dst []byte, r Record) []byte {
	return append(appendRecordHeader(dst, r.Tag, r.Task, len(r.Value)), r.Value...)
}

func appendRecordHeader(dst []byte, tag byte, task uint32, length int) []byte {
	dst = append(dst, tag, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, task)
	return binary.BigEndian.AppendUint32(dst, uint32(length))
}

// DecodeRecords calls each for every record in b, the joined payloads of a
// HELLO or START, and stops at the first bad one or the first error of each.
// Records of unknown tags are given too: whoever uses records skips those.
func DecodeRecords(b []byte, each func(Record) error) error {
	for len(b) > 0 {
		if len(b) < RecordHeader {
			return &FrameError{"header", fmt.Sprintf("%d bytes of a record", len(b))}
		}
		if b[1]|b[2]|b[3] != 0 {
			return &FrameError{"padding", fmt.Sprintf("record %q", b[0])}
		}
		r := Record{Tag: b[0], Task: binary.BigEndian.Uint32(b[4:])}
		n := binary.BigEndian.Uint32(b[8:])
		b = b[RecordHeader:]
		if uint64(n) > uint64(len(b)) {
			return &FrameError{"length", fmt.Sprintf("record %q says %d, there are %d", r.Tag, n, len(b))}
		}
		r.Value, b = b[:n:n], b[n:]
		if want := recordSize(r.Tag); want >= 0 && want != len(r.Value) {
			return &FrameError{"size", fmt.Sprintf("record %q has %d bytes", r.Tag, len(r.Value))}
		}
		if recordIsText(r.Tag) && bytes.IndexByte(r.Value, 0) >= 0 {
			return &FrameError{"nul", fmt.Sprintf("record %q", r.Tag)}
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// joiner puts the payloads of a HELLO that came in pieces together.
type joiner struct {
	limit int
	buf   []byte
}

// add takes one frame's payload and says whether the records are complete.
func (j *joiner) add(f Frame) (done bool, err error) {
	if len(j.buf)+len(f.Payload) > j.limit {
		return false, breach("%s of more than %d bytes", f.Type, j.limit)
	}
	if f.Flags&FlagMore != 0 && len(f.Payload) == 0 {
		return false, breach("%s goes on with nothing", f.Type)
	}
	j.buf = append(j.buf, f.Payload...)
	return f.Flags&FlagMore == 0, nil
}
