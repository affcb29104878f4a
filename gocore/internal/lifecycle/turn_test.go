// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
)

// putBackOnce is the record of a job that was put back before.
const putBackOnce = `{"slurm-k8s":1,"gated":1}`

// forCPU is another job's turn.
var forCPU = &podspec.Turn{Job: 3, Lacks: []string{"cpu"}}

// seconds compares moments of the bubble.
func seconds(t *testing.T, want []float64, got []time.Duration, what string) {
	t.Helper()
	if assert.Len(t, got, len(want), what) {
		for i := range want {
			assert.InDelta(t, want[i], got[i].Seconds(), 0.2, what)
		}
	}
}

func TestTurnOfAJobThatWasPutBack(t *testing.T) {
	roomAfter := func(d time.Duration) []event {
		return append([]event{{time.Millisecond, unschedulable(full)}, {d, scheduled}}, starts(time.Second)...)
	}
	for name, test := range map[string]struct {
		comment    string
		set        func(w *world)
		took, gave []float64
	}{
		"until it has a node":                {putBackOnce, func(w *world) { w.script(roomAfter(40 * time.Second)...) }, []float64{5}, []float64{40}},
		"as long as it keeps a place":        {putBackOnce, func(*world) {}, []float64{5}, []float64{60}},
		"not in its first run":               {"", func(*world) {}, nil, nil},
		"not where the site says so":         {putBackOnce, func(w *world) { w.site.Gate.Turns = false }, nil, nil},
		"not where nodes are made on demand": {putBackOnce, func(w *world) { w.site.Gate.Autoscaler = true }, nil, nil},
		"not without words of resources": {putBackOnce, func(w *world) {
			w.script(event{time.Millisecond, unschedulable("0/2 nodes are available: 2 node(s) were unschedulable.")})
		}, nil, nil},
		"after another one's": {putBackOnce, func(w *world) {
			w.at("CreatePod", func() { w.turns.theirs(forCPU) })
			w.after(20*time.Second, func() { w.turns.theirs(nil) })
		}, []float64{20.5}, []float64{60}},
		"none where the folder is bad": {putBackOnce, func(w *world) { w.turns.fault = errors.New("bad folder") }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.slurm.comment = test.comment
				w.script(event{time.Millisecond, unschedulable(full)})
				test.set(w)
			}, func(t *testing.T, w *world) {
				if len(test.took) == 1 && test.took[0] > 20 { // it looks once a second
					assert.InDelta(t, test.took[0], w.turns.took[0].Seconds(), 0.6)
					return
				}
				seconds(t, test.took, w.turns.took, "taken")
				seconds(t, test.gave, w.turns.gave, "given back")
			})
		})
	}
}

// TestTurnOfAStep: srun's keeps its place for ever, so its turn begins in its first wait and ends before that does.
func TestTurnOfAStep(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(1)
		w.script(append([]event{{time.Millisecond, unschedulable(full)}, {time.Hour, scheduled}}, starts(time.Second)...)...)
	}, func(t *testing.T, w *world) {
		seconds(t, []float64{30}, w.turns.took, "after gate.wait")
		seconds(t, []float64{630}, w.turns.gave, "after gate.wait_max")
		assert.Equal(t, 1, w.starts)
	})
}

func TestStepOfSeveralNodesTakesNoTurn(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(2)
		w.turns.theirs(forCPU)
		w.cluster.peer(time.Second, starts(time.Second)...)
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.starts)
		assert.Less(t, w.first["Start"], 30*time.Second, "it does not wait for one")
		assert.Empty(t, w.turns.took)
	})
}

func TestOthersTurn(t *testing.T) {
	for name, test := range map[string]struct {
		turn *podspec.Turn
		bars bool
	}{
		"of the same resource": {forCPU, true},
		"of another one":       {&podspec.Turn{Job: 3, Lacks: []string{"nvidia.com/gpu"}}, false},
		"of the job itself":    {&podspec.Turn{Job: testJob, Lacks: []string{"cpu"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.turns.theirs(test.turn)
				w.after(10*time.Second, func() { w.turns.theirs(nil) })
			}, func(t *testing.T, w *world) {
				assert.Equal(t, 1, w.starts)
				assert.Equal(t, test.bars, w.first["CreatePod"] > 10*time.Second, w.first["CreatePod"])
				assert.Less(t, w.first["CreatePod"], 12*time.Second)
				assert.LessOrEqual(t, w.requests(), 6)
				assert.Empty(t, w.notices())
			})
		})
	}
	t.Run("is not waited for longer than for room", func(t *testing.T) {
		bubble(t, func(w *world) { w.turns.theirs(forCPU) }, func(t *testing.T, w *world) {
			backPending(t, w, 30*time.Second, "job 3 was without room before and goes first")
			assert.Zero(t, w.count("CreatePod"))
		})
	})
	t.Run("is told to srun", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(1)
			w.turns.theirs(forCPU)
			w.after(20*time.Minute, func() { w.turns.theirs(nil) })
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 1, strings.Count(w.notices(), "job 3 was without room before and goes first"))
		})
	})
	t.Run("does not keep a step from being cancelled", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(1)
			w.turns.theirs(forCPU)
			w.after(10*time.Second, func() { w.relays[0].signal(15) })
		}, func(t *testing.T, w *world) {
			assert.Less(t, w.exited, 12*time.Second)
			assert.Zero(t, w.count("CreatePod"))
		})
	})
	t.Run("that cannot be read bars nobody", func(t *testing.T) {
		bubble(t, func(w *world) { w.turns.fault = errors.New("bad folder") }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Contains(t, w.log.String(), "bad folder")
		})
	})
}
