// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
)

// script makes every Pod go this way.
func (w *world) script(events ...event) { w.cluster.script = func(int) []event { return events } }

// backPending says that the job went back to PENDING when so much time had passed.
func backPending(t *testing.T, w *world, after time.Duration, words string) {
	t.Helper()
	assert.Equal(t, 1, w.slurm.requeued())
	assert.InDelta(t, after.Seconds(), w.first["Requeue"].Seconds(), 1, "when it was put back")
	assert.Contains(t, w.notices(), words)
	assert.Contains(t, w.slurm.record().Reason, words)
	assert.Zero(t, w.starts)
	assert.Zero(t, w.exit().Status)
	assert.Empty(t, w.cluster.names())
}

func TestGateWait(t *testing.T) {
	for name, test := range map[string]struct {
		gated         string
		wait, backoff time.Duration
	}{
		"first":               {"", 30 * time.Second, 10 * time.Second},
		"twice as long":       {`{"slurm-k8s":1,"gated":1}`, time.Minute, 20 * time.Second},
		"and again":           {`{"slurm-k8s":1,"gated":3}`, 4 * time.Minute, 80 * time.Second},
		"at most the maximum": {`{"slurm-k8s":1,"gated":30}`, 10 * time.Minute, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.slurm.comment = test.gated
				w.script(event{time.Millisecond, unschedulable(full)})
			}, func(t *testing.T, w *world) {
				backPending(t, w, test.wait, "no room in the cluster")
				assert.Contains(t, w.notices(), "2 Insufficient cpu")
				begin, err := strconv.ParseInt(w.slurm.begin, 10, 64)
				assert.NoError(t, err)
				assert.InDelta(t, float64(w.began.Add(w.first["Requeue"]+test.backoff).Unix()), float64(begin), 1)
				assert.LessOrEqual(t, w.requests(), 6)
			})
		})
	}
}

func TestGateGrace(t *testing.T) {
	t.Run("no verdict before it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.site.Gate.Wait.Duration = time.Second
			w.script(event{time.Millisecond, unschedulable(full)}, event{4800 * time.Millisecond, scheduled}, event{time.Second, runs})
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("a verdict after it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.site.Gate.Wait.Duration = time.Second
			w.script(event{time.Millisecond, unschedulable(full)})
		}, func(t *testing.T, w *world) { backPending(t, w, 5*time.Second, "no room") })
	})
	t.Run("never fits is not said before it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.cluster.shapes = small
			w.script(event{time.Millisecond, unschedulable(never)}, event{4800 * time.Millisecond, scheduled}, event{time.Second, runs})
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts); assert.Zero(t, w.count("Shapes")) })
	})
}

func TestGateRoomComes(t *testing.T) {
	bubble(t, func(w *world) {
		w.script(event{time.Millisecond, unschedulable(full)}, event{29 * time.Second, scheduled}, event{time.Second, runs})
	}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts); assert.Empty(t, w.notices()) })
}

// TestGateNominated: kube-scheduler makes room by preemption; that is no time for a verdict.
func TestGateNominated(t *testing.T) {
	t.Run("room is made", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.script(event{time.Millisecond, unschedulable(full)}, event{20 * time.Second, nominated}, event{100 * time.Second, scheduled}, event{time.Second, runs})
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("it never is", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.script(event{time.Millisecond, unschedulable(full)}, event{20 * time.Second, nominated})
		}, func(t *testing.T, w *world) { backPending(t, w, 5*time.Minute, "for 5m") })
	})
}

var small = podspec.Shapes{V: 1, Shapes: []podspec.Shape{{CPU: 500, Memory: 1 << 30, Count: 2}}}

func TestGateNeverFits(t *testing.T) {
	for name, test := range map[string]struct {
		set    func(w *world)
		asked  int
		failed bool
	}{
		"confirmed by the shapes":           {func(w *world) { w.cluster.shapes = small }, 1, true},
		"the shapes say otherwise":          {func(w *world) { w.cluster.shapes.Shapes = []podspec.Shape{{CPU: 8000, Memory: 1 << 40, Count: 1}} }, 1, false},
		"no shapes were published":          {func(w *world) { w.fail("Shapes", fault{err: notFound("slurm-k8s-nodes")}) }, 1, false},
		"the shapes know of an autoscaler":  {func(w *world) { w.cluster.shapes = small; w.cluster.shapes.Autoscaler = true }, 1, false},
		"the site has declared one":         {func(w *world) { w.cluster.shapes, w.site.Gate.Autoscaler = small, true }, 0, false},
		"the scheduler does not hint at it": {func(w *world) { w.cluster.shapes = small; w.script(event{time.Millisecond, unschedulable(full)}) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) { w.script(event{time.Millisecond, unschedulable(never)}); test.set(w) }, func(t *testing.T, w *world) {
				assert.Equal(t, test.asked, w.count("Shapes"))
				if !test.failed {
					backPending(t, w, 30*time.Second, "no room")
					return
				}
				assert.Zero(t, w.slurm.requeued())
				assert.Equal(t, failedStatus, w.exit().Status)
				assert.Contains(t, w.notices(), "can never run in this cluster: no node has 1 cpu")
				assert.InDelta(t, 5, w.exited.Seconds(), 0.1)
				assert.Empty(t, w.cluster.names())
			})
		})
	}
}

func TestQuotaKeepsNoPlace(t *testing.T) {
	bubble(t, func(w *world) { w.fail("CreatePod", apiFaults["quota"]) }, func(t *testing.T, w *world) {
		backPending(t, w, 0, "no room in the cluster")
		assert.Contains(t, w.notices(), "exceeded quota: team-a")
		assert.EqualValues(t, 1, w.slurm.record().Gated)
	})
}

func TestNoRequeueIsLiftedBeforeTheStart(t *testing.T) {
	bubble(t, func(w *world) { lives["full, --no-requeue"](w) }, func(t *testing.T, w *world) {
		backPending(t, w, 30*time.Second, "no room")
		assert.False(t, w.slurm.requeue, "it is set back")
	})
}

func TestStartLimit(t *testing.T) {
	mount := func(w *world) {
		at := metav1.Time{Time: w.began}
		w.cluster.events = []corev1.Event{
			{Type: corev1.EventTypeWarning, Reason: "FailedMount", Message: "volume \"podinit\" not there", LastTimestamp: at},
			{Type: corev1.EventTypeNormal, Reason: "Scheduled", Message: "to k1", LastTimestamp: metav1.Time{Time: w.began.Add(time.Hour)}},
		}
	}
	t.Run("Events say what hung", func(t *testing.T) {
		bubble(t, func(w *world) { mount(w); w.script(event{time.Millisecond, scheduled}) }, func(t *testing.T, w *world) {
			backPending(t, w, 5*time.Minute, "did not start within 5m")
			assert.Contains(t, w.notices(), "FailedMount: volume")
		})
	})
	t.Run("Events cannot be read", func(t *testing.T) {
		bubble(t, func(w *world) {
			mount(w)
			w.fail("Events", fault{err: errors.New("down"), took: time.Minute})
			w.script(event{time.Millisecond, scheduled})
		}, func(t *testing.T, w *world) {
			backPending(t, w, 5*time.Minute+5*time.Second, "did not start within 5m")
		})
	})
	t.Run("a pull that fails says so", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.script(event{time.Millisecond, scheduled}, event{time.Second, waits("ImagePullBackOff", "dial tcp: i/o timeout")})
		}, func(t *testing.T, w *world) { backPending(t, w, 5*time.Minute, "the image cannot be pulled") })
	})
	t.Run("counts anew once a node was chosen", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.slurm.comment = `{"slurm-k8s":1,"gated":30}` // waits 10 min for room
			w.script(event{time.Millisecond, unschedulable(full)}, event{9 * time.Minute, scheduled}, event{4 * time.Minute, runs})
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("the scheduler says nothing", func(t *testing.T) {
		bubble(t, func(w *world) { w.script() }, func(t *testing.T, w *world) {
			backPending(t, w, 5*time.Minute, "did not start within 5m")
		})
	})
	t.Run("Kubernetes cannot be reached", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("EnsurePodinit", apiFaults["always down"]) }, func(t *testing.T, w *world) {
			backPending(t, w, 318*time.Second, "cannot be reached for 5m") // the attempt after it
		})
	})
	t.Run("the stream never comes", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("Pump", apiFaults["always down"]) }, func(t *testing.T, w *world) {
			backPending(t, w, 5*time.Minute+3*time.Second, "the Pod runs but cannot be spoken to")
		})
	})
}

func TestStartFaults(t *testing.T) {
	t.Run("an image that is not there", func(t *testing.T) {
		bubble(t, func(w *world) { lives["bad image"](w) }, func(t *testing.T, w *world) {
			assert.Zero(t, w.slurm.requeued())
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "the registry does not have the image")
			assert.Contains(t, w.slurm.record().Reason, "manifest unknown")
		})
	})
	t.Run("a pull that comes right", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.script(event{0, scheduled}, event{time.Second, waits("ErrImagePull", "i/o timeout")}, event{time.Minute, runs})
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("a node that did not take it", func(t *testing.T) {
		bubble(t, func(w *world) { lives["rejected by the node"](w) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 2, w.cluster.made)
			assert.Zero(t, w.slurm.record().Gated, "it does not count")
			assert.Empty(t, w.notices())
		})
	})
	t.Run("podinit is killed before it may start", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.cluster.script = func(n int) []event {
				if n == 1 {
					return []event{{time.Millisecond, scheduled}, {time.Second, ends(137, "Error", "")}}
				}
				return starts(time.Second)
			}
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 2, w.cluster.made)
			assert.Zero(t, w.exit().Status)
		})
	})
	t.Run("a node that never takes it", func(t *testing.T) {
		bubble(t, func(w *world) { w.script(event{0, scheduled}, event{time.Second, rejected("OutOfcpu")}) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Contains(t, w.notices(), "OutOfcpu")
			assert.Less(t, w.cluster.made, 40, "it does not hammer")
		})
	})
	t.Run("a rule of the cluster's", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("CreatePod", apiFaults["forbidden"]) }, func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "Kubernetes refuses the Pod [violates PodSecurity")
			assert.Less(t, w.exited, time.Second)
		})
	})
	t.Run("podinit's ConfigMap was changed", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("EnsurePodinit", apiFaults["forbidden"]) }, func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
		})
	})
	t.Run("somebody removes the Pod", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.cluster.script = func(n int) []event {
				if n == 1 {
					return []event{{time.Millisecond, unschedulable(full)}, {time.Second, goes}}
				}
				return starts(time.Second)
			}
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts); assert.Equal(t, 2, w.cluster.made) })
	})
}
