// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

const failedStatus = uint32(1 << 8)

func TestGoodLife(t *testing.T) {
	bubble(t, func(w *world) { w.tasks.exit = stream.Exit{Status: 7 << 8, PeakBytes: 9} }, func(t *testing.T, w *world) {
		assert.Equal(t, stream.Exit{Status: 7 << 8, PeakBytes: 9}, w.exit())
		assert.Empty(t, w.notices())
		assert.Empty(t, w.left)
		assert.LessOrEqual(t, w.requests(), 6)
		assert.Equal(t, 1, w.starts)
		assert.Zero(t, w.slurm.requeued())
		assert.Equal(t, 1, w.count("Update"), "what it used")
		assert.Equal(t, 1, w.count("Facts"), "two requests to slurmctld in all")
		assert.Less(t, w.exited, w.tasks.take+1200*time.Millisecond, "nothing of ours takes time")
		assert.Less(t, w.ran, w.exited+200*time.Millisecond, "an ordinary end does not wait for the Pod")
		assert.NotEmpty(t, w.cluster.history["made-1"][len(w.cluster.history["made-1"])-1], "podinit ended it, then it is deleted")
	})
}

func TestOutOfMemory(t *testing.T) {
	set := func(w *world) { w.tasks.exit = stream.Exit{Status: 9, OOMKills: 1} }
	see := func(t *testing.T, w *world) {
		assert.Equal(t, uint32(9), w.exit().Status)
		assert.Contains(t, w.notices(), "out of memory")
		assert.Contains(t, w.slurm.record().Reason, "out of memory")
	}
	t.Run("taken", func(t *testing.T) {
		bubble(t, set, func(t *testing.T, w *world) { see(t, w); assert.Equal(t, 1, w.slurm.memory) })
	})
	t.Run("refused by Slurm", func(t *testing.T) {
		bubble(t, func(w *world) { set(w); w.slurm.refuseOOM = true }, see)
	})
	t.Run("podinit too", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take = time.Hour
			w.cluster.script = func(int) []event { return append(starts(time.Second), event{time.Minute, ends(137, "OOMKilled", "")}) }
		}, func(t *testing.T, w *world) { see(t, w); assert.Equal(t, 1, w.slurm.memory) })
	})
}

func TestDisruption(t *testing.T) {
	evicted := func(after time.Duration, last func(*pod)) func(int) []event {
		return func(int) []event {
			return append(starts(time.Second), event{after, disruption("EvictionByEvictionAPI")}, event{0, last})
		}
	}
	requeued := func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.slurm.requeued())
		assert.Empty(t, w.slurm.begin, "it is not the job's fault: it need not wait")
		assert.Contains(t, w.slurm.record().Reason, "evicted")
		assert.Zero(t, w.slurm.record().Gated, "it had started")
		assert.Empty(t, w.cluster.names())
	}
	t.Run("while running", func(t *testing.T) {
		bubble(t, func(w *world) { w.tasks.take, w.cluster.script = time.Hour, evicted(time.Minute, deleted) }, requeued)
	})
	t.Run("with --no-requeue", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.slurm.noRequeue()
			w.tasks.take, w.cluster.script = time.Hour, evicted(time.Minute, deleted)
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.count("Requeue"))
			assert.NotZero(t, w.exit().Status)
			assert.Contains(t, w.slurm.record().Reason, "evicted")
		})
	})
	t.Run("with --no-requeue, said meanwhile", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.after(30*time.Second, w.slurm.noRequeue)
			w.tasks.take, w.cluster.script = time.Hour, evicted(time.Minute, deleted)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.count("Requeue"))
			assert.Zero(t, w.slurm.requeued())
			assert.Contains(t, w.notices(), "could not be put back")
		})
	})
	t.Run("seen together with the end of the Pod", func(t *testing.T) {
		bubble(t, func(w *world) { w.tasks.take, w.cluster.script = time.Hour, evicted(time.Minute, goes) }, requeued)
	})
	t.Run("the tasks' end is there first", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.tasks.exit = time.Minute, stream.Exit{Status: 15}
			w.cluster.script = evicted(61*time.Second, deleted)
		}, requeued)
	})
	t.Run("tasks that ended well have ended well", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.cluster.script = time.Minute, evicted(time.Minute-time.Millisecond, func(*pod) {})
		},
			func(t *testing.T, w *world) {
				assert.Zero(t, w.slurm.requeued())
				assert.Zero(t, w.exit().Status)
			})
	})
	t.Run("before the stream is there", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.fail("Pump", fault{err: errors.New("down"), always: true})
			w.cluster.script = evicted(10*time.Second, deleted)
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Zero(t, w.starts)
			assert.EqualValues(t, 1, w.slurm.record().Gated)
			assert.Less(t, w.exited, 30*time.Second, "nobody waits for a Pod that ended")
		})
	})
	t.Run("before START is answered", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.fail("Start", fault{err: errors.New("never"), took: time.Hour, done: true})
			w.cluster.script = evicted(10*time.Second, deleted)
		}, func(t *testing.T, w *world) {
			requeued(t, w)
			assert.Less(t, w.exited, 30*time.Second)
		})
	})
	t.Run("a node that is lost", func(t *testing.T) {
		bubble(t, func(w *world) { lives["lost node"](w) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Contains(t, w.slurm.record().Reason, "evicted from a Kubernetes node that is lost")
			assert.Greater(t, w.exited, time.Minute, "its kubelet may only be slow")
			assert.Less(t, w.exited, 2*time.Minute, "the next incarnation waits for the fence, not this one")
		})
	})
}

// TestNewestStateIsKept: what Kubernetes did to a Pod is known after it is gone, also where
// nobody looked in between.
func TestNewestStateIsKept(t *testing.T) {
	evicted := &pod{}
	scheduled(evicted)
	disruption("DeletionByPodGC")(evicted)
	f := &followed{pod: &pod{}, last: &pod{}, states: make(chan *pod, 1)}
	f.put(evicted)
	f.put(nil)
	f.saw(<-f.states)
	assert.Equal(t, podstatus.Gone, f.reading().State)
	assert.Equal(t, "DeletionByPodGC", f.reading().End.Disruption.Reason)
}

// TestStartThatCannotBeSent: no later attempt would be better.
func TestStartThatCannotBeSent(t *testing.T) {
	bubble(t, func(w *world) { w.fail("Start", fault{err: fmt.Errorf("%w: too much", stream.ErrUnstartable)}) }, func(t *testing.T, w *world) {
		assert.Equal(t, failedStatus, w.exit().Status)
		assert.Zero(t, w.slurm.requeued())
		assert.Contains(t, w.notices(), "the job cannot be started in its Pod")
	})
}

func TestDeletedBySomebody(t *testing.T) {
	bubble(t, func(w *world) {
		w.tasks.take = time.Hour
		w.cluster.script = func(int) []event { return append(starts(time.Second), event{time.Minute, deleted}) }
	}, func(t *testing.T, w *world) {
		assert.Zero(t, w.slurm.requeued())
		assert.Contains(t, w.notices(), "deleted by somebody else")
		assert.NotZero(t, w.exit().Status)
		assert.Empty(t, w.left, "nothing is left to the epilog")
		assert.Contains(t, w.stages(), "pod-gone")
	})
}

func TestBrokenStream(t *testing.T) {
	for name, f := range map[string]fault{"error": {err: stream.ErrProtocol, took: time.Minute}, "panic": {panics: true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) { w.tasks.take = time.Hour; w.expectPanic(f); w.fail("Exits", f) }, func(t *testing.T, w *world) {
				assert.Equal(t, failedStatus, w.exit().Status)
				assert.Contains(t, w.notices(), "the stream from the Pod is broken")
				assert.Empty(t, w.cluster.names())
				assert.Less(t, w.exited, 2*time.Minute)
			})
		})
	}
}

// TestAPIDownWhileRunning: an outage of Kubernetes is not the job's.
func TestAPIDownWhileRunning(t *testing.T) {
	bubble(t, func(w *world) {
		w.tasks.take = 10 * time.Minute
		w.at("Exits", func() {
			w.cluster.mu.Lock()
			defer w.cluster.mu.Unlock()
			w.cluster.hangUp("made-1")
			for range 40 {
				w.fail("Pump", fault{err: errors.New("connection refused"), took: 15 * time.Second})
			}
			w.fail("DeletePod", fault{err: errors.New("connection refused")}, fault{err: errors.New("connection refused")})
		})
	}, func(t *testing.T, w *world) {
		assert.Zero(t, w.exit().Status)
		assert.Zero(t, w.slurm.requeued())
		assert.Empty(t, w.left)
	})
}

func TestSlurmctldDownWhenPutBack(t *testing.T) {
	bubble(t, func(w *world) {
		lives["full"](w)
		for range 20 {
			w.fail("Requeue", fault{err: errSlurmDown, took: 10 * time.Second})
		}
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.slurm.requeued())
		assert.NotEmpty(t, w.slurm.begin)
		assert.Zero(t, w.exit().Status, "requeued jobs end quietly")
		assert.Greater(t, w.exited, 5*time.Minute)
	})
}

func TestSlurmRefusesTheRequeue(t *testing.T) {
	bubble(t, func(w *world) { lives["full, --no-requeue"](w); w.fail("Requeue", fault{}, fault{err: errSlurmFinal}) },
		func(t *testing.T, w *world) {
			assert.Zero(t, w.slurm.requeued())
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "could not be put back")
			assert.False(t, w.slurm.requeue, "the user's word stands again")
		})
}

func TestFaultOfTheConfiguration(t *testing.T) {
	bubble(t, func(w *world) { w.fault = "slurm-k8s: this node is not set up" }, func(t *testing.T, w *world) {
		assert.Contains(t, w.notices(), "not set up")
		assert.Equal(t, failedStatus, w.exit().Status)
		assert.Contains(t, w.slurm.record().Reason, "not set up")
		assert.Zero(t, w.requests())
	})
}

func TestRootsJob(t *testing.T) {
	bubble(t, func(w *world) { w.slurm.facts = []string{"array_job_id=x"} }, func(t *testing.T, w *world) {
		assert.Equal(t, failedStatus, w.exit().Status)
		assert.Contains(t, w.notices(), "the job cannot run in a Pod")
		assert.Zero(t, w.requests())
	})
}

// TestForeignAdminComment: what somebody else wrote there is kept, whatever interrupts.
func TestForeignAdminComment(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"put back":      func(w *world) { lives["full"](w) },
		"out of memory": func(w *world) { lives["out of memory"](w) },
		"requeued before it learns": func(w *world) {
			w.fail("Facts", fault{err: errSlurmDown})
			w.at("Facts", func() { w.cancel("PENDING") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) { w.slurm.comment = "billing=12"; set(w) }, func(t *testing.T, w *world) {
				assert.Equal(t, "billing=12", w.slurm.record().Foreign)
			})
		})
	}
}

// TestRequeuedByTheAdministrator: before START the incarnation does not count for the
// script, and what was counted before stays.
func TestRequeuedByTheAdministrator(t *testing.T) {
	for name, call := range map[string]string{"before it learned": "Facts", "while the Pod is made": "CreatePod"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.slurm.comment = `{"slurm-k8s":1,"gated":4,"reason":"slurm-k8s: full"}`
				w.at(call, func() { w.cancel("PENDING") })
			}, func(t *testing.T, w *world) {
				assert.EqualValues(t, 5, w.slurm.record().Gated)
				assert.Zero(t, w.starts)
			})
		})
	}
}

func TestManyTasks(t *testing.T) {
	t.Run("good", func(t *testing.T) {
		bubble(t, func(w *world) { w.addRelay(); w.addRelay() }, func(t *testing.T, w *world) {
			assert.ElementsMatch(t, []uint32{0, 1, 2}, w.sessions[0].forwarded)
		})
	})
	t.Run("one never came", func(t *testing.T) {
		bubble(t, func(w *world) { w.addRelay(); w.addRelay(); w.relays[1].hello = io.EOF }, func(t *testing.T, w *world) {
			assert.Zero(t, w.requests())
			assert.Less(t, w.exited, time.Second, "the others are not left waiting")
		})
	})
	t.Run("one dies", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take = time.Hour
			w.addRelay()
			w.after(time.Minute, func() { w.relays[1].vanish() })
		}, func(t *testing.T, w *world) {
			assert.Empty(t, w.cluster.names())
			assert.Less(t, w.exited, 2*time.Minute)
		})
	})
}

// TestFinishNamesThePod: also where it is not reached, since Slurm does not answer.
func TestFinishNamesThePod(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"Slurm hangs": func(w *world) {
			lives["out of memory"](w)
			w.fail("CompleteOutOfMemory", fault{took: time.Minute})
			w.at("CompleteOutOfMemory", w.kill)
		},
		"Kubernetes is down": func(w *world) { w.fail("DeletePod", apiFaults["always down"]) },
		"Kubernetes is down, and the creation was not answered": func(w *world) {
			w.fail("CreatePod", apiFaults["lost answer"])
			w.fail("GetPod", apiFaults["always down"])
			w.at("CreatePod", func() { w.cancel("CANCELLED") })
		},
		"kubelet is down": func(w *world) { lives["hanging pull"](w); w.cluster.stuck = true },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, set, func(t *testing.T, w *world) { assert.Contains(t, w.left, testPod) })
		})
	}
}
