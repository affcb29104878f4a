// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"io"
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
		w.models[0].freeze(true) // a relay's answers stand behind its hello
		r.Notice("the Pod waits")
		r.Notice("for room\nand more\n")
		r.Notice("")
		require.NoError(t, w.models[0].hello(Launch{}))
		w.models[0].freeze(false)
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

// What a pump took with it when it died is sent again, and done once.
func TestSignalsOfADyingPump(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		require.NoError(t, w.start())
		hears := func(yes bool) { w.podinit.read(func() { w.podinit.deaf = !yes }) }
		usr1, usr2, tstp := taskSignal{0, Signal{10, 0}}, taskSignal{0, Signal{12, 0}}, taskSignal{0, Signal{sigTSTP, 0}}
		stop, cont := taskSignal{TaskAll, Signal{sigSTOP, FlagEvery}}, taskSignal{TaskAll, Signal{sigCONT, FlagEvery}}
		w.session.Signal(0, usr1.signal)
		time.Sleep(time.Second)
		hears(false)
		w.session.Signal(0, usr2.signal)
		synctest.Wait()
		require.NoError(t, w.models[0].w.Write(tstp.signal.frame(socketTask)))
		time.Sleep(2 * time.Second) // Slurm's grace
		w.models[0].freeze(true)
		time.Sleep(10 * time.Second)
		w.podinit.read(func() { require.Equal(t, []taskSignal{usr1}, w.podinit.signals) })
		w.podinit.kill()
		hears(true)
		time.Sleep(time.Minute)
		w.podinit.read(func() { require.Equal(t, []taskSignal{usr1, usr2, tstp, stop}, w.podinit.signals) })
		hears(false)
		w.models[0].freeze(false)
		time.Sleep(10 * time.Second)
		w.podinit.kill()
		hears(true)
		time.Sleep(time.Minute)
		w.podinit.read(func() { require.Equal(t, []taskSignal{usr1, usr2, tstp, stop, cont}, w.podinit.signals) })
		w.session.mu.Lock()
		require.Empty(t, w.session.unsure)
		w.session.mu.Unlock()
		w.noFaults()
	})
}

// A flood that podinit does not answer does not grow without bound.
func TestOrdersThatAreKept(t *testing.T) {
	s := NewSession(Config{})
	for range 2 * maxUnsure {
		s.issue(taskSignal{0, Signal{10, 0}})
	}
	require.Len(t, s.unsure, maxUnsure)
	require.Equal(t, uint64(2*maxUnsure), s.unsure[maxUnsure-1].number)
	s.came(1)
	require.Len(t, s.unsure, maxUnsure, "none of them was written")
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
