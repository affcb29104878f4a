// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Dialer execs a pump. Closing what it returns must end Read and Write at once,
// and so must the end of ctx, which bounds the whole life of the pump.
type Dialer func(ctx context.Context) (io.ReadWriteCloser, error)

// Config is what a Session works with.
type Config struct {
	ID     uint64   // frames.h: session; never 0
	Relays []*Relay // of every task in the container
	// Commands is the relay of Slurm's commands that the tasks call; nil: none are offered.
	Commands *Relay
	Dial     Dialer
	// Log is called from any goroutine and must not call the Session; nil: nowhere.
	Log func(level slog.Level, text string)
	// Reached is told each of the stages below once; as Log.
	Reached func(stage string)

	Heartbeat time.Duration // how often podinit hears of the core; 0: 10 s
	Silence   time.Duration // a pump that brings nothing for so long is dead; 0: 30 s
	Rate      int64         // bytes of output a second, all streams together; 0: no limit
}

// The stages of a session that Config.Reached is told.
const (
	StageStartSent = "start-sent"
	StageFirstByte = "first-byte" // of the tasks' output
)

var (
	// ErrClosed is what waiting calls return when Run has ended without an error.
	ErrClosed = errors.New("stream: the session is closed")
	// ErrGone, of a Dialer or its pumps, says that no further one will find podinit: Run ends by it.
	ErrGone = errors.New("stream: podinit is gone")
	// ErrUnstartable is what Start returns for what can never be sent.
	ErrUnstartable = errors.New("stream: the start cannot be sent")
	// ErrNeverStarted is what Start returns when podinit has given up waiting.
	ErrNeverStarted = errors.New("stream: podinit ended before it was started")
)

// Session is one incarnation's stream to podinit. Any goroutine may call its
// methods; Run must be running for anything to move.
type Session struct {
	Config
	tasks map[uint32]*task // not changed after NewSession
	order []*task

	outputAllowed atomic.Bool // START may have reached podinit
	startWritten  sync.Once   // it was, once
	firstByte     sync.Once   // of the tasks' output has come
	wake          bell        // for the writing loop

	dirtyMu sync.Mutex
	dirty   []*task // something of theirs is to be looked at

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew when somebody may want to look
	connected bool          // podinit has been met
	ended     bool          // Run has ended
	endErr    error
	cancel    context.CancelFunc // of Run
	version   string

	launches   []Launch // what START will carry; nil before Start and when done
	startSent  bool
	started    bool // podinit said so
	neverStart bool // podinit ended before

	signals  []taskSignal // not yet written
	unsure   []sentOrder  // written, and podinit has not said that they came; the oldest first
	ordered  uint64       // the last one's number
	stop     flagOnce     // SIGSTOP: want is what should be, sent what was ordered last
	detach   bool
	detached bool // DETACH was written
}

// task is what a Session keeps of a task; with Session.mu but for the atomics.
type task struct {
	relay     *Relay
	dirty     atomic.Bool // it is in Session.dirty
	ending    atomic.Bool // exit is there: somebody may wait for the last ack
	forward   bool
	suspended bool
	gone      bool
	exit      *Exit
	dropped   bool // that output is dropped has been logged
	lossTold  time.Time

	// Of the present connection.
	exitSeen bool
	acked    [2]uint64
	input    uint64 // sent so far
	inputEOF bool
	size     Winsize
}

type taskSignal struct {
	task   uint32
	signal Signal
}

// sentOrder is a signal on its way to podinit, which does what bears one number once, however often it comes.
type sentOrder struct {
	taskSignal
	number uint64 // from 1 on
	beat   uint64 // the heartbeat behind it on the present connection; 0: it was not yet written there
}

// maxUnsure is how many orders are kept to be sent again; a flood may have more on its way, of which the older ones have most likely come.
const maxUnsure = 1024

// issue gives a signal its number; with mu.
func (s *Session) issue(signal taskSignal) {
	s.ordered++
	s.unsure = append(s.unsure, sentOrder{taskSignal: signal, number: s.ordered})
	if many := len(s.unsure) - maxUnsure; many > 0 {
		s.unsure = slices.Delete(s.unsure, 0, many)
	}
}

// came notes that podinit has read all that was written before a heartbeat. Without mu.
func (s *Session) came(beat uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsure = slices.DeleteFunc(s.unsure, func(o sentOrder) bool { return o.beat > 0 && o.beat <= beat })
}

// NewSession makes a session of relays that have said hello, or not yet. A relay
// belongs to the session that was made last.
func NewSession(c Config) *Session {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 10 * time.Second
	}
	if c.Silence <= 0 {
		c.Silence = 30 * time.Second
	}
	s := &Session{Config: c, tasks: make(map[uint32]*task), wake: newBell(), changed: make(chan struct{})}
	relays := c.Relays
	for _, r := range relays {
		r.share(outputWindow(len(relays)))
	}
	if c.Commands != nil {
		relays = append(slices.Clone(relays), c.Commands)
	}
	for _, r := range relays {
		t := &task{relay: r}
		s.tasks[r.task] = t
		s.order = append(s.order, t)
		tell := func() { s.touch(t) }
		r.changed.Store(&tell)
	}
	return s
}

func (s *Session) log(level slog.Level, format string, args ...any) {
	if s.Log != nil {
		s.Log(level, fmt.Sprintf(format, args...))
	}
}

func (s *Session) reached(stage string) {
	if s.Reached != nil {
		s.Reached(stage)
	}
}

// touch lets the writing loop look at a task, and whoever waits for its end.
// From any goroutine, without Session.mu.
func (s *Session) touch(t *task) {
	if t.dirty.CompareAndSwap(false, true) {
		s.dirtyMu.Lock()
		s.dirty = append(s.dirty, t)
		s.dirtyMu.Unlock()
		s.wake.ring()
	}
	if t.ending.Load() {
		s.mu.Lock()
		s.broadcast()
		s.mu.Unlock()
	}
}

// broadcast wakes all that wait in until; with mu.
func (s *Session) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits until test, called with mu, says that it is so, Run ends, or ctx does.
func (s *Session) until(ctx context.Context, test func() (bool, error)) error {
	for {
		s.mu.Lock()
		done, err := test()
		changed := s.changed
		if !done && err == nil && s.ended {
			if err = s.endErr; err == nil {
				err = ErrClosed
			}
		}
		s.mu.Unlock()
		if done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Connected waits until podinit has been met for the first time.
func (s *Session) Connected(ctx context.Context) error {
	return s.until(ctx, func() (bool, error) { return s.connected, nil })
}

// Version is podinit's, once it is connected.
func (s *Session) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Start sends START, on the present connection or the next, as often as podinit
// is found still waiting, and returns when the tasks are forked. When it fails,
// nothing more is sent; StartSent then says whether podinit may have started.
// Launches are those of the relays, in any order.
func (s *Session) Start(ctx context.Context, launches []Launch) error {
	if err := checkStart(launches); err != nil {
		return fmt.Errorf("%w: %w", ErrUnstartable, err)
	}
	for i := range launches {
		if s.tasks[launches[i].Task] == nil || len(launches) != len(s.Relays) {
			return fmt.Errorf("stream: start of task %d, which has no relay, or of too few", launches[i].Task)
		}
	}
	s.mu.Lock()
	if s.launches == nil && !s.started {
		s.launches = launches
	}
	s.mu.Unlock()
	s.wake.ring()
	err := s.until(ctx, func() (bool, error) {
		if s.neverStart {
			return false, ErrNeverStarted
		}
		return s.started, nil
	})
	s.mu.Lock()
	s.launches = nil
	s.mu.Unlock()
	return err
}

// StartSent says whether podinit may have been told to start: from then on the
// incarnation counts as started.
func (s *Session) StartSent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startSent || s.started
}

// Signal queues a signal for podinit; TaskAll with FlagEvery, or a task. It is
// done once the tasks have started, in order, and once, whatever becomes of pumps. One
// that comes while 64 of its task wait is dropped and logged, but KILL.
func (s *Session) Signal(task uint32, sig Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := taskSignal{task, sig}
	if s.waiting(task) >= maxSignals && (sig.Number != sigKILL || slices.Contains(s.signals, next)) {
		s.log(slog.LevelWarn, "task %d: %s was dropped, %d others wait for podinit", task, sig, maxSignals)
		return
	}
	s.signals = append(s.signals, next)
	s.wake.ring()
}

// waiting counts the signals of a task that wait for podinit; with mu.
func (s *Session) waiting(task uint32) int {
	count := 0
	for _, queued := range s.signals {
		if queued.task == task {
			count++
		}
	}
	return count
}

// Forward sends what the relay gets (signals, input, window sizes, suspension)
// to podinit from now on, and tells the relay that its task has started. After
// it, nobody else may read the relay's Signals.
func (s *Session) Forward(r *Relay) {
	t := s.tasks[r.task]
	if t == nil || t.relay != r {
		return
	}
	s.mu.Lock()
	t.forward = true
	s.mu.Unlock()
	r.Started()
	s.touch(t)
}

// Exit waits until a task has ended and all its output has been written by its
// relay, or dropped because that is gone.
func (s *Session) Exit(ctx context.Context, number uint32) (Exit, error) {
	t := s.tasks[number]
	if t == nil {
		return Exit{}, fmt.Errorf("stream: no task %d", number)
	}
	err := s.until(ctx, func() (bool, error) {
		if t.exit == nil {
			return false, nil
		}
		settled, _ := t.relay.settled()
		return settled, nil
	})
	if err != nil {
		return Exit{}, err
	}
	if _, dropped := t.relay.settled(); dropped > 0 {
		s.log(slog.LevelWarn, "task %d: %d bytes of output were dropped, its relay is gone", number, dropped)
	}
	return *t.exit, nil
}

// Exits waits for the ends of all tasks, as Exit does, in the order of Config.Relays.
func (s *Session) Exits(ctx context.Context) ([]Exit, error) {
	exits := make([]Exit, 0, len(s.order))
	for _, r := range s.Relays {
		e, err := s.Exit(ctx, r.task)
		if err != nil {
			return nil, err
		}
		exits = append(exits, e)
	}
	return exits, nil
}

// OutputCame says whether all that the tasks wrote is here or with their relays: podinit has said how
// much it is.
func (s *Session) OutputCame() bool {
	for _, r := range s.Relays {
		if !r.ended() {
			return false
		}
	}
	return true
}

// Detach tells podinit to go and ends Run. When it returns, Run is about to
// have returned, or ctx has ended first. May be called twice, and without Run.
func (s *Session) Detach(ctx context.Context) {
	s.mu.Lock()
	s.detach = true
	cancel := s.cancel
	s.mu.Unlock()
	if cancel == nil {
		return
	}
	s.wake.ring()
	_ = s.until(ctx, func() (bool, error) { return s.ended, nil }) // Run logs what is left undone
	cancel()
}
