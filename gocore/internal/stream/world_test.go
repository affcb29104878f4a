// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a session with its relays, and models of all that it talks to.
type world struct {
	t        testing.TB
	ctx      context.Context
	cancel   context.CancelFunc
	podinit  *podinitModel
	relays   []*Relay
	commands *Relay // of Slurm's commands; nil: none
	models   []*relayModel
	session  *Session
	runErr   chan error
	wait     sync.WaitGroup
	rate     int64

	mu     sync.Mutex
	logged strings.Builder
	stages []string
	dials  int
	down   bool // no pump can be exec'ed
	wrap   func(io.ReadWriteCloser, int) io.ReadWriteCloser
	serve  func(io.ReadWriteCloser)
}

const worldID = 0x0123456789abcdef

func newWorld(t testing.TB, tasks int) *world {
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{t: t, ctx: ctx, cancel: cancel, podinit: newPodinitModel(worldID, tasks), runErr: make(chan error, 1)}
	w.serve = w.podinit.serve
	for i := range tasks {
		here, there := net.Pipe()
		w.addRelay(uint32(i), here, there)
	}
	return w
}

func (w *world) addRelay(task uint32, here, there net.Conn) {
	r, m := NewRelay(here, task), newRelayModel(there, task)
	w.relays, w.models = append(w.relays, r), append(w.models, m)
	w.wait.Go(func() { _ = r.Run(w.ctx) })
	w.wait.Go(m.run)
}

func (w *world) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	w.mu.Lock()
	w.dials++
	n, down := w.dials, w.down
	w.mu.Unlock()
	if down {
		return nil, errors.New("the API is away")
	}
	here, there := net.Pipe()
	var core, pod io.ReadWriteCloser = here, there
	if w.wrap != nil {
		core = w.wrap(core, n)
	}
	w.wait.Go(func() { w.serve(pod) })
	return core, nil
}

func (w *world) log(level slog.Level, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.logged, "%s %s\n", level, text)
}

func (w *world) logs() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.String()
}

func (w *world) reached(stage string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stages = append(w.stages, stage)
}

func (w *world) dialled() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dials
}

// begin makes the session and lets it run.
func (w *world) begin() {
	w.session = NewSession(Config{ID: worldID, Relays: w.relays, Commands: w.commands, Dial: w.dial, Log: w.log, Reached: w.reached, Rate: w.rate})
	w.wait.Go(func() { w.runErr <- w.session.Run(w.ctx) })
}

// start greets, connects, starts and forwards.
func (w *world) start() error {
	launches := make([]Launch, len(w.relays))
	for i, m := range w.models {
		if err := m.hello(Launch{Argv: []string{"/bin/true"}, Env: []string{"A=1", fmt.Sprint("N=", i)}}); err != nil {
			return err
		}
		l, err := w.relays[i].Hello(w.ctx)
		if err != nil {
			return err
		}
		launches[i] = l
	}
	w.begin()
	if err := w.session.Connected(w.ctx); err != nil {
		return err
	}
	if err := w.session.Start(w.ctx, launches); err != nil {
		return err
	}
	for _, r := range w.relays {
		w.session.Forward(r)
	}
	return nil
}

// finish waits for all ends, and says goodbye.
func (w *world) finish() ([]Exit, error) {
	ctx, cancel := context.WithTimeout(w.ctx, time.Hour)
	defer cancel()
	exits, err := w.session.Exits(ctx)
	if err != nil {
		return nil, err
	}
	for i, r := range w.relays {
		r.Exit(exits[i])
	}
	for _, r := range w.relays {
		<-r.Done()
	}
	w.session.Detach(ctx)
	return exits, <-w.runErr
}

// close ends everything that may still be there.
func (w *world) close() {
	w.cancel()
	for _, r := range w.relays {
		r.Close()
	}
	w.podinit.kill()
	for _, m := range w.models {
		m.freeze(false)
		m.conn.Close()
	}
	w.wait.Wait()
}

// faults are the rules that the core broke.
func (w *world) faults() []error {
	var all []error
	w.podinit.read(func() { all = append(all, w.podinit.faults...) })
	for _, m := range w.models {
		m.read(func() { all = append(all, m.faults...) })
	}
	return all
}

func (w *world) noFaults() { require.Empty(w.t, w.faults()) }

// pattern is text that shows where it comes from.
func pattern(seed, size int) []byte {
	b := make([]byte, size)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// sleep lets time pass, for the next connection.
func (w *world) sleep() { time.Sleep(10 * time.Second) }
