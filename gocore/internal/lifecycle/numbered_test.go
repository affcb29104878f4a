// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

const numberedPod = "slurm-job-7-step-3-0"

// step makes the world's a step of srun on so many nodes.
func (w *world) numbered(nodes int) { w.stepID, w.nodes = "3", nodes }

func TestStepTasksEndEach(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(1)
		w.addRelay()
		w.tasks = tasks{take: time.Minute, exit: stream.Exit{Status: 7 << 8}, early: map[uint32]time.Duration{1: time.Second}}
		w.after(30*time.Second, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			assert.Len(t, w.relays[1].exits, 1, "--kill-on-bad-exit acts on the first")
			assert.Empty(t, w.relays[0].exits)
		})
	}, func(t *testing.T, w *world) {
		assert.Equal(t, uint32(7<<8), w.exit().Status)
		assert.Equal(t, numberedPod, w.cluster.history["made-1"][0].Name)
		assert.Equal(t, 1, w.count("Update"))
		assert.Zero(t, w.slurm.stepEnds)
	})
}

func TestStepWaitsForRoom(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(1)
		w.cluster.script = func(int) []event {
			return append([]event{{time.Millisecond, unschedulable(full)}, {20 * time.Minute, scheduled}}, starts(10*time.Second)...)
		}
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.cluster.made, "it keeps its place")
		assert.Zero(t, w.count("Requeue"))
		assert.Equal(t, 1, strings.Count(w.notices(), "waits for room in the cluster"))
		assert.Contains(t, w.notices(), "is being started on Kubernetes node k1")
	})
}

func TestStepIsCancelledBeforeItStarts(t *testing.T) {
	for name, number := range map[string]uint32{"Ctrl-C": 2, "scancel": 15} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.numbered(1)
				w.cluster.script = func(int) []event { return []event{{time.Millisecond, unschedulable(full)}} }
				w.after(time.Minute, func() { w.relays[0].signal(number) })
			}, func(t *testing.T, w *world) {
				assert.Equal(t, number, w.exit().Status)
				assert.Less(t, w.exited, 62*time.Second)
				assert.Empty(t, w.cluster.names())
				assert.Equal(t, 1, w.count("Facts"), "Slurm is not asked")
			})
		})
	}
}

func TestStepStartsOnAllNodesOrNone(t *testing.T) {
	t.Run("when the last one runs", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.peer(5*time.Second, starts(time.Minute)...)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Greater(t, w.first["Start"], 65*time.Second)
			assert.Equal(t, []string{"", "10.0.0.2"}, w.step.addresses)
			assert.Contains(t, w.notices(), "1 of the step's 2 Pods run")
		})
	})
	t.Run("not while another waits for room", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.peer(time.Second, event{time.Millisecond, unschedulable(full)}, event{30 * time.Second, goes})
			w.cluster.peer(50*time.Second, starts(time.Second)...)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 2, w.cluster.made, "its own Pod made room meanwhile")
			assert.Contains(t, w.notices(), "went away before the start; the next attempt is in")
		})
	})
	t.Run("its own has no room, and does not hold the others'", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.script = func(n int) []event {
				if n == 1 {
					return []event{{time.Millisecond, unschedulable(full)}}
				}
				return starts(time.Second)
			}
			w.cluster.peer(time.Second, starts(time.Second)...)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 1, w.count("WithdrawPod"))
			assert.Zero(t, w.count("Requeue"))
		})
	})
	t.Run("the moment was short, and this node heard late of its own Pod", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.fail("Follow", fault{took: 2 * time.Second})
			w.cluster.peer(0, append(starts(500*time.Millisecond), event{700 * time.Millisecond, goes})...)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts, "the other has started, and its task has ended already")
			assert.Equal(t, 1, w.cluster.made)
			assert.Equal(t, "10.0.0.2", w.step.addresses[1])
		})
	})
	t.Run("its own Pod goes after the others started", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.fail("Follow", fault{took: 2 * time.Second})
			w.cluster.script = func(int) []event { return append(starts(time.Second), event{200 * time.Millisecond, goes}) }
			w.cluster.peer(0, starts(500*time.Millisecond)...)
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Equal(t, 1, w.cluster.made, "it does not join later under another address")
			assert.Equal(t, 1, w.slurm.stepEnds)
		})
	})
	t.Run("a node that never comes", func(t *testing.T) {
		bubble(t, func(w *world) { w.numbered(2) }, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "only 1 of the step's 2 nodes")
			assert.Equal(t, 1, w.slurm.stepEnds)
		})
	})
	t.Run("a part that is ended before the start ends all", func(t *testing.T) {
		for name, end := range map[string]func(*world){
			"its relay is killed": (*world).kill,
			"its relay got TERM":  (*world).term,
			"its slurmstepd ends": func(w *world) { w.step.stop(errFinish) },
		} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(w *world) {
					w.numbered(2)
					w.after(5*time.Second, func() { end(w) })
				}, func(t *testing.T, w *world) {
					assert.Zero(t, w.starts)
					assert.Equal(t, 1, w.slurm.stepEnds, "the other nodes would wait for this one's Pod")
					assert.Less(t, w.ran, 8*time.Second)
				})
			})
		}
	})
	t.Run("a part that is killed before the start ends all before its own Pod is gone", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.stuck = true
			w.after(5*time.Second, w.kill)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.stepEnds)
			assert.Less(t, w.first["EndStep"], 5100*time.Millisecond)
		})
	})
	t.Run("a part that is killed before the start ends all though slurmctld is away for a moment", func(t *testing.T) {
		for name, number := range map[string]int{"once": 1, "three times": 3} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(w *world) {
					w.numbered(2)
					for range number {
						w.fail("EndStep", fault{err: errSlurmDown})
					}
					w.after(5*time.Second, w.kill)
				}, func(t *testing.T, w *world) {
					assert.Equal(t, 1, w.slurm.stepEnds)
					assert.Less(t, w.ran, 15*time.Second)
				})
			})
		}
	})
	t.Run("a part that is killed before the start does not wait long for slurmctld", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.fail("EndStep", fault{err: errSlurmDown, always: true})
			w.after(5*time.Second, w.kill)
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.slurm.stepEnds)
			assert.Less(t, w.ran, 20*time.Second)
		})
	})
	t.Run("a part that is killed after the start ends itself alone", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.peer(time.Second, starts(time.Second)...)
			w.tasks.take = time.Hour
			w.after(time.Minute, w.kill)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Zero(t, w.slurm.stepEnds, "srun's --kill-on-bad-exit decides")
		})
	})
	t.Run("an image that is none ends all", func(t *testing.T) {
		bubble(t, func(w *world) { w.numbered(2); lives["bad image"](w) }, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Equal(t, 1, w.slurm.stepEnds)
			assert.Zero(t, w.count("Update"), "the job goes on")
		})
	})
	t.Run("the stream to one that is broken at the start ends all", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.numbered(2)
			w.cluster.peer(time.Second, starts(time.Second)...)
			w.fail("Pump", fault{err: errSlurmDown, always: true})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Equal(t, 1, w.slurm.stepEnds)
			assert.Zero(t, w.count("Requeue"))
		})
	})
}

// TestStepAgainBesideItsOwnPod: kubelet is away, so that the Pod of the first attempt stays.
func TestStepAgainBesideItsOwnPod(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(1)
		w.cluster.stuck = true
		for range 3 {
			w.fail("Pump", fault{err: errSlurmDown, took: 110 * time.Second})
		}
		w.at("Start", func() { assert.NotEmpty(t, w.cluster.own(), "not into a Pod that is being deleted") })
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.starts)
		assert.Equal(t, 2, w.cluster.made)
	})
}

func TestStepIsDisrupted(t *testing.T) {
	bubble(t, func(w *world) { w.numbered(1); lives["evicted"](w) }, func(t *testing.T, w *world) {
		assert.Zero(t, w.slurm.requeued(), "the job script decides")
		assert.NotZero(t, w.exit().Status)
		assert.Contains(t, w.notices(), "evicted")
	})
}

func TestStepOutOfMemory(t *testing.T) {
	bubble(t, func(w *world) { w.numbered(1); lives["out of memory"](w) }, func(t *testing.T, w *world) {
		assert.Zero(t, w.slurm.memory, "that would end the whole job")
		assert.Equal(t, uint32(9), w.exit().Status)
		assert.Equal(t, 1, strings.Count(w.notices(), "out of memory"))
	})
}

// TestStepUnderInterruption: the rules of every life hold for numbered steps, too.
func TestStepUnderInterruption(t *testing.T) {
	for name, live := range lives {
		if name == "predecessor" { // the batch script's
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, call := range []string{"EnsurePodinit", "CreatePod", "Pump", "Start"} {
				bubble(t, func(w *world) {
					live(w)
					w.numbered(1)
					w.at(call, func() { w.cancel("CANCELLED") })
				}, nil)
			}
		})
	}
}
