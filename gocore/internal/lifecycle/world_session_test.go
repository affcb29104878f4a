// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// fakeSession is the stream to podinit in the Pod of a name.
type fakeSession struct {
	w       *world
	dial    stream.Dialer
	reached func(stage string)

	mu        sync.Mutex
	changed   chan struct{}
	linked    *fakePump // the present connection
	met       bool
	sent      bool
	over      bool // Run has ended
	detach    bool
	forwarded []uint32
	early     map[uint32]bool
	ends      []stream.Exit // of the tasks, as podinit knows
	delivered bool
}

func (w *world) newSession(id uint64, dial stream.Dialer, reached func(string)) Session {
	if id != testSession {
		w.breaks("session %x", id)
	}
	s := &fakeSession{w: w, dial: dial, reached: reached, changed: make(chan struct{}), early: map[uint32]bool{}}
	w.mu.Lock()
	w.sessions = append(w.sessions, s)
	w.mu.Unlock()
	return s
}

// change changes the session and wakes who waits.
func (s *fakeSession) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeSession) until(ctx context.Context, test func() bool) error {
	for {
		s.mu.Lock()
		done, over, changed := test(), s.over, s.changed
		s.mu.Unlock()
		switch {
		case done:
			return nil
		case over:
			return stream.ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *fakeSession) Run(ctx context.Context) error {
	defer s.change(func() { s.over, s.linked = true, nil })
	if err := s.w.call(ctx, "Run", func() error { return nil }); err != nil {
		return err
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for _, relay := range s.w.relays {
		readers.Go(func() { s.read(reading, relay) })
	}
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		s.mu.Lock()
		detach := s.detach
		s.mu.Unlock()
		if detach {
			return nil
		}
		pump, err := s.dial(ctx)
		if err == nil {
			if inside, ok := pump.(guestPump); ok {
				pump = inside.ReadWriteCloser
			}
			s.connected(ctx, pump.(*fakePump))
			pause = 100 * time.Millisecond
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// read takes the relay's signals over, once it is forwarded.
func (s *fakeSession) read(ctx context.Context, relay *fakeRelay) {
	if s.until(ctx, func() bool { return slices.Contains(s.forwarded, relay.task) }) != nil {
		return
	}
	for {
		select {
		case signal := <-relay.signals:
			s.Signal(relay.task, signal)
		case <-ctx.Done():
			return
		}
	}
}

// connected is the life of one pump.
func (s *fakeSession) connected(ctx context.Context, pump *fakePump) {
	s.change(func() { s.linked, s.met = pump, true })
	defer s.change(func() { s.linked = nil })
	for {
		s.mu.Lock()
		changed, detach := s.changed, s.detach
		s.delivered = s.delivered || s.ends != nil
		s.mu.Unlock()
		if detach {
			pump.cluster.podinitEnds(pump.uid, 0)
			return
		}
		select {
		case <-pump.broken:
			return
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (s *fakeSession) Connected(ctx context.Context) error {
	return s.w.call(ctx, "Connected", func() error { return s.until(ctx, func() bool { return s.met }) })
}

func (s *fakeSession) Start(ctx context.Context, launches []stream.Launch) error {
	return s.w.call(ctx, "Start", func() error {
		if len(launches) != len(s.w.relays) {
			s.w.breaks("START of %d tasks", len(launches))
		}
		if s.StartSent() {
			return nil // as podinit: the first one counts
		}
		s.w.starting()
		s.mu.Lock()
		if s.linked != nil {
			s.w.startedIn(s.linked.cluster.name)
		}
		s.sent = true
		s.mu.Unlock()
		s.reached(stream.StageStartSent)
		time.AfterFunc(s.w.tasks.take, func() { s.end(s.w.tasks.exit) })
		for task, take := range s.w.tasks.early {
			time.AfterFunc(take, func() { s.change(func() { s.early[task] = true }) })
		}
		return nil
	})
}

// starting checks what must hold when START is sent.
func (w *world) starting() {
	w.mu.Lock()
	w.starts++
	w.mu.Unlock()
	if w.slurm.requeued() > 0 {
		w.breaks("START after the job was put back")
	}
	for _, cluster := range w.clusters() {
		cluster.checkAlone()
	}
}

// end is the end of all tasks; the first counts, and only while their container runs.
func (s *fakeSession) end(exit stream.Exit) {
	if s.w.tasks.mute || !s.w.runs() {
		return
	}
	s.change(func() {
		if s.ends == nil {
			s.ends = slices.Repeat([]stream.Exit{exit}, len(s.w.relays))
		}
		s.delivered = s.delivered || s.linked != nil
	})
}

func (s *fakeSession) StartSent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *fakeSession) Forward(task uint32) {
	s.change(func() { s.forwarded = append(s.forwarded, task) })
}

func (s *fakeSession) Signal(task uint32, signal stream.Signal) {
	if !s.StartSent() {
		s.w.breaks("signal %d before START", signal.Number)
	}
	s.w.mu.Lock()
	s.w.signals = append(s.w.signals, signal.Number)
	s.w.mu.Unlock()
	s.mu.Lock()
	linked := s.linked != nil
	s.mu.Unlock()
	if linked && (signal.Number == 9 || signal.Number == 15 && !s.w.tasks.traps) {
		time.AfterFunc(time.Millisecond, func() { s.end(stream.Exit{Status: signal.Number}) })
	}
}

func (s *fakeSession) Exit(ctx context.Context, task uint32) (exit stream.Exit, err error) {
	err = s.until(ctx, func() bool {
		exit = s.w.tasks.exit
		if s.delivered {
			exit = s.ends[task]
		}
		return s.delivered || s.early[task]
	})
	return exit, err
}

func (s *fakeSession) Exits(ctx context.Context) (exits []stream.Exit, err error) {
	err = s.w.call(ctx, "Exits", func() error {
		return s.until(ctx, func() bool { exits = slices.Clone(s.ends); return s.delivered })
	})
	if err != nil {
		return nil, err
	}
	return exits, nil
}

func (s *fakeSession) OutputCame() bool { return s.w.tasks.came }

func (s *fakeSession) Detach(ctx context.Context) {
	_ = s.w.call(ctx, "Detach", func() error {
		s.change(func() { s.detach = true })
		return s.until(ctx, func() bool { return s.over })
	})
}

// fakePump is a connection to podinit in the Pod of this uid.
type fakePump struct {
	bytes.Buffer
	cluster *fakeCluster
	uid     string
	broken  chan struct{}
}

func (p *fakePump) Close() error { return nil }
