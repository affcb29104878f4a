// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"io"
	"sync"
)

const (
	smallBuffer = 4096
	bigBuffer   = 2 * MaxPayload // a whole frame, and most of the next
	quietFills  = 8              // so many short reads give a big buffer back
)

var bigBuffers = sync.Pool{New: func() any { return new([bigBuffer]byte) }}

// Reader reads frames of one session from a byte stream and refuses whatever
// breaks the format. One goroutine at a time may use it. It holds 4 KiB, and
// 128 KiB only while much is coming.
type Reader struct {
	src     io.Reader
	session uint64
	small   []byte
	big     *[bigBuffer]byte
	buf     []byte // small or big
	r, w    int    // what is read and not yet returned: buf[r:w]
	quiet   int
	full    bool // the last read filled the buffer
}

// NewReader reads the frames of session from src; a relay's session is 0.
func NewReader(src io.Reader, session uint64) *Reader {
	return &Reader{src: src, session: session}
}

// Next returns the next frame: io.EOF when the stream ended between frames,
// io.ErrUnexpectedEOF when it ended within one, a FrameError for a bad one.
func (r *Reader) Next() (Frame, error) {
	if err := r.fill(HeaderSize); err != nil {
		return Frame{}, err
	}
	f, n, err := parseHeader(r.buf[r.r:], r.session)
	if err != nil {
		return Frame{}, err
	}
	if err := r.fill(HeaderSize + n); err != nil {
		return Frame{}, err
	}
	from := r.r + HeaderSize
	f.Payload = r.buf[from : from+n : from+n]
	r.r = from + n
	return f, nil
}

// Release gives a big buffer back; the Reader must not be used afterwards.
func (r *Reader) Release() {
	if r.big != nil {
		bigBuffers.Put(r.big)
	}
	*r = Reader{src: r.src, session: r.session}
}

// fill makes buf[r:w] at least n bytes long.
func (r *Reader) fill(n int) error {
	if r.w-r.r >= n {
		return nil
	}
	r.makeRoom(n)
	for idle := 0; r.w-r.r < n; {
		m, err := r.src.Read(r.buf[r.w:])
		if m < 0 || m > len(r.buf)-r.w {
			return io.ErrNoProgress
		}
		r.full = m == len(r.buf)-r.w
		r.w += m
		if m > 0 {
			idle = 0
			if m > smallBuffer/2 {
				r.quiet = 0
			} else if r.big != nil {
				r.quiet++
			}
			continue
		}
		if err == io.EOF && r.w > r.r {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if idle++; idle > 100 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// makeRoom chooses the buffer for n bytes and moves what is left to its start.
func (r *Reader) makeRoom(n int) {
	left := r.buf[r.r:r.w]
	switch {
	case r.big == nil && (n > smallBuffer || r.full):
		r.big = bigBuffers.Get().(*[bigBuffer]byte)
		r.buf, r.quiet, r.small = r.big[:], 0, nil
	case r.big != nil && r.quiet >= quietFills && n <= smallBuffer && len(left) < n:
		big := r.big
		r.small = make([]byte, smallBuffer)
		r.buf, r.big, r.quiet = r.small, nil, 0
		defer bigBuffers.Put(big) // after the copy below
	case r.buf == nil:
		r.small = make([]byte, smallBuffer)
		r.buf = r.small
	}
	r.r, r.w = 0, copy(r.buf, left)
}
