// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// since is a Pod whose deletion was asked for so long ago.
func deletedSince(ago time.Duration) func(*pod) {
	return func(p *pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(-ago)} }
}

func TestPredecessor(t *testing.T) {
	t.Run("runs, and is ended first", func(t *testing.T) {
		bubble(t, func(w *world) { w.predecessor() }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, 2, w.count("DeletePod"))
			assert.Equal(t, testPod, w.cluster.history["made-1"][0].Name)
			assert.Greater(t, w.first["Start"], 400*time.Millisecond)
		})
	})
	t.Run("has ended, its object stays", func(t *testing.T) {
		bubble(t, func(w *world) { w.predecessor(ends(0, "Completed", ""), deletedSince(time.Second)) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, testPod+"-1", w.cluster.history["made-1"][0].Name, "another name")
			assert.Contains(t, w.cluster.names(), testPod, "it is not deleted by force")
			assert.Equal(t, 1, w.count("DeletePod"), "ours alone")
		})
	})
	t.Run("its node is lost, before the fence", func(t *testing.T) {
		bubble(t, func(w *world) { w.predecessor(deletedSince(10 * time.Minute)); w.cluster.stuck = true }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Zero(t, w.cluster.made)
			assert.Contains(t, w.notices(), "is not known to have ended")
			assert.Equal(t, []string{testPod}, w.cluster.names())
			assert.InDelta(t, (5 * time.Minute).Seconds(), w.first["Requeue"].Seconds(), 2)
		})
	})
	t.Run("its node is lost, the fence passes meanwhile", func(t *testing.T) {
		bubble(t, func(w *world) { w.predecessor(deletedSince(28 * time.Minute)) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Equal(t, testPod+"-1", w.cluster.history["made-1"][0].Name)
			assert.InDelta(t, (3 * time.Minute).Seconds(), w.first["Start"].Seconds(), 3, "30 min and a minute for clocks that differ")
		})
	})
	t.Run("phase Failed beside a container that runs is not the end", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.predecessor(deletedSince(time.Minute), func(p *pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "NodeLost" })
		}, func(t *testing.T, w *world) { assert.Zero(t, w.cluster.made); assert.Equal(t, 1, w.slurm.requeued()) })
	})
	t.Run("its node is gone for good", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.predecessor(deletedSince(time.Minute), disruption("DeletionByPodGC"), func(p *pod) { p.Status.Phase = corev1.PodFailed })
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("Kubernetes is down meanwhile", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.predecessor()
			down := apiFaults["refused connection"]
			w.fail("GetPod", down, down, down)
			w.fail("DeletePod", down, down)
		}, func(t *testing.T, w *world) { assert.Equal(t, 1, w.starts) })
	})
	t.Run("scancel while it is waited for", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.predecessor(deletedSince(time.Minute))
			w.after(time.Minute, func() { w.cancel("CANCELLED") })
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.cluster.made)
			assert.Equal(t, uint32(15), w.exit().Status)
			assert.Less(t, w.exited, 61*time.Second)
		})
	})
}

func TestForeignPod(t *testing.T) {
	for _, label := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelCluster} {
		t.Run(label, func(t *testing.T) {
			bubble(t, func(w *world) { w.predecessor(func(p *pod) { p.Labels[label] = "other" }) }, func(t *testing.T, w *world) {
				assert.Equal(t, failedStatus, w.exit().Status)
				assert.Zero(t, w.count("DeletePod"))
				assert.Contains(t, w.notices(), "not this job's")
				assert.Less(t, w.exited, time.Second)
			})
		})
	}
	t.Run("it takes the name while the predecessor goes", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.predecessor(deletedSince(time.Minute))
			w.after(time.Minute, func() {
				w.cluster.mu.Lock()
				defer w.cluster.mu.Unlock()
				other := w.cluster.pods[testPod].DeepCopy()
				other.UID, other.DeletionTimestamp, other.Labels[wellknown.LabelCluster] = "other", nil, "theirs"
				w.cluster.pods[testPod] = other
			})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Zero(t, w.count("DeletePod"))
			assert.Equal(t, []string{testPod}, w.cluster.names())
		})
	})
	t.Run("a name that is taken but never found does not make it hammer", func(t *testing.T) {
		bubble(t, func(w *world) {
			f := apiFaults["already exists"]
			f.always = true
			w.fail("CreatePod", f)
		}, func(t *testing.T, w *world) {
			assert.Less(t, w.count("CreatePod"), 40)
			assert.Equal(t, 1, w.slurm.requeued())
		})
	})
}

// TestLostAnswerOfCreate: the Pod is ours by its session, and there is but one.
func TestLostAnswerOfCreate(t *testing.T) {
	lost := apiFaults["lost answer"]
	t.Run("adopted", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("CreatePod", lost) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.cluster.made)
			assert.Equal(t, 1, w.starts)
			assert.Zero(t, w.exit().Status)
		})
	})
	for name, set := range map[string]func(w *world){
		"then cancelled":           func(w *world) { w.after(16*time.Second, func() { w.cancel("CANCELLED") }) },
		"cancelled in the request": func(w *world) { w.after(5*time.Second, func() { w.cancel("CANCELLED") }) },
		"then the quota it took":   func(w *world) { w.fail("CreatePod", apiFaults["quota"]) },
		"then a rule":              func(w *world) { w.fail("CreatePod", apiFaults["forbidden"]) },
		"then nothing":             func(w *world) { w.fail("CreatePod", apiFaults["always down"]) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) { w.fail("CreatePod", lost); set(w) }, func(t *testing.T, w *world) {
				assert.Equal(t, 1, w.cluster.made)
				assert.Empty(t, w.cluster.names(), "it is removed")
				assert.Zero(t, w.starts)
			})
		})
	}
}
