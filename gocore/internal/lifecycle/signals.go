// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"sync"
	"syscall"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// endings are the signals by which users and Slurm end what runs.
var endings = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGXCPU}

// heldMax bounds the signals kept for each task that has not started.
const heldMax = 64

// heldSignals keeps what arrived before the start, for the task to get right after it.
type heldSignals struct {
	mu   sync.Mutex
	kept []taskSignal
	sink func(task uint32, signal stream.Signal) // set by release
}

type taskSignal struct {
	task   uint32
	signal stream.Signal
}

// deliver hands the signal on, or keeps it until release. False: it is dropped.
func (h *heldSignals) deliver(task uint32, signal stream.Signal) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sink != nil {
		h.sink(task, signal)
		return true
	}
	kept := 0
	for _, k := range h.kept {
		if k.task == task {
			kept++
		}
	}
	if kept < heldMax {
		h.kept = append(h.kept, taskSignal{task, signal})
	}
	return kept < heldMax
}

// release delivers what was kept, in order, and everything from now on.
func (h *heldSignals) release(sink func(uint32, stream.Signal)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.kept {
		sink(k.task, k.signal)
	}
	h.kept, h.sink = nil, sink
}

// watch follows one relay until it is gone or the step ends: its signals too, up to the
// start, from which on the session takes them.
func (s *Step) watch(task uint32, relay Relay) {
	defer func() {
		if r := recover(); r != nil {
			s.Log.Errorf("panic while watching the relay: %v", r)
			s.stop(errKilled)
		}
	}()
	signals, handedOver := relay.Signals(), (<-chan struct{})(s.handedOver)
	for {
		select {
		case signal := <-signals:
			// Asked before and after: Slurm's answer takes time, and a task that started
			// meanwhile shall have its signal.
			if !s.started.Load() && s.cancels(signal) && !s.started.Load() {
				s.stop(cancelled(signal.Number))
				continue
			}
			if !s.held.deliver(task, signal) {
				s.Log.Infof("task %d: %s was dropped, %d others wait for the start", task, signal, heldMax)
			}
		case <-handedOver:
			signals, handedOver = nil, nil
		case <-relay.Done():
			if !s.ended[task].Load() {
				s.stop(errKilled)
			}
			return
		case <-s.ctx.Done():
			return // the end goes on without signals
		}
	}
}

// cancels tells whether a signal before the start ends the step. A numbered one ends by what
// would end a program that has only begun, as by srun's Ctrl-C. Of a batch script TERM is how Slurm
// begins to end one, but also what --signal=B:TERM@60 sends: only Slurm's state tells
// them apart. Where Slurm cannot be asked the job is not started.
func (s *Step) cancels(signal stream.Signal) bool {
	if s.numbered {
		return slices.Contains(endings, syscall.Signal(signal.Number))
	}
	if syscall.Signal(signal.Number) != syscall.SIGTERM {
		return false
	}
	facts, err := s.Slurm.Facts(s.id)
	if err != nil {
		s.Log.WithError(err).Info("TERM before the start, and Slurm does not say why: the step ends")
		return true
	}
	return fact(facts, "state") != "RUNNING"
}
