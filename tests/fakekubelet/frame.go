// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"encoding/binary"
	"fmt"
	"io"
)

// frame is one of include/frames.h, written apart from the product's own code.
type frame struct {
	kind, stream, flags uint8
	session             uint64
	task                uint32
	offset              uint64
	payload             []byte
}

const (
	magic      = 0x534b3846
	version    = 1
	headerSize = 32
	maxPayload = 65536
	taskAll    = 0xffffffff

	kindHello     = 1
	kindStart     = 2
	kindData      = 3
	kindAck       = 4
	kindHeartbeat = 5
	kindSignal    = 6
	kindEOF       = 8
	kindExit      = 9
	kindDetach    = 10

	stdin  = 0
	stdout = 1
	stderr = 2

	flagMore  = 1
	flagReply = 2
)

func (f frame) bytes() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, headerSize+len(f.payload)), magic)
	b = append(b, version, f.kind, f.stream, f.flags)
	b = binary.BigEndian.AppendUint64(b, f.session)
	b = binary.BigEndian.AppendUint32(b, f.task)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.payload)))
	return append(binary.BigEndian.AppendUint64(b, f.offset), f.payload...)
}

// readFrame reads the next frame of a session.
func readFrame(from io.Reader, session uint64) (frame, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{
		kind: head[5], stream: head[6], flags: head[7], session: binary.BigEndian.Uint64(head[8:]),
		task: binary.BigEndian.Uint32(head[16:]), offset: binary.BigEndian.Uint64(head[24:]),
	}
	size := binary.BigEndian.Uint32(head[20:])
	switch {
	case binary.BigEndian.Uint32(head[:]) != magic:
		return frame{}, fmt.Errorf("a frame begins with %q", head[:4])
	case head[4] != version:
		return frame{}, fmt.Errorf("a frame of version %d", head[4])
	case f.session != session:
		return frame{}, fmt.Errorf("a frame of session %016x", f.session)
	case size > maxPayload:
		return frame{}, fmt.Errorf("a frame of %d bytes", size)
	}
	f.payload = make([]byte, size)
	_, err := io.ReadFull(from, f.payload)
	return f, err
}

// record is one of a HELLO or START.
type record struct {
	tag   byte
	task  uint32
	value []byte
}

const recordHeader = 12

func (r record) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, r.tag, 0, 0, 0), r.task)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(r.value))), r.value...)
}

func readRecords(b []byte) (all []record, err error) {
	for len(b) > 0 {
		if len(b) < recordHeader || uint64(len(b)-recordHeader) < uint64(binary.BigEndian.Uint32(b[8:])) {
			return nil, fmt.Errorf("a record is cut after %d bytes", len(b))
		}
		size := binary.BigEndian.Uint32(b[8:])
		all = append(all, record{b[0], binary.BigEndian.Uint32(b[4:]), b[recordHeader : recordHeader+size]})
		b = b[recordHeader+size:]
	}
	return all, nil
}

// exitPayload is how a task ended, as of wait(2); it has used nothing.
func exitPayload(status uint32) []byte {
	b := make([]byte, 32)
	binary.BigEndian.PutUint32(b, status)
	return b
}
