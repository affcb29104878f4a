// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// live lives the step's whole life in its slurmstepd: Finish is called when all relays are
// gone, and the process ends when it returns. Then every rule is checked.
func (w *world) live() {
	w.make()
	w.began = time.Now()
	for _, begin := range w.timed {
		begin()
	}
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		w.step.Run()
		w.ran = w.since()
	}()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for _, relay := range w.relays {
			<-relay.done
		}
	}()
	select {
	case <-gone:
	case <-time.After(stepLimit):
		w.kill()
		<-gone
	}
	w.exited = w.since()
	w.finish()
	// The process ends: what hangs does so no longer.
	close(w.over)
	select {
	case <-ran:
	case <-time.After(time.Hour):
		w.breaks("Run does not return")
	}
	w.check()
}

// finish is slurm_spank_exit.
func (w *world) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), finishBound)
	defer cancel()
	begun := time.Now()
	left := w.step.Finish(ctx)
	if took := time.Since(begun); took > finishBound {
		w.breaks("Finish took %s", took)
	}
	select {
	case <-w.step.done:
	default:
		w.cut = true
		if left == "" && slices.ContainsFunc(w.clusters(), func(c *fakeCluster) bool { return c.own() != "" }) {
			w.breaks("Finish says that nothing is left, but Run is not done")
		}
	}
	w.left = left
	for _, cluster := range w.clusters() {
		cluster.checkLeft(left)
	}
}

// cancel is scancel: TERM, and KILL after KillWait.
func (w *world) cancel(state string) {
	w.slurm.set(state)
	w.term()
	time.AfterFunc(killWait, w.kill)
}

func (w *world) term() {
	for _, relay := range w.relays {
		relay.signal(15)
	}
}

// kill is what Slurm's KILL does to the relays.
func (w *world) kill() {
	for _, relay := range w.relays {
		relay.vanish()
	}
}

// check asks every model for the rules that were broken at the end.
func (w *world) check() {
	if w.starts > 1 {
		w.breaks("START was sent %d times", w.starts)
	}
	for _, relay := range w.relays {
		relay.check()
	}
	w.slurm.check()
	if strings.Contains(w.log.String(), "panic") && !w.panicked() {
		w.breaks("a panic")
	}
}

func (w *world) panicked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, queue := range w.faults {
		if slices.ContainsFunc(queue, func(f fault) bool { return f.panics }) {
			return true
		}
	}
	return slices.Contains(w.calls, "a panic is expected")
}

// trouble is all broken rules with what helps to find out why; "" for none.
func (w *world) trouble() string {
	if w.turns.own != nil && !w.cut {
		w.breaks("the step's turn outlives it")
	}
	if len(w.broken) == 0 {
		return ""
	}
	return fmt.Sprintf("broken rules:\n  %s\nleft: %q\ncalls: %s\nnotices:\n%s\nlog:\n%s",
		strings.Join(w.broken, "\n  "), w.left, strings.Join(w.calls, " "), w.notices(), w.log.String())
}

// bubble runs a life in a bubble: set prepares the world, see looks at it afterwards.
func bubble(t *testing.T, set func(w *world), see func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		set(w)
		w.live()
		if trouble := w.trouble(); trouble != "" {
			t.Fatal(trouble)
		}
		if see != nil {
			see(t, w)
		}
		if t.Failed() {
			t.Logf("calls: %s\nnotices:\n%s\nlog:\n%s", strings.Join(w.calls, " "), w.notices(), w.log.String())
		}
	})
}
