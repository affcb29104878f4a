// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// maxSignals is how many signals wait for whoever is to take them.
const maxSignals = 64

// socketTask is every frame's task between relay and core: the socket is one task's, and the
// relay does not know its number.
const socketTask = 0

// Relay is the core's end of one relay's socket: the task on the Slurm node.
// Any goroutine may call its methods; Run must be running for anything to move.
type Relay struct {
	conn net.Conn
	task uint32

	signals chan Signal
	done    chan struct{} // closed when Run has ended
	greeted chan struct{} // closed when hello or helloErr is there
	write   bell          // for the writing loop
	probe   bell          // for the probing loop

	changed atomic.Pointer[func()] // the session's; called without mu

	mu        sync.Mutex
	launch    Launch
	helloErr  error
	out       [3]output // Stdout, Stderr, Notice
	window    uint64    // of Stdout and Stderr
	runs      []run     // the order of what is in out
	in        input
	begun     flagOnce // START for the relay
	offer     []byte   // payload of START to the relay of commands
	exit      *Exit    // what the relay is to end with
	exitSent  bool
	gone      bool   // nothing reaches the relay any more
	dropped   uint64 // bytes of output that came after
	lost      int    // signals that nobody took
	unnoticed int    // bytes of notices that were dropped
	size      *Winsize
	watch     watch
}

// flagOnce is something to be sent once.
type flagOnce struct{ want, sent bool }

// NewRelay makes the core's end of the relay of a task; conn is the Relay's from
// here on, and must be given to Run or Close.
func NewRelay(conn net.Conn, task uint32) *Relay {
	return &Relay{conn: conn, task: task, window: OutputWindow, signals: make(chan Signal, maxSignals), done: make(chan struct{}),
		greeted: make(chan struct{}), write: newBell(), probe: newBell()}
}

// Task is the task's number on this Slurm node.
func (r *Relay) Task() uint32 { return r.task }

// Run reads and writes the socket until the relay goes or ctx ends, and closes
// it. Called once, from a goroutine of the owner's. Its error is nil when the
// relay went of its own accord.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reading, writing, probing := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() { reading <- guard("the relay's reader", r.readLoop) }()
	go func() { writing <- guard("the relay's writer", func() error { return r.writeLoop(ctx) }) }()
	go func() { probing <- guard("the relay's probe", func() error { return r.probeLoop(ctx) }) }()

	var err error
	select {
	case err = <-reading:
		reading <- nil
	case err = <-writing:
		writing <- nil
		if ctx.Err() == nil { // acks and an end may still be there to be read
			err = errors.Join(err, r.readOut(reading))
		}
	case err = <-probing:
		probing <- nil
	case <-ctx.Done():
	}
	cancel()
	_ = r.conn.Close()
	r.end(err)
	<-reading
	<-writing
	<-probing
	r.clear()
	close(r.done)
	r.tell()
	if err == nil || wentAway(err) && !errors.Is(err, ErrProtocol) {
		return nil
	}
	return fmt.Errorf("relay of task %d: %w", r.task, err)
}

// wentAway says whether err is what a socket says when the other end is closed,
// be it in the middle of a frame.
func wentAway(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe)
}

// end marks the relay as gone, and answers who waits for its hello.
func (r *Relay) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	for i := range r.out {
		r.out[i].settle()
	}
	select {
	case <-r.greeted:
	default:
		r.helloErr = io.EOF
		if errors.Is(err, ErrProtocol) {
			r.helloErr = err
		}
		close(r.greeted)
	}
}

// clear gives the buffers back; no loop is running any more.
func (r *Relay) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.out {
		r.out[i].queue.clear()
	}
	r.in.queue.clear()
	r.in.gone = true
	r.runs = nil
}

// Close ends Run, or a Relay that was never run.
func (r *Relay) Close() error { return r.conn.Close() }

// Hello waits for what slurmstepd would have exec'ed. io.EOF: the relay died
// before it said so, as happens when a later task's set-up fails.
func (r *Relay) Hello(ctx context.Context) (Launch, error) {
	select {
	case <-r.greeted:
	default:
		select {
		case <-r.greeted:
		case <-ctx.Done():
			return Launch{}, context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.launch, r.helloErr
}

// Forget drops the script and environment that Hello gives, once they are sent.
func (r *Relay) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launch = Launch{Task: r.task, Argv: r.launch.Argv, TTY: r.launch.TTY}
}

// takeLost says how many signals and bytes of notices were dropped since it was
// last asked.
func (r *Relay) takeLost() (signals, notices int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	signals, notices = r.lost, r.unnoticed
	r.lost, r.unnoticed = 0, 0
	return signals, notices
}

// Done is closed when the relay is gone.
func (r *Relay) Done() <-chan struct{} { return r.done }

// Signals gives the signals that the relay got, until Session.Forward takes
// them over. One that comes while 64 wait is dropped.
func (r *Relay) Signals() <-chan Signal { return r.signals }

// Winsize is the terminal's newest size; nil if it never changed since Hello.
func (r *Relay) Winsize() *Winsize {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Started tells the relay that its task runs: from now on it sends input.
func (r *Relay) Started() {
	r.mu.Lock()
	r.begun.want = true
	r.mu.Unlock()
	r.write.ring()
}

// Exit lets the relay end as the task did, after all that is queued before has
// been written. The first call counts. Done says when it has.
func (r *Relay) Exit(e Exit) {
	r.mu.Lock()
	if r.exit == nil {
		r.exit = &e
	}
	r.mu.Unlock()
	r.write.ring()
}

// tell tells the session that something here has changed. Without mu.
func (r *Relay) tell() {
	if f := r.changed.Load(); f != nil {
		(*f)()
	}
}
