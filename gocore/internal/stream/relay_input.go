// SPDX-License-Identifier: Apache-2.0

package stream

// input is what the relay has read for the task, from what podinit has
// delivered on. Offsets are the relay's.
type input struct {
	queue   fifo
	base    uint64 // all bytes before have been delivered to the task
	end     uint64 // ... have come from the relay
	sent    uint64 // the most that was ever sent to podinit
	told    uint64 // what the relay knows of base
	closed  bool   // end is the length
	ignored bool   // the task has ended: whatever comes is dropped
	gone    bool
}

// take takes bytes from the relay; with the Relay's mu.
func (in *input) take(offset uint64, p []byte) error {
	if offset != in.end {
		return breach("input goes on at %d, expected %d", offset, in.end)
	}
	if in.closed && len(p) > 0 {
		return breach("input goes on after its end")
	}
	if in.end+uint64(len(p))-in.told > InputWindow {
		return breach("input has %d bytes unacknowledged", in.end+uint64(len(p))-in.told)
	}
	in.end += uint64(len(p))
	if in.ignored {
		in.base, in.sent = in.end, in.end
		return nil
	}
	in.queue.add(p)
	return nil
}

func (in *input) takeEOF(length uint64) error {
	if length != in.end {
		return breach("input ends at %d, but %d bytes came", length, in.end)
	}
	in.closed = true
	return nil
}

// inputFrom gives input from offset on for podinit, at most a frame of it,
// appended to dst, and whether offset and this are the end. For the session.
func (r *Relay) inputFrom(offset uint64, dst []byte) (data []byte, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &r.in
	if in.gone || in.ignored || offset < in.base {
		return dst, false
	}
	for len(dst) < MaxPayload {
		p := in.queue.at(int(offset-in.base), MaxPayload-len(dst))
		if len(p) == 0 {
			break
		}
		dst = append(dst, p...)
		offset += uint64(len(p))
	}
	in.sent = max(in.sent, offset)
	return dst, in.closed && offset == in.end
}

// inputDelivered takes podinit's ACK. For the session.
func (r *Relay) inputDelivered(offset uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &r.in
	if in.gone || in.ignored {
		return nil
	}
	if offset < in.base || offset > in.sent {
		return breach("input acknowledged to %d, of %d to %d", offset, in.base, in.sent)
	}
	in.queue.discard(int(offset - in.base))
	in.base = offset
	r.write.ring()
	return nil
}

// inputHad checks what podinit says it has of the input when it is met again.
func (r *Relay) inputHad(offset uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if in := &r.in; !in.gone && !in.ignored && (offset < in.base || offset > in.sent) {
		return breach("podinit has input to %d, of %d to %d", offset, in.base, in.sent)
	}
	return nil
}

// ignoreInput drops what the task, which has ended, did not read.
func (r *Relay) ignoreInput() {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &r.in
	in.ignored = true
	in.queue.clear()
	in.base, in.sent = in.end, in.end
	r.write.ring()
}
