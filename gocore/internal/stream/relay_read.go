// SPDX-License-Identifier: Apache-2.0

package stream

import "time"

// readOut waits a little for the reader of a relay that cannot be written to:
// what it said before it went still counts.
func (r *Relay) readOut(reading chan error) error {
	select {
	case err := <-reading:
		reading <- nil
		return err
	case <-time.After(time.Second):
		return nil
	}
}

// readLoop takes what the relay says, until it is gone. It never waits for
// anything but the relay.
func (r *Relay) readLoop() error {
	rd := NewReader(r.conn, 0)
	defer rd.Release()
	hello := joiner{limit: MaxRecords}
	for {
		f, err := rd.Next()
		if err != nil {
			return err
		}
		if f.Type != TypeHello {
			break
		}
		if f.Task != socketTask {
			return breach("HELLO of task %d", f.Task)
		}
		done, err := hello.add(f)
		if err != nil {
			return err
		}
		if done {
			if err := r.takeHello(hello.buf); err != nil {
				return err
			}
			hello.buf = nil
			return r.readFrames(rd)
		}
	}
	return breach("the first frame is not a HELLO")
}

func (r *Relay) takeHello(b []byte) error {
	launch, err := DecodeLaunch(b, socketTask)
	if err != nil {
		return err
	}
	launch.Task = r.task
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launch = launch
	close(r.greeted)
	return nil
}

func (r *Relay) readFrames(rd *Reader) error {
	for {
		f, err := rd.Next()
		if err == nil {
			err = r.take(f)
		}
		if err != nil {
			return err
		}
		r.tell()
	}
}

// take takes one frame after the hello.
func (r *Relay) take(f Frame) error {
	if f.Task != socketTask {
		return breach("%s of task %d", f.Type, f.Task)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f.Type {
	case TypeAck:
		if f.Stream == Stdin {
			return breach("ACK of stdin from a relay")
		}
		return r.out[f.Stream-1].takeAck(f.Stream, f.Offset)
	case TypeData, TypeEOF:
		if f.Stream != Stdin {
			return breach("%s of %s from a relay", f.Type, f.Stream)
		}
		if f.Type == TypeEOF {
			return r.in.takeEOF(f.Offset)
		}
		return r.in.take(f.Offset, f.Payload)
	case TypeHeartbeat:
		if f.Flags&FlagReply == 0 {
			return breach("HEARTBEAT from a relay that is not an answer")
		}
		return r.watch.answer(f.Offset)
	case TypeSignal:
		s, err := parseSignal(f)
		if err != nil {
			return err
		}
		r.takeSignal(s)
		return nil
	case TypeWinsize:
		w, err := parseWinsize(f.Payload)
		r.size = &w
		return err
	}
	return breach("%s from a relay", f.Type)
}

// takeSignal keeps a signal for whoever takes it; with mu.
func (r *Relay) takeSignal(s Signal) {
	if r.watch.see(s.Number) {
		r.probe.ring()
	}
	select {
	case r.signals <- s:
	default:
		r.lost++
	}
}
