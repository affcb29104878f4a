// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func inBubble(t *testing.T, tasks int, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, tasks)
		defer w.close()
		f(t, w)
	})
}

func TestRelayDiesBeforeHello(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.models[0].conn.Close()
		_, err := w.relays[0].Hello(t.Context())
		require.Equal(t, io.EOF, err)
		<-w.relays[0].Done()
	})
}

func TestHelloWaits(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := w.relays[0].Hello(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, w.models[0].hello(Launch{Argv: []string{"a", ""}, Script: pattern(1, 4_000_000), TTY: &Winsize{24, 80}}))
		l, err := w.relays[0].Hello(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a", ""}, l.Argv)
		require.True(t, string(pattern(1, 4_000_000)) == string(l.Script))
		w.relays[0].Forget()
		l, err = w.relays[0].Hello(t.Context())
		require.NoError(t, err)
		require.Nil(t, l.Script)
		require.Equal(t, &Winsize{24, 80}, l.TTY)
	})
}

// Notices arrive without any session, the end after them.
func TestNoticeAndExit(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		r := w.relays[0]
		r.Notice("the Pod waits")
		r.Notice("for room\nand more\n")
		r.Notice("")
		require.NoError(t, w.models[0].hello(Launch{}))
		r.Notice(string(make([]byte, noticeRoom)))
		r.Exit(Exit{Status: 1 << 8})
		r.Exit(Exit{Status: 2 << 8})
		r.Notice("too late")
		<-r.Done()
		w.noFaults()
		m := w.models[0]
		require.Equal(t, "the Pod waits\nfor room\nand more\n", m.out[2].String())
		require.Equal(t, uint32(1<<8), m.exit.Status)
		_, notices := r.takeLost()
		require.Equal(t, noticeRoom+1+len("too late\n"), notices)
	})
}

// What podinit sent in order goes to the relay in that order, across streams.
func TestOrderAcrossStreams(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		r := w.relays[0]
		require.NoError(t, w.models[0].hello(Launch{}))
		require.NoError(t, r.deliver(Stdout, 0, []byte("one ")))
		require.NoError(t, r.deliver(Stderr, 0, []byte("two ")))
		require.NoError(t, r.deliver(Stdout, 4, []byte("three ")))
		r.Notice("four")
		require.NoError(t, r.deliver(Stderr, 4, []byte("five")))
		r.Exit(Exit{})
		<-r.Done()
		require.Equal(t, "one two three four\nfive", w.models[0].order.String())
	})
}

// START is sent again when podinit is found waiting, and never after.
func TestStartIsRepeated(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.podinit.tasks[0].writes([]byte("out"), nil, Exit{})
		w.wrap = func(rwc io.ReadWriteCloser, n int) io.ReadWriteCloser {
			switch n {
			case 1: // within the START
				return &fragile{ReadWriteCloser: rwc, in: 1 << 20, out: HeaderSize + 5}
			case 2: // within the answer
				return &fragile{ReadWriteCloser: rwc, in: HeaderSize + 20, out: 1 << 20}
			}
			return rwc
		}
		require.NoError(t, w.start())
		require.True(t, w.session.StartSent())
		require.NoError(t, w.session.Start(t.Context(), []Launch{{}}), "a second one changes nothing")
		_, err := w.finish()
		require.NoError(t, err)
		w.noFaults()
		require.Equal(t, 1, w.podinit.starts)
		require.GreaterOrEqual(t, w.dialled(), 3)
	})
}

// A START that was given up is not sent later.
func TestStartIsWithdrawn(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.down = true
		w.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, w.session.Start(ctx, []Launch{{}}), context.DeadlineExceeded)
		require.False(t, w.session.StartSent())
		w.mu.Lock()
		w.down = false
		w.mu.Unlock()
		require.NoError(t, w.session.Connected(t.Context()))
		time.Sleep(time.Minute)
		w.podinit.read(func() { require.Zero(t, w.podinit.starts) })
		require.Error(t, w.session.Start(t.Context(), []Launch{{Task: 1}}), "no such relay")
		require.Error(t, w.session.Start(t.Context(), nil))
		w.session.Detach(t.Context())
		require.NoError(t, <-w.runErr)
		require.True(t, w.podinit.wasDetached())
		w.session.Detach(t.Context())
		require.ErrorIs(t, w.session.Start(t.Context(), []Launch{{}}), ErrClosed)
	})
}

func TestPodinitGaveUp(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.podinit.state = stateEnded
		w.begin()
		require.ErrorIs(t, w.session.Start(t.Context(), []Launch{{}}), ErrNeverStarted)
	})
}

func TestSignals(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, w *world) {
		require.NoError(t, w.start())
		sig := func(n uint32) Signal { return Signal{n, FlagGroup} }
		w.podinit.kill()
		synctest.Wait()
		w.mu.Lock()
		w.down = true
		w.mu.Unlock()
		for n := uint32(1); n <= 2*maxSignals; n++ { // as many as fit for each of the two
			w.session.Signal(n%2, sig((n+1)/2))
		}
		w.session.Signal(0, sig(10))
		w.session.Signal(TaskAll, Signal{sigKILL, FlagEvery})
		require.Contains(t, w.logs(), "was dropped")
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.down = false
		w.mu.Unlock()
		time.Sleep(time.Minute)
		require.NoError(t, w.models[1].w.Write(sig(12).frame(socketTask)))
		require.NoError(t, w.models[1].w.Write(Frame{Type: TypeWinsize, Payload: Winsize{25, 81}.append(nil)}))
		synctest.Wait()
		var want []taskSignal
		for n := uint32(1); n <= 2*maxSignals; n++ {
			want = append(want, taskSignal{n % 2, sig((n + 1) / 2)})
		}
		want = append(want, taskSignal{TaskAll, Signal{sigKILL, FlagEvery}}, taskSignal{1, sig(12)})
		w.podinit.read(func() {
			require.Equal(t, want, w.podinit.signals)
			require.Equal(t, []Winsize{{25, 81}}, w.podinit.sizes)
		})
		w.noFaults()
	})
}

// Signals before Forward are the caller's.
func TestSignalsBeforeForward(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		require.NoError(t, w.models[0].hello(Launch{}))
		for range maxSignals + 6 {
			require.NoError(t, w.models[0].w.Write(Signal{15, 0}.frame(0)))
		}
		synctest.Wait()
		require.Equal(t, Signal{15, 0}, <-w.relays[0].Signals())
		require.Len(t, w.relays[0].Signals(), maxSignals-1)
		lost, _ := w.relays[0].takeLost()
		require.Equal(t, 6, lost)
	})
}

// A job suspended for hours: its tasks are stopped and go on, the stream lives.
func TestSuspension(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, w *world) {
		require.NoError(t, w.start())
		both := func(n uint32) {
			for _, m := range w.models {
				require.NoError(t, m.w.Write(Signal{n, 0}.frame(socketTask)))
			}
		}
		both(sigTSTP)
		time.Sleep(2 * time.Second) // Slurm's grace
		w.podinit.read(func() { require.Len(t, w.podinit.signals, 2) })
		w.models[0].freeze(true)
		time.Sleep(10 * time.Second)
		w.podinit.read(func() { require.Len(t, w.podinit.signals, 2, "one of two is not a suspension") })
		w.models[1].freeze(true)
		time.Sleep(2500 * time.Millisecond)
		stop, cont := taskSignal{TaskAll, Signal{sigSTOP, FlagEvery}}, taskSignal{TaskAll, Signal{sigCONT, FlagEvery}}
		w.podinit.read(func() { require.Equal(t, stop, w.podinit.signals[2]) })
		w.podinit.kill() // a new pump is no reason to stop them again
		beats := 0
		w.podinit.read(func() {
			beats = w.podinit.beats
		})
		w.podinit.read(func() { w.podinit.tasks[0].writes(pattern(1, 3*OutputWindow), nil, Exit{}) })
		time.Sleep(8 * time.Hour)
		w.podinit.read(func() {
			require.Len(t, w.podinit.signals, 3)
			require.Greater(t, w.podinit.beats, beats+8*300)
		})
		require.True(t, w.relays[0].Suspended())
		for _, m := range w.models {
			m.freeze(false)
		}
		both(sigCONT)
		time.Sleep(time.Second)
		w.podinit.read(func() {
			require.Contains(t, w.podinit.signals[3:], cont)
			require.NotContains(t, w.podinit.signals[3:], stop)
		})
		require.False(t, w.relays[0].Suspended())
		time.Sleep(time.Minute)
		w.relays[0].mu.Lock()
		require.False(t, w.relays[0].watch.armed, "probing ends")
		w.relays[0].mu.Unlock()
		w.podinit.read(func() { w.podinit.tasks[1].writes(nil, nil, Exit{}) })
		_, err := w.finish()
		require.NoError(t, err)
		w.noFaults()
		require.Equal(t, 3*OutputWindow, w.models[0].out[0].Len())
	})
}

// A relay that is merely slow is no suspension.
func TestSlowIsNotSuspended(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		require.NoError(t, w.start())
		w.models[0].freeze(true)
		time.Sleep(time.Hour)
		w.podinit.read(func() { require.Empty(t, w.podinit.signals) })
	})
}

// The relay is killed: podinit never blocks, and nothing is lost in silence.
func TestRelayDies(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.models[0].stuck[0] = true
		w.podinit.tasks[0].writes(pattern(1, 5*OutputWindow), nil, Exit{Status: 9})
		require.NoError(t, w.start())
		synctest.Wait()
		w.models[0].conn.Close()
		<-w.relays[0].Done()
		exits, err := w.session.Exits(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint32(9), exits[0].Status)
		w.session.Detach(t.Context())
		require.NoError(t, <-w.runErr)
		require.True(t, w.podinit.wasDetached())
		w.noFaults()
		require.Contains(t, w.logs(), "its relay is gone, output is dropped")
		require.Contains(t, w.logs(), "bytes of output were dropped")
	})
}

// A pump that is connected and silent is replaced; its Write may hang.
func TestSilentPump(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		real := w.serve
		w.serve = func(rwc io.ReadWriteCloser) {
			if w.dialled() == 1 {
				<-w.ctx.Done()
				rwc.Close()
				return
			}
			real(rwc)
		}
		began := time.Now()
		require.NoError(t, w.start())
		require.InDelta(t, 34, time.Since(began).Seconds(), 5)
		require.Contains(t, w.logs(), "nothing came from podinit")
	})
}

// kube-apiserver is away for long: tries go on at 5 s, the log stays readable.
func TestLongOutage(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		require.NoError(t, w.start())
		w.mu.Lock()
		w.down = true
		w.mu.Unlock()
		w.podinit.kill()
		time.Sleep(time.Hour)
		require.InDelta(t, 960, w.dialled(), 150)
		require.Less(t, len(w.logs()), 4000)
		w.mu.Lock()
		w.down = false
		w.mu.Unlock()
		w.podinit.read(func() { w.podinit.tasks[0].writes([]byte("done"), nil, Exit{}) })
		_, err := w.finish()
		require.NoError(t, err)
	})
}

func TestDialFaults(t *testing.T) {
	for name, dial := range map[string]Dialer{
		"panic": func(context.Context) (io.ReadWriteCloser, error) { panic("oops") },
		"nil":   func(context.Context) (io.ReadWriteCloser, error) { return nil, nil },
		"hangs": func(ctx context.Context) (io.ReadWriteCloser, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, w *world) {
				s := NewSession(Config{ID: 1, Relays: w.relays, Dial: dial, Log: w.log})
				done := make(chan error, 1)
				go func() { done <- s.Run(w.ctx) }()
				time.Sleep(5 * time.Minute)
				require.Contains(t, w.logs(), map[string]string{"panic": "panic in the exec", "nil": "gave nothing", "hangs": "nothing came from podinit in 30s"}[name])
				w.cancel()
				require.ErrorIs(t, <-done, context.Canceled)
				require.Error(t, s.Run(context.Background()), "only once")
			})
		})
	}
}

// Detach is bounded when no pump can be had, and needs no Run.
func TestDetachIsBounded(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.down = true
		w.begin()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		w.session.Detach(ctx)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.NoError(t, <-w.runErr)
		require.Contains(t, w.logs(), "was not told to go")
		s := NewSession(Config{ID: 1})
		s.Detach(t.Context())
		require.NoError(t, s.Run(t.Context()))
	})
}

// podinit that does not close after DETACH is left after a second.
func TestDetachDeafPodinit(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.serve = play(waitingHello, nil)
		w.begin()
		require.NoError(t, w.session.Connected(t.Context()))
		began := time.Now()
		w.session.Detach(t.Context())
		require.Equal(t, time.Second, time.Since(began))
	})
}

// The rate holds over time, and heartbeats are not held up by it.
func TestRate(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.rate = 1 << 20
		w.podinit.tasks[0].writes(pattern(1, 30<<20), nil, Exit{})
		began := time.Now()
		require.NoError(t, w.start())
		_, err := w.finish()
		require.NoError(t, err)
		require.InDelta(t, 29, time.Since(began).Seconds(), 1.5)
		w.noFaults()
	})
}

// A terminal has one output stream; podinit need not end the other.
func TestTerminalEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		w.serve = play(record(recordState, TaskAll, 0, 0, 0, stateStarted), []Frame{
			data(Stdout, 0, 5), {Type: TypeEOF, Stream: Stdout, Offset: 5}, {Type: TypeExit, Payload: make([]byte, exitSize)}})
		require.NoError(t, w.models[0].hello(Launch{TTY: &Winsize{24, 80}}))
		_, err := w.relays[0].Hello(t.Context())
		require.NoError(t, err)
		w.begin()
		e, err := w.session.Exit(t.Context(), 0)
		require.NoError(t, err)
		require.Zero(t, e)
		_, err = w.session.Exit(t.Context(), 3)
		require.Error(t, err)
	})
}

func TestGuard(t *testing.T) {
	err := guard("a test", func() error { panic("oops") })
	require.ErrorContains(t, err, "panic in a test: oops")
	boom := errors.New("boom")
	require.Equal(t, boom, guard("a test", func() error { return boom }))
}

// A Writer may be used by many; every frame is one Write.
func TestWriterIsShared(t *testing.T) {
	here, there := socketpair(t)
	w := NewWriter(here, 3)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				_ = w.Write(Frame{Type: TypeData, Task: uint32(i), Offset: uint64(n), Payload: make([]byte, n*300)})
			}
		})
	}
	go func() { all.Wait(); here.Close() }()
	rd := NewReader(there, 3)
	next := make([]uint64, 8)
	for {
		f, err := rd.Next()
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		require.Equal(t, next[f.Task], f.Offset)
		require.Len(t, f.Payload, int(f.Offset)*300)
		next[f.Task]++
	}
	require.Equal(t, []uint64{200, 200, 200, 200, 200, 200, 200, 200}, next)
	require.Error(t, w.Write(Frame{Payload: make([]byte, MaxPayload+1)}))
	require.Error(t, w.Write(Frame{}))
	require.Error(t, w.Write(Frame{}))
	there.Close()
}

// A Reader gives its large buffer back when little comes.
func TestReaderShrinks(t *testing.T) {
	here, there := socketpair(t)
	defer there.Close()
	w, rd := NewWriter(here, 0), NewReader(there, 0)
	go func() {
		defer here.Close()
		_ = w.Write(Frame{Type: TypeData, Payload: make([]byte, MaxPayload)})
		for range 50 {
			_ = w.Write(Frame{Type: TypeAck, Payload: make([]byte, 100)})
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := rd.Next()
	require.NoError(t, err)
	require.NotNil(t, rd.big)
	for range 50 {
		f, err := rd.Next()
		require.NoError(t, err)
		require.Len(t, f.Payload, 100)
	}
	require.Nil(t, rd.big)
}
