// SPDX-License-Identifier: Apache-2.0

package stream

// noticeRoom is how much of notices may wait for a relay.
const noticeRoom = 64 * 1024

// maxRuns bounds what the order of small interleaved writes takes.
const maxRuns = 4096

// output is one stream on its way to the relay. Offsets are podinit's.
type output struct {
	queue   fifo
	flight  int    // first bytes of queue, being written
	end     uint64 // all bytes before have come from podinit
	sent    uint64 // ... have been handed to the socket, or are just being
	acked   uint64 // ... have been written to the job's file, or can never be
	seen    uint64 // ... have come on the present connection, again or for the first time
	closed  bool   // end is the stream's length
	eofSent bool
	lossy   bool // acked is not the relay's word any more
}

// settle counts what can never be delivered as acknowledged.
func (o *output) settle() { o.acked, o.lossy = o.end, true }

// run is how many bytes of one stream come before another stream's.
type run struct {
	stream Stream
	size   int
}

// share sets how much output may be on its way. For the session.
func (r *Relay) share(window uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window = window
}

// deliver takes output from podinit: new bytes are queued, old ones dropped, a
// gap or more than the window is a breach. Never waits.
func (r *Relay) deliver(stream Stream, offset uint64, p []byte) error {
	r.mu.Lock()
	o := &r.out[stream-1]
	end := offset + uint64(len(p))
	var err error
	switch {
	case end < offset:
		err = breach("%s ends beyond 2^64", stream)
	case offset > o.end:
		err = breach("%s goes on at %d, expected %d", stream, offset, o.end)
	case o.closed && end > o.end:
		err = breach("%s goes on after its end", stream)
	case end > o.end && end-o.acked > r.window:
		err = breach("%s has %d bytes unacknowledged", stream, end-o.acked)
	}
	if err == nil {
		o.seen = max(o.seen, end)
	}
	if err != nil || end <= o.end {
		r.mu.Unlock()
		r.tell() // an acknowledgement is due again
		return err
	}
	p = p[o.end-offset:]
	o.end = end
	if r.gone || r.exit != nil {
		r.dropped += uint64(len(p))
		o.settle()
		r.mu.Unlock()
		r.tell()
		return nil
	}
	r.queue(stream, p)
	r.mu.Unlock()
	r.write.ring()
	return nil
}

// queue adds p to a stream's queue and keeps the order; with mu.
func (r *Relay) queue(stream Stream, p []byte) {
	r.out[stream-1].queue.add(p)
	for i := len(r.runs) - 1; i >= 0; i-- {
		if r.runs[i].stream == stream {
			r.runs[i].size += len(p)
			return
		}
		if len(r.runs) < maxRuns {
			break // the last one is another's
		}
	}
	r.runs = append(r.runs, run{stream, len(p)})
}

// deliverEOF takes the length of an output stream from podinit.
func (r *Relay) deliverEOF(stream Stream, length uint64) error {
	r.mu.Lock()
	o := &r.out[stream-1]
	var err error
	if length == o.end {
		o.closed, o.seen = true, length
	} else {
		err = breach("%s ends at %d, but %d bytes came", stream, length, o.end)
	}
	r.mu.Unlock()
	r.write.ring()
	r.tell()
	return err
}

// rewind forgets what has come on the last connection. For the session.
func (r *Relay) rewind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.out {
		r.out[i].seen = 0
	}
}

// Notice queues lines for the user, after what has come before. Their offsets
// are counted here. A relay that is gone, or does not read while 64 KiB of
// notices wait, gets no more; the session's log says how many bytes.
func (r *Relay) Notice(text string) {
	if text == "" {
		return
	}
	if text[len(text)-1] != '\n' {
		text += "\n"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &r.out[Notice-1]
	if r.gone || r.exit != nil || o.queue.size+len(text) > noticeRoom {
		r.unnoticed += len(text)
		return
	}
	o.end += uint64(len(text))
	r.queue(Notice, []byte(text))
	r.write.ring()
}

// delivered says how far podinit may be told that output has been delivered:
// never beyond what it has sent on this connection, which is all it knows of.
func (r *Relay) delivered(stream Stream) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.out[stream-1].acked, r.out[stream-1].seen)
}

// ended says whether podinit has given the length of all output streams; a
// terminal has but one.
func (r *Relay) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	stderr := &r.out[Stderr-1]
	return r.out[Stdout-1].closed && (stderr.closed || r.launch.TTY != nil && stderr.end == 0)
}

// settled says whether all output that came is where it should be, and how
// much of it was dropped since nobody was there to take it.
func (r *Relay) settled() (bool, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.out[:Stderr] {
		if o.acked != o.end {
			return false, r.dropped
		}
	}
	return true, r.dropped
}

// takeAck takes the relay's word for what it has written; with mu.
func (o *output) takeAck(stream Stream, offset uint64) error {
	if o.lossy && offset <= o.sent {
		return nil
	}
	if offset < o.acked || offset > o.sent {
		return breach("%s acknowledged to %d, of %d to %d", stream, offset, o.acked, o.sent)
	}
	o.acked = offset
	return nil
}
