// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// fakeRelay is one task's relay. It goes a millisecond after its Exit.
type fakeRelay struct {
	w       *world
	task    uint32
	signals chan stream.Signal
	done    chan struct{}
	hello   error
	env     []string

	gone    bool // with w.mu
	notices []string
	exits   []stream.Exit
	late    bool // it vanished before an Exit
}

func (r *fakeRelay) Hello(ctx context.Context) (stream.Launch, error) {
	launch := stream.Launch{Task: r.task, Argv: []string{"/spool/job7/slurm_script", "a"}, Env: append([]string{"A=1"}, r.env...), Script: []byte("#!/bin/sh\n")}
	launch.PullSecret = []byte(r.w.docker)
	err := r.w.call(ctx, "Hello", func() error { return r.hello })
	return launch, err
}

func (r *fakeRelay) Signals() <-chan stream.Signal { return r.signals }
func (r *fakeRelay) Done() <-chan struct{}         { return r.done }

func (r *fakeRelay) Notice(text string) {
	if text == "" || strings.ContainsAny(text, "\n") || !strings.HasPrefix(text, "slurm-k8s: ") {
		r.w.breaks("notice %q is not one line of ours", text)
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.notices = append(r.notices, text)
}

func (r *fakeRelay) Exit(e stream.Exit) {
	r.w.mu.Lock()
	r.exits = append(r.exits, e)
	r.w.mu.Unlock()
	time.AfterFunc(time.Millisecond, r.leave)
}

func (r *fakeRelay) leave() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if !r.gone {
		r.gone = true
		close(r.done)
	}
}

// vanish is a relay that dies before it was told how.
func (r *fakeRelay) vanish() {
	r.w.mu.Lock()
	if len(r.exits) == 0 {
		r.late = true
	}
	r.w.mu.Unlock()
	r.leave()
}

func (r *fakeRelay) signal(number uint32) {
	select {
	case r.signals <- stream.Signal{Number: number}:
	default:
	}
}

func (r *fakeRelay) check() {
	r.w.mu.Lock()
	exits, late := len(r.exits), r.late
	r.w.mu.Unlock()
	// After a panic the end is told again; the relay takes the first.
	if exits > 1 && !r.w.panicked() || exits == 0 && !late {
		r.w.breaks("relay %d got %d exits", r.task, exits)
	}
}
