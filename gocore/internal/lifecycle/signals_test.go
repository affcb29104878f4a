// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// TestSignalsAreHeld: what comes before the start is delivered after it, in order. TERM
// too, where Slurm says that the job goes on (--signal=B:TERM@60).
func TestSignalsAreHeld(t *testing.T) {
	bubble(t, func(w *world) {
		w.tasks.traps = true
		for i, number := range []uint32{10, 15, 12, 10} {
			w.after(time.Duration(i+1)*200*time.Millisecond, func() { w.relays[0].signal(number) })
		}
		w.after(2*time.Second, func() { w.relays[0].signal(14) })
	}, func(t *testing.T, w *world) {
		assert.Equal(t, []uint32{10, 15, 12, 10, 14}, w.signals)
		assert.Equal(t, 1, w.starts)
		assert.Zero(t, w.exit().Status)
	})
}

// TestSignalsAtTheStart: whatever the moment, each comes once.
func TestSignalsAtTheStart(t *testing.T) {
	for _, call := range []string{"Connected", "Start", "Exits"} {
		t.Run(call, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.at(call, func() {
					for number := range uint32(20) {
						w.relays[0].signal(30 + number)
					}
				})
			}, func(t *testing.T, w *world) {
				assert.Len(t, w.signals, 20)
				for i, number := range w.signals {
					assert.EqualValues(t, 30+i, number, "in order")
				}
			})
		})
	}
}

func TestTooManySignalsBeforeTheStart(t *testing.T) {
	bubble(t, func(w *world) {
		w.tasks.traps = true
		for i := range 200 {
			w.after(time.Duration(i)*2*time.Millisecond, func() { w.relays[0].signal(10) })
		}
	}, func(t *testing.T, w *world) { assert.Len(t, w.signals, heldMax) })
}

func TestCancelBeforeTheStart(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"scancel":               func(w *world) { w.cancel("CANCELLED") },
		"the time limit":        func(w *world) { w.cancel("TIMEOUT") },
		"Slurm cannot be asked": func(w *world) { w.fail("Facts", fault{err: errSlurmDown}); w.term() },
	} {
		for _, at := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 500 * time.Millisecond} {
			t.Run(name+" after "+at.String(), func(t *testing.T) {
				bubble(t, func(w *world) { w.after(at+5*time.Millisecond, func() { set(w) }) }, func(t *testing.T, w *world) {
					assert.Zero(t, w.starts)
					assert.Equal(t, uint32(15), w.exit().Status, "the task died of it, as far as Slurm can see")
					assert.Empty(t, w.cluster.names())
					assert.Less(t, w.exited, 2*time.Second)
					assert.Zero(t, w.slurm.requeued())
					assert.Empty(t, w.left)
				})
			})
		}
	}
}

// TestCancelDuringTheStart: once START is out, TERM is the task's, to be trapped.
func TestCancelDuringTheStart(t *testing.T) {
	bubble(t, func(w *world) {
		w.tasks.take = time.Hour
		w.fail("Start", fault{took: time.Second})
		w.at("Start", func() { time.AfterFunc(time.Millisecond, func() { w.cancel("CANCELLED") }) })
	}, func(t *testing.T, w *world) {
		assert.Equal(t, []uint32{15}, w.signals)
		assert.Equal(t, uint32(15), w.exit().Status)
	})
}

// TestCancelWhileRunning: the script's trap runs; KILL comes after KillWait, as the relay's end.
func TestCancelWhileRunning(t *testing.T) {
	t.Run("it ends of TERM", func(t *testing.T) {
		bubble(t, func(w *world) { w.tasks.take = time.Hour; w.after(time.Minute, func() { w.cancel("CANCELLED") }) },
			func(t *testing.T, w *world) {
				assert.Equal(t, []uint32{15}, w.signals)
				assert.Equal(t, uint32(15), w.exit().Status)
				assert.Less(t, w.exited, time.Minute+3*time.Second)
			})
	})
	t.Run("it traps", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.tasks.traps = time.Hour, true
			w.after(time.Minute, func() { w.cancel("CANCELLED") })
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []uint32{15, 9}, w.signals)
			assert.Empty(t, w.cluster.names())
			assert.Less(t, w.ran, time.Minute+killWait+2*time.Second)
		})
	})
	t.Run("nothing answers", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.tasks.mute = time.Hour, true
			w.after(time.Minute, w.kill)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []uint32{9}, w.signals)
			assert.Empty(t, w.cluster.names())
			assert.Less(t, w.ran, time.Minute+killLimit+time.Second)
		})
	})
	t.Run("nothing answers, and Kubernetes is down", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.tasks.mute = time.Hour, true
			w.fail("Detach", streamFaults["hangs"])
			w.fail("DeletePod", apiFaults["always down"])
			w.after(time.Minute, w.kill)
		}, func(t *testing.T, w *world) {
			assert.Contains(t, w.left, testPod)
			assert.Less(t, w.ran, time.Minute+finishBound)
		})
	})
}

func TestHeldSignals(t *testing.T) {
	var h heldSignals
	h.deliver(1, stream.Signal{Number: 1})
	h.deliver(0, stream.Signal{Number: 2})
	var got []uint32
	sink := func(_ uint32, signal stream.Signal) { got = append(got, signal.Number) }
	h.release(sink)
	h.deliver(1, stream.Signal{Number: 3})
	assert.Equal(t, []uint32{1, 2, 3}, got)
}
