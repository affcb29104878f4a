// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"time"
)

// enough is how much of small frames and input goes to the pump in one write.
const enough = MaxPayload

// writeLoop sends what there is to be sent. What that is, it works out from the
// state of session and relays, so nothing is queued but signals.
func (c *conn) writeLoop(ctx context.Context) error {
	w := NewWriter(c.rwc, c.s.ID)
	if err := w.Write(Frame{Type: TypeHello, Task: TaskAll}); err != nil {
		return err
	}
	select {
	case <-c.met:
	case <-ctx.Done():
		return nil
	}
	o := &outgoing{s: c.s, w: w, rate: newBucket(c.s.Rate)}
	heartbeat := time.NewTicker(c.s.Heartbeat)
	defer heartbeat.Stop()
	for {
		if err := o.pass(); err != nil {
			return err
		}
		if o.detached {
			close(c.detached)
			return waitFor(ctx)
		}
		if o.again {
			if err := ctx.Err(); err != nil {
				return err
			}
			select {
			case <-heartbeat.C:
				o.beat = true
			default:
			}
			continue
		}
		select {
		case <-c.s.wake:
		case <-heartbeat.C:
			o.beat = true
		case <-o.later:
			o.later = nil
		case <-ctx.Done():
			return nil
		}
	}
}

func waitFor(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// outgoing is what a writing loop knows.
type outgoing struct {
	s        *Session
	w        *Writer
	rate     *bucket
	beat     bool
	beats    uint64
	started  bool // START was sent on this connection
	resumed  bool // the orders that the last one may not have brought were sent on this one
	again    bool // there is more
	detached bool
	work     []*task
	later    <-chan time.Time // when the rate allows more
	scratch  []byte
}

// pass sends one burst.
func (o *outgoing) pass() error {
	o.again = false
	if o.beat {
		o.beat = false
		o.heartbeat()
	}
	s := o.s
	s.mu.Lock()
	launches := s.launches
	if o.started || s.started || s.detach {
		launches = nil
	}
	if launches != nil {
		o.started, s.startSent = true, true // at once: whatever the write does
		s.outputAllowed.Store(true)
	}
	s.mu.Unlock()
	if launches != nil {
		if err := o.start(launches); err != nil {
			return err
		}
		s.startWritten.Do(func() { s.reached(StageStartSent) })
	}
	o.takeDirty()
	s.mu.Lock()
	done := 0
	for ; done < len(o.work) && len(o.w.buf) < enough; done++ {
		if t := o.work[done]; o.task(t) {
			s.touchLater(t) // behind the others
			o.again = true
		}
	}
	o.work = o.work[:copy(o.work, o.work[done:])]
	o.again = o.again || len(o.work) > 0
	o.orders()
	detach := s.detach && !o.again && s.caughtUp()
	if detach {
		_ = o.w.queue(Frame{Type: TypeDetach, Task: TaskAll})
	}
	s.mu.Unlock()
	if err := o.w.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detached = s.detached || detach
	o.detached = detach
	if !o.again {
		o.w.rest()
		o.scratch = nil
	}
	return nil
}

// caughtUp says whether podinit, which may have sent ends and output again since
// the last connection, knows all that the relays have acknowledged; with mu.
func (s *Session) caughtUp() bool {
	for _, t := range s.order {
		if t.exit == nil {
			continue
		}
		if !t.exitSeen || t.acked[0] != t.relay.delivered(Stdout) || t.acked[1] != t.relay.delivered(Stderr) {
			return false
		}
	}
	return true
}

// start sends START. The launches are not changed by anybody.
func (o *outgoing) start(launches []Launch) error {
	return writeStart(launches, func(payload []byte, more bool) error {
		f := Frame{Type: TypeStart, Task: TaskAll, Payload: payload}
		if more {
			f.Flags = FlagMore
		}
		return o.w.Write(f)
	})
}

// takeDirty takes the tasks that are to be looked at.
func (o *outgoing) takeDirty() {
	o.s.dirtyMu.Lock()
	defer o.s.dirtyMu.Unlock()
	for _, t := range o.s.dirty {
		t.dirty.Store(false)
	}
	o.work = append(o.work, o.s.dirty...)
	o.s.dirty = o.s.dirty[:0]
}

// touchLater is touch for the writing loop itself, which holds Session.mu.
func (s *Session) touchLater(t *task) {
	if t.dirty.CompareAndSwap(false, true) {
		s.dirtyMu.Lock()
		s.dirty = append(s.dirty, t)
		s.dirtyMu.Unlock()
	}
}

// orders queues signals, first those that the last connection may not have brought; with Session.mu.
func (o *outgoing) orders() {
	s := o.s
	if !s.started {
		return
	}
	known := s.ordered
	if !o.resumed {
		o.resumed, known = true, 0
	}
	if s.stop.sent && !s.stop.want {
		s.issue(taskSignal{TaskAll, Signal{sigCONT, FlagEvery}})
	}
	for _, signal := range s.signals {
		s.issue(signal)
	}
	s.signals = s.signals[:0]
	if s.stop.want && !s.stop.sent {
		s.issue(taskSignal{TaskAll, Signal{sigSTOP, FlagEvery}})
	}
	s.stop.sent = s.stop.want
	queued := false
	for i := range s.unsure {
		order := &s.unsure[i]
		if order.number <= known {
			continue
		}
		order.beat = o.beats + 1
		frame := order.signal.frame(order.task)
		frame.Offset = order.number
		_ = o.w.queue(frame)
		queued = true
	}
	if queued {
		o.heartbeat() // its answer says that they have come
	}
}

// heartbeat queues one more.
func (o *outgoing) heartbeat() {
	o.beats++
	_ = o.w.queue(Frame{Type: TypeHeartbeat, Task: TaskAll, Offset: o.beats})
}

// task sends what there is for one task, and says whether there is more; with
// Session.mu.
func (o *outgoing) task(t *task) (more bool) {
	s, r := o.s, t.relay
	s.logLoss(t)
	for i := range t.acked {
		at := r.delivered(Stream(i + 1))
		if at == t.acked[i] {
			continue
		}
		if wait := o.rate.take(at-t.acked[i], time.Now()); wait > 0 && !s.detach {
			s.touchLater(t)
			if o.later == nil {
				o.later = time.After(wait)
			}
			continue
		}
		t.acked[i] = at
		_ = o.w.queue(Frame{Type: TypeAck, Stream: Stream(i + 1), Task: r.task, Offset: at})
	}
	if r.task == TaskCommands {
		return o.commands(t)
	}
	o.suspension(t)
	if !t.forward || !s.started || t.exit != nil {
		return false
	}
	o.takeSignals(t)
	if size := r.Winsize(); size != nil && *size != t.size {
		t.size = *size
		_ = o.w.queue(Frame{Type: TypeWinsize, Task: r.task, Payload: size.append(nil)})
	}
	return o.input(t)
}

// input sends a frame of input; with Session.mu.
func (o *outgoing) input(t *task) (more bool) {
	data, last := t.relay.inputFrom(t.input, o.scratch[:0])
	o.scratch = data
	if len(data) > 0 {
		_ = o.w.queue(Frame{Type: TypeData, Stream: Stdin, Task: t.relay.task, Offset: t.input, Payload: data})
		t.input += uint64(len(data))
	}
	if last && !t.inputEOF {
		t.inputEOF = true
		_ = o.w.queue(Frame{Type: TypeEOF, Stream: Stdin, Task: t.relay.task, Offset: t.input})
	}
	return len(data) == MaxPayload
}

// takeSignals moves signals from the relay to the session's queue; with Session.mu.
func (o *outgoing) takeSignals(t *task) {
	for len(o.s.signals) < maxSignals {
		select {
		case sig := <-t.relay.signals:
			o.s.signals = append(o.s.signals, taskSignal{t.relay.task, sig})
			continue
		default:
		}
		return
	}
	o.s.touchLater(t)
	o.again = true
}

// suspension stops the tasks when all relays that are left are frozen, as they
// are together; with Session.mu.
func (o *outgoing) suspension(t *task) {
	r := t.relay
	gone := false
	select {
	case <-r.done:
		gone = true
	default:
	}
	suspended := r.Suspended()
	if !t.forward || gone == t.gone && suspended == t.suspended {
		return
	}
	t.gone, t.suspended = gone, suspended
	all, any := true, false
	for _, other := range o.s.order {
		if other.gone || other.relay.task == TaskCommands {
			continue
		}
		all = all && other.suspended
		any = any || other.suspended
	}
	o.s.stop.want = all && any
}
