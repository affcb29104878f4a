// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"time"
)

const (
	probeEvery   = 500 * time.Millisecond
	probePatient = 1500 * time.Millisecond
)

// watch tells whether the relay is frozen. Slurm suspends by SIGTSTP and
// freezes the relay some 2 s later, which is seen by its not answering; so a
// relay is probed from a SIGTSTP until it has answered after a SIGCONT. One
// that never got a SIGTSTP is not probed: it may be slow, writing to a file
// system that hangs, and its task is to go on. With the Relay's mu.
type watch struct {
	armed     bool
	resumed   bool // SIGCONT came since
	suspended bool
	due       bool // a probe is to be sent
	waiting   bool // a probe is not answered
	asked     time.Time
	counter   uint64 // the newest probe's
}

// see takes note of a signal, and says whether probing is to begin.
func (w *watch) see(signal uint32) bool {
	switch signal {
	case sigTSTP:
		w.armed, w.resumed = true, false
		return true
	case sigCONT:
		w.resumed = true
	}
	return false
}

// answer takes the relay's answer.
func (w *watch) answer(counter uint64) error {
	if !w.waiting || counter != w.counter {
		return breach("answer to HEARTBEAT %d, asked was %d", counter, w.counter)
	}
	w.waiting, w.suspended = false, false
	return nil
}

// step goes on by one tick: says whether the relay was found to be frozen.
func (w *watch) step(now time.Time) (frozen bool) {
	switch {
	case w.waiting:
		if now.Sub(w.asked) >= probePatient && !w.suspended {
			w.suspended = true
			return true
		}
	case w.resumed:
		w.armed = false
	default:
		w.counter++
		w.due, w.waiting, w.asked = true, true, now
	}
	return false
}

// Suspended says whether Slurm has suspended the step and frozen the relay.
func (r *Relay) Suspended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watch.suspended && !r.gone
}

// probeLoop sends a probe every now and then while the relay may be frozen. Its
// answer is taken by the reading loop.
func (r *Relay) probeLoop(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.probe:
		}
		ticker := time.NewTicker(probeEvery)
		for armed := true; armed && ctx.Err() == nil; {
			r.mu.Lock()
			frozen := r.watch.step(time.Now())
			armed = r.watch.armed
			r.mu.Unlock()
			r.write.ring()
			if frozen {
				r.tell()
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
		ticker.Stop()
	}
}
