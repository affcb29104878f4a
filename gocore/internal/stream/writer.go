// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io"
	"sync"
)

// Writer writes frames of one session. Any goroutine may call Write; every
// frame, or row of frames queued, goes out in one Write of the stream below.
// After a failed write every further one fails.
type Writer struct {
	mu      sync.Mutex
	dst     io.Writer
	session uint64
	buf     []byte
	err     error
}

// NewWriter writes frames of session to dst; a relay's session is 0.
func NewWriter(dst io.Writer, session uint64) *Writer {
	return &Writer{dst: dst, session: session}
}

// Write writes f, in the Writer's session whatever f says.
func (w *Writer) Write(f Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.queue(f); err != nil {
		return err
	}
	return w.flush()
}

// queue appends f to what the next flush writes. The caller holds w.mu, or is
// the only one to use w, as a Session's writing loop is.
func (w *Writer) queue(f Frame) error {
	if len(f.Payload) > MaxPayload {
		return fmt.Errorf("stream: payload of %d bytes is over the limit", len(f.Payload))
	}
	f.Session = w.session
	w.buf = AppendHeader(w.buf, f)
	w.buf = append(w.buf, f.Payload...)
	return nil
}

// flush writes what is queued; the caller is as in queue.
func (w *Writer) flush() error {
	if w.err != nil {
		return w.err
	}
	if len(w.buf) == 0 {
		return nil
	}
	n, err := w.dst.Write(w.buf)
	if err == nil && n != len(w.buf) {
		err = io.ErrShortWrite
	}
	w.err = err
	w.buf = w.buf[:0]
	return err
}

// rest gives a large buffer back; the caller is as in queue.
func (w *Writer) rest() {
	if cap(w.buf) > smallBuffer {
		w.buf = nil
	}
}
