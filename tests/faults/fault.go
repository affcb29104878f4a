// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// effect is what a fault may do to a job in its reach; the audit holds the rest to their deserved ends.
type effect int

const (
	none      effect = iota // nothing: the job must end as if there had been no fault
	plain                   // Slurm's own loss: what it starts meanwhile may be run again, or end as NODE_FAIL; srun may fail
	disrupted               // as by an administrator: a batch job that may be requeued must come back and end well; others end, with a reason
	deadly                  // it may end, with a reason
	killed                  // it dies of a signal, and there is nobody to say why
	forced                  // deadly, and runs may overlap: the administrator has said that the Pod is gone
)

// reach is whom a fault can have hit: those listed, those with a Pod on a Kubernetes node, or everybody.
type reach struct {
	jobs []int
	node string
	all  bool
}

// hit is one fault as it happened.
type hit struct {
	*strike
	target   string
	reach    reach
	from, to time.Time // to: undone, and a moment more
	skipped  bool
}

// faultKind is one way to break something. inject gives what it has hit and how it is undone; errNobody: nothing was there to hit.
type faultKind struct {
	name, what string
	low, high  time.Duration // until it is undone
	alone      string        // what it needs for itself; faults that need the same wait for each other
	effect     effect
	inject     func(w *world, s *strike, h *hit) (undo func() error, err error)
}

var errNobody = errors.New("nobody to hit")

// faultKinds is filled where the kinds are.
var faultKinds = slices.Concat(processFaults, daemonFaults, proxyFaults, podFaults, nodeFaults, diskFaults)

// strike carries one fault out, and undoes it.
func (w *world) strike(ctx context.Context, s *strike) {
	free := w.alone(s.kind.alone)
	defer free()
	h := &hit{strike: s, from: time.Now()}
	var undo func() error
	var err error
	// A process or Pod to hit comes along soon; what else can fail is told at once.
	testcluster.Until(20*time.Second, func() bool {
		h.from = time.Now()
		undo, err = s.kind.inject(w, s, h)
		return !errors.Is(err, errNobody) || ctx.Err() != nil
	})
	if err != nil {
		h.skipped = true
		w.log("fault %d: %s is left out: %v", s.number, s.kind.name, err)
	}
	w.mu.Lock()
	w.hits = append(w.hits, h)
	w.mu.Unlock()
	if h.skipped && undo == nil {
		return
	}
	if !h.skipped {
		w.log("fault %d: %s %s, for %s", s.number, s.kind.name, h.target, s.hold.Round(100*time.Millisecond))
	}
	w.at(ctx, time.Since(w.began)+s.hold)
	if undo != nil {
		// What starts something again may need more than one try on a busy machine.
		if !testcluster.Until(4*time.Minute, func() bool { err = undo(); return err == nil }) {
			w.finding(0, "fault %d: %s %s could not be undone: %v", s.number, s.kind.name, h.target, err)
		}
	}
	w.mu.Lock()
	h.to = time.Now().Add(20 * time.Second)
	w.mu.Unlock()
	if undo != nil {
		w.log("fault %d: %s %s is undone", s.number, s.kind.name, h.target)
	}
}

// finding is something wrong that is known before the audit.
func (w *world) finding(job int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if job != 0 {
		text = fmt.Sprintf("job %d: %s", job, text)
	}
	w.log("finding: %s", text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, text)
}

// one picks from what can be hit, the same of the same.
func one[T any](s *strike, from []T) (T, error) {
	if len(from) == 0 {
		var zero T
		return zero, errNobody
	}
	return from[s.pick%len(from)], nil
}
