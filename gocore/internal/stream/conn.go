// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// conn is one pump's connection. Three goroutines have part in it: Run's own,
// which watches, one that reads and one that writes; all three have ended
// before the next conn is made.
type conn struct {
	s        *Session
	rwc      io.ReadWriteCloser
	heard    atomic.Int64  // when the last frame came, in ns since began
	began    time.Time     // monotonic
	met      chan struct{} // closed when podinit's HELLO was taken
	detached chan struct{} // closed when DETACH was written
	hello    joiner        // the reading loop's
}

// errSilent is why a pump that brings nothing is given up.
var errSilent = errors.New("nothing came from podinit")

// connect execs a pump and serves it until it breaks: says whether podinit was
// met, and for how long the connection lived after the exec.
func (s *Session) connect(ctx context.Context) (met bool, lived time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(s.Silence, cancel)
	var rwc io.ReadWriteCloser
	err = guard("the exec of a pump", func() error {
		var err error
		rwc, err = s.Dial(ctx)
		return err
	})
	if !late.Stop() {
		err = fmt.Errorf("exec of a pump: %w in %s", errSilent, s.Silence)
	}
	if err == nil && rwc == nil {
		err = errors.New("exec of a pump gave nothing")
	}
	if err != nil {
		if rwc != nil {
			_ = rwc.Close()
		}
		return false, 0, err
	}
	c := &conn{s: s, rwc: rwc, began: time.Now(), met: make(chan struct{}), detached: make(chan struct{}), hello: joiner{limit: maxPodinitHello}}
	err = c.serve(ctx, cancel)
	select {
	case <-c.met:
		met = true
	default:
	}
	return met, time.Since(c.began), err
}

// serve runs both loops and watches them. It returns when both have ended.
func (c *conn) serve(ctx context.Context, cancel context.CancelFunc) error {
	reading, writing := make(chan error, 1), make(chan error, 1)
	go func() { reading <- guard("the session's reader", c.readLoop) }()
	go func() { writing <- guard("the session's writer", func() error { return c.writeLoop(ctx) }) }()
	readerEnded, writerEnded, err := c.watch(ctx, reading, writing)
	cancel()
	_ = guard("the close of a pump", c.rwc.Close)
	if !readerEnded {
		<-reading
	}
	if !writerEnded {
		<-writing
	}
	return err
}

// watch waits for the first thing that ends the connection.
func (c *conn) watch(ctx context.Context, reading, writing chan error) (readerEnded, writerEnded bool, err error) {
	tick := time.NewTicker(max(c.s.Silence/4, time.Millisecond))
	defer tick.Stop()
	detached := c.detached
	var patience <-chan time.Time
	for {
		select {
		case err := <-reading:
			return true, false, err
		case err := <-writing:
			return false, true, err
		case <-detached:
			detached, patience = nil, time.After(detachPatient)
		case <-patience:
			return false, false, nil
		case <-ctx.Done():
			return false, false, context.Cause(ctx)
		case <-tick.C:
			if silent := time.Since(c.began) - time.Duration(c.heard.Load()); silent > c.s.Silence {
				return false, false, fmt.Errorf("%w for %s", errSilent, silent.Round(time.Second))
			}
		}
	}
}

// reset makes everything that is counted per connection ready for a new one,
// once podinit has said where it stands; with Session.mu.
func (s *Session) reset(inputs map[uint32]uint64) {
	for _, t := range s.order {
		t.exitSeen, t.acked, t.inputEOF, t.size = false, [2]uint64{}, false, Winsize{}
		t.input = inputs[t.relay.task]
		t.relay.rewind()
	}
	for i := range s.unsure {
		s.unsure[i].beat = 0
	}
}

// touchAll lets the writing loop look at every task. Without mu.
func (s *Session) touchAll() {
	for _, t := range s.order {
		s.touch(t)
	}
}

// lossPause is between two lines on what a relay says too much of: it may say so as fast as it likes.
const lossPause = time.Second

// logLoss says once per task that its output goes nowhere; with Session.mu.
func (s *Session) logLoss(t *task) {
	if _, dropped := t.relay.settled(); dropped > 0 && !t.dropped {
		t.dropped = true
		s.log(slog.LevelWarn, "task %d: its relay is gone, output is dropped from here on", t.relay.task)
	}
	select {
	case <-t.relay.done: // the rest of it
	default:
		if time.Since(t.lossTold) < lossPause {
			return
		}
	}
	if signals, notices := t.relay.takeLost(); signals+notices > 0 {
		t.lossTold = time.Now()
		s.log(slog.LevelWarn, "task %d: %d signals and %d bytes of notices too many were dropped", t.relay.task, signals, notices)
	}
}
