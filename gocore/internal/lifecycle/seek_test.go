// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// noRoom is a cluster whose scheduler finds no room.
func (c *fakeCluster) noRoom() {
	c.script = func(int) []event { return []event{{time.Millisecond, unschedulable(full)}} }
}

// auto is a batch job among two clusters.
func auto(set func(w *world)) func(w *world) {
	return func(w *world) {
		w.twoClusters(site.ClusterAuto)
		if set != nil {
			set(w)
		}
	}
}

// ranIn says that the job was started there, and nowhere else, and that nothing is left.
func ranIn(t *testing.T, w *world, cluster string, after time.Duration) {
	t.Helper()
	assert.Equal(t, []string{cluster}, w.placed)
	assert.Equal(t, cluster, w.slurm.record().Cluster)
	assert.InDelta(t, after.Seconds(), w.first["Start"].Seconds(), 1.5, "when it started")
	assert.Less(t, w.first["Update"], w.first["Start"], "the record comes first")
	assert.Zero(t, w.exit().Status)
	assert.Zero(t, w.slurm.requeued())
	assert.Empty(t, w.cluster.own())
	assert.Empty(t, w.other.own())
	assert.Empty(t, w.left)
}

func TestAutoTakesTheFirst(t *testing.T) {
	bubble(t, auto(nil), func(t *testing.T, w *world) {
		ranIn(t, w, first, time.Second)
		assert.Zero(t, w.count("b EnsurePodinit"))
		assert.LessOrEqual(t, w.requests(), 6)
		assert.Equal(t, "slurm", w.cluster.place.Name)
	})
}

func TestAutoGoesOn(t *testing.T) {
	down := fault{err: errors.New("dial tcp 10.0.0.1:6443: connect: connection refused"), always: true}
	for name, test := range map[string]struct {
		set   func(w *world)
		after time.Duration
	}{
		"full":                    {func(w *world) { w.cluster.noRoom() }, 6 * time.Second},
		"over quota":              {func(w *world) { w.fail("CreatePod", apiFaults["quota"]) }, time.Second},
		"down":                    {func(w *world) { w.fail("EnsurePodinit", down) }, 10 * time.Second},
		"no answer":               {func(w *world) { w.fail("EnsurePodinit", fault{took: time.Hour, always: true}) }, 11 * time.Second},
		"its rules refuse":        {func(w *world) { w.fail("CreatePod", apiFaults["forbidden"]) }, time.Second},
		"could never hold it":     {func(w *world) { w.cluster.shapes = small; w.script(event{time.Millisecond, unschedulable(never)}) }, 6 * time.Second},
		"its scheduler is silent": {func(w *world) { w.script() }, 11 * time.Second},
		"no credential":           {func(w *world) { w.unopened = map[string]error{first: errors.New("others could read it")} }, time.Second},
		"preempts for too long": {func(w *world) {
			w.script(event{time.Millisecond, unschedulable(full)}, event{time.Millisecond, nominated})
		}, 5*time.Minute + time.Second},
		"the Pod vanishes, then full": {func(w *world) {
			w.cluster.script = func(n int) []event {
				if n == 1 {
					return []event{{time.Second, goes}}
				}
				return []event{{time.Millisecond, unschedulable(full)}}
			}
		}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, auto(test.set), func(t *testing.T, w *world) {
				ranIn(t, w, second, test.after)
				assert.Empty(t, w.notices(), "a script's output does not depend on it")
				assert.Contains(t, w.log.String(), "cluster a does not place the Pod")
				assert.Equal(t, "batch", w.other.place.Name)
			})
		})
	}
}

// TestAutoLeavesNoStartBehind: what cannot be removed from a cluster that does not answer may run
// there, and is never told to start; it is removed as soon as somebody can.
func TestAutoLeavesNoStartBehind(t *testing.T) {
	down := fault{err: errors.New("dial tcp: i/o timeout"), took: 2 * time.Second, always: true}
	lateRun := []event{{time.Millisecond, unschedulable(full)}, {9 * time.Second, scheduled}, {time.Second, runs}}
	lost := map[string]func(w *world){
		"the API goes after the verdict": func(w *world) {
			w.script(lateRun...)
			w.fail("WithdrawPod", down)
			w.fail("DeletePod", down)
		},
		"the deletion is taken and not done": func(w *world) {
			w.script(lateRun...)
			w.fail("WithdrawPod", down)
			w.cluster.stuck = true
		},
		"nobody knows whether it was made": func(w *world) {
			w.script(event{30 * time.Second, scheduled}, event{time.Second, runs})
			w.fail("CreatePod", fault{err: context.DeadlineExceeded, took: 15 * time.Second, done: true, always: true})
			w.fail("GetPod", down)
		},
	}
	for name, lose := range lost {
		set := func(w *world) {
			lose(w)
			w.tasks.take = 10 * time.Minute
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, auto(set), func(t *testing.T, w *world) {
				assert.Equal(t, []string{second}, w.placed)
				assert.Equal(t, 1, w.starts)
				assert.Zero(t, w.exit().Status)
				assert.Empty(t, w.other.own())
				assert.Equal(t, []string{testPod}, w.cluster.names())
				if !w.cluster.stuck {
					assert.Equal(t, "Pod slurm-job-7 in cluster a", w.left, "for the epilog, which looks everywhere")
				}
			})
		})
		t.Run(name+", and it comes back", func(t *testing.T) {
			bubble(t, auto(func(w *world) {
				set(w)
				w.after(5*time.Minute, func() {
					w.mu.Lock()
					clear(w.faults)
					w.mu.Unlock()
				})
			}), func(t *testing.T, w *world) {
				assert.Equal(t, []string{second}, w.placed)
				assert.Empty(t, w.left)
				assert.Empty(t, w.cluster.own())
			})
		})
	}
}

// TestAutoStays: what a scheduler has placed stays there.
func TestAutoStays(t *testing.T) {
	t.Run("it was placed as it was given up", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			w.cluster.noRoom()
			w.at("WithdrawPod", func() {
				w.cluster.alter("made-1", scheduled)
				time.AfterFunc(time.Second, func() { w.cluster.alter("made-1", runs) })
			})
		}), func(t *testing.T, w *world) { ranIn(t, w, first, 6*time.Second) })
	})
	t.Run("a long pull", func(t *testing.T) {
		bubble(t, auto(func(w *world) { w.script(starts(4 * time.Minute)...) }), func(t *testing.T, w *world) { ranIn(t, w, first, 4*time.Minute) })
	})
	t.Run("a node that does not take it", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			w.cluster.script = func(n int) []event {
				if n == 1 {
					return []event{{0, scheduled}, {time.Second, rejected("OutOfcpu")}}
				}
				return starts(time.Second)
			}
		}), func(t *testing.T, w *world) { ranIn(t, w, first, 4*time.Second) })
	})
	t.Run("a bad image", func(t *testing.T) {
		bubble(t, auto(func(w *world) { lives["bad image"](w) }), func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Zero(t, w.count("b EnsurePodinit"))
		})
	})
	t.Run("an earlier run may be alive there", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			w.predecessor()
			w.cluster.stuck = true
		}), func(t *testing.T, w *world) {
			backPending(t, withoutPredecessor(w), 10*time.Second, "of an earlier run of the job")
			assert.Zero(t, w.count("b EnsurePodinit"))
		})
	})
}

// withoutPredecessor: what a lost node keeps is not the step's.
func withoutPredecessor(w *world) *world {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	delete(w.cluster.pods, testPod)
	return w
}

func TestAutoFindsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(w *world)
		after time.Duration
		words string
		madeA int
	}{
		"both full": {func(w *world) { w.cluster.noRoom(); w.other.noRoom() }, 40 * time.Second,
			"none of the site's clusters places the Pod now: a: there is no room in the cluster now; b: there is no room in the cluster now", 2},
		"full, and over quota": {func(w *world) { w.cluster.noRoom(); w.fail("b CreatePod", apiFaults["quota"]) }, 35 * time.Second, "; b: pods \"slurm-job-7\" is forbidden: exceeded quota", 2},
		"over quota, and full": {func(w *world) { w.fail("CreatePod", apiFaults["quota"]); w.other.noRoom() }, 30 * time.Second, "[a: pods \"slurm-job-7\" is forbidden: exceeded quota", 0},
		"both over quota":      {func(w *world) { w.fail("CreatePod", apiFaults["quota"]); w.fail("b CreatePod", apiFaults["quota"]) }, 0, "[a: pods \"slurm-job-7\" is forbidden: exceeded quota", 0},
		"one full, one too small": {func(w *world) {
			w.cluster.noRoom()
			w.other.script = func(int) []event { return []event{{time.Millisecond, unschedulable(never)}} }
			w.other.shapes = small
		}, 40 * time.Second, "b: the job can never run in this cluster", 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, auto(func(w *world) {
				test.set(w)
				w.slurm.comment = `{"slurm-k8s":1,"gated":5}` // it does not wait longer each time in one of them
			}), func(t *testing.T, w *world) {
				backPending(t, w, test.after, test.words)
				assert.Empty(t, w.other.names())
				assert.Equal(t, test.madeA, w.cluster.made, "the wait is in the first that may have room")
				assert.Empty(t, w.slurm.record().Cluster, "the next run looks everywhere again")
				assert.EqualValues(t, 6, w.slurm.record().Gated)
			})
		})
	}
	t.Run("room comes in the first", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			w.other.noRoom()
			w.cluster.script = func(n int) []event {
				script := []event{{time.Millisecond, unschedulable(full)}}
				if n == 2 {
					script = append(script, event{20 * time.Second, scheduled}, event{time.Second, runs})
				}
				return script
			}
		}), func(t *testing.T, w *world) { ranIn(t, w, first, 31*time.Second) })
	})
	t.Run("neither could ever hold it", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			for _, cluster := range w.clusters() {
				cluster.shapes = small
				cluster.script = func(int) []event { return []event{{time.Millisecond, unschedulable(never)}} }
			}
		}), func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "a: the job can never run in this cluster")
			assert.Zero(t, w.slurm.requeued())
		})
	})
	t.Run("cancelled while it seeks", func(t *testing.T) {
		bubble(t, auto(func(w *world) {
			w.cluster.noRoom()
			w.other.noRoom()
			w.after(7*time.Second, func() { w.cancel("CANCELLED") })
		}), func(t *testing.T, w *world) {
			assert.Empty(t, w.placed)
			assert.Empty(t, w.cluster.names())
			assert.Empty(t, w.other.names())
			assert.EqualValues(t, 15, w.exit().Status)
			assert.Less(t, w.exited, 8*time.Second)
		})
	})
}

// TestWhatCouldNotBeMadeAgainIsNamed: the Pod there was to be made again, and its deletion was not taken.
func TestWhatCouldNotBeMadeAgainIsNamed(t *testing.T) {
	bubble(t, func(w *world) {
		w.twoClusters(site.ClusterAuto)
		w.cluster.noRoom()
		w.other.script = func(int) []event { return []event{{time.Millisecond, ends(1, "Error", "never started\n")}} }
		w.fail(second+" DeletePod", fault{err: errors.New("connection refused"), took: time.Second, always: true})
	}, func(t *testing.T, w *world) {
		assert.Contains(t, w.left, "in cluster b")
	})
}
