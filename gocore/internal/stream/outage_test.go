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
