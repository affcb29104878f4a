// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"net"
)

// maxBatch is how many frames go to the relay in one write.
const maxBatch = 16

// batch is what one write to the relay carries. Headers and bytes lie apart:
// the bytes are written from where they were queued.
type batch struct {
	relay   *Relay
	headers [maxBatch][HeaderSize]byte
	small   [maxBatch][exitSize]byte
	parts   [2 * maxBatch][]byte
	buffers net.Buffers
	frames  int
	used    int
	last    bool // EXIT is in it
}

// add puts one frame into the batch; p stays as it is until written.
func (b *batch) add(f Frame, p []byte) {
	f.Task, f.Payload = socketTask, p
	b.parts[b.used] = AppendHeader(b.headers[b.frames][:0], f)
	b.frames, b.used = b.frames+1, b.used+1
	if len(p) > 0 {
		b.parts[b.used] = p
		b.used++
	}
}

func (b *batch) full() bool { return b.frames == maxBatch }

// writeLoop writes what is queued, until ctx ends or EXIT is out.
func (r *Relay) writeLoop(ctx context.Context) error {
	b := &batch{relay: r}
	for {
		r.gather(b)
		if b.used == 0 {
			select {
			case <-r.write:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		b.buffers = b.parts[:b.used]
		if _, err := b.buffers.WriteTo(r.conn); err != nil {
			return err
		}
		r.release(b)
		if b.last {
			<-ctx.Done()
			return nil
		}
	}
}

// gather fills the batch: orders first, then output in the order it came, then
// ends, then EXIT.
func (r *Relay) gather(b *batch) {
	b.frames, b.used = 0, 0
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exitSent || r.gone {
		return
	}
	// The process behind a socket of commands is made when there is something to read.
	if r.begun.want && !r.begun.sent && (r.task != TaskCommands || len(r.runs) > 0) {
		r.begun.sent = true
		b.add(Frame{Type: TypeStart}, r.offer)
	}
	if r.watch.due {
		r.watch.due = false
		b.add(Frame{Type: TypeHeartbeat, Offset: r.watch.counter}, nil)
	}
	if r.in.told != r.in.base {
		r.in.told = r.in.base
		b.add(Frame{Type: TypeAck, Stream: Stdin, Offset: r.in.base}, nil)
	}
	r.gatherOutput(b)
	for i := range r.out[:Stderr] {
		o := &r.out[i]
		if o.closed && !o.eofSent && o.sent == o.end && !b.full() {
			o.eofSent = true
			b.add(Frame{Type: TypeEOF, Stream: Stream(i + 1), Offset: o.end}, nil)
		}
	}
	if r.exit != nil && len(r.runs) == 0 && !b.full() {
		b.last, r.exitSent = true, true
		b.add(Frame{Type: TypeExit}, r.exit.append(b.small[b.frames][:0]))
	}
}

func (r *Relay) gatherOutput(b *batch) {
	done := 0
	for done < len(r.runs) && !b.full() {
		next := &r.runs[done]
		o := &r.out[next.stream-1]
		p := o.queue.at(o.flight, min(next.size, MaxPayload))
		b.add(Frame{Type: TypeData, Stream: next.stream, Offset: o.sent}, p)
		o.flight += len(p)
		o.sent += uint64(len(p))
		if next.size -= len(p); next.size == 0 {
			done++
		}
	}
	r.runs = r.runs[:copy(r.runs, r.runs[done:])]
	if len(r.runs) == 0 && cap(r.runs) > maxBatch {
		r.runs = nil
	}
}

// release frees what the batch carried.
func (r *Relay) release(b *batch) {
	clear(b.parts[:b.used])
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.out {
		o := &r.out[i]
		o.queue.discard(o.flight)
		o.flight = 0
	}
}
