// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// beside makes the world's a step on the Slurm node of its job's script, which runs in a Pod.
func (w *world) beside(nodes int, changes ...func(*corev1.Pod)) {
	w.host("batch", changes...)
	w.numbered(nodes)
	w.slurm.facts = append(w.slurm.facts, "batch_host=n1")
}

func TestStepBesideItsScript(t *testing.T) {
	bubble(t, func(w *world) {
		w.beside(1)
		w.tasks.exit = stream.Exit{Status: 3 << 8}
	}, func(t *testing.T, w *world) {
		assert.Equal(t, uint32(3<<8), w.exit().Status)
		assert.Empty(t, w.notices())
		assert.Equal(t, 1, w.starts)
		assert.Equal(t, 1, w.count("Join"))
		assert.Zero(t, w.cluster.made)
		assert.Zero(t, w.count("DeletePod"))
		assert.Equal(t, []string{"10.0.0.7"}, w.step.addresses)
		assert.Equal(t, []string{testPod}, w.cluster.names())
		assert.Equal(t, testPod, w.slurm.record().Steps[0].Pod)
		assert.LessOrEqual(t, w.requests(), 6)
	})
}

func TestStepHasAPodOfItsOwn(t *testing.T) {
	image := func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.lab/other:1" }
	for name, set := range map[string]func(w *world){
		"another image":                 func(w *world) { w.beside(1, image) },
		"the script's Pod is elsewhere": func(w *world) { w.beside(1, elsewhere) },
		"another user's":                func(w *world) { w.beside(1, stranger) },
		"the script's Pod has ended":    func(w *world) { w.beside(1, ends(0, "Completed", "")) },
		"the script's Pod is going":     func(w *world) { w.beside(1, deleted) },
		"the script's Pod of a run before": func(w *world) {
			w.beside(1, func(p *corev1.Pod) { p.Labels[wellknown.LabelIncarnation] = "4" }, ends(0, "Completed", ""))
		},
		"the script is not in a Pod": func(w *world) { w.numbered(1); w.slurm.facts = append(w.slurm.facts, "batch_host=n1") },
		"another Slurm node":         func(w *world) { w.beside(1); w.slurm.facts[0] = "batch_host=n2" },
		"no script":                  func(w *world) { w.beside(1); w.slurm.facts = nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				set(w)
				w.at("Start", func() { // what the world's model of a Pod does not tell apart
					w.cluster.mu.Lock()
					defer w.cluster.mu.Unlock()
					w.cluster.joined[hostUID] = true
				})
			}, func(t *testing.T, w *world) {
				assert.Equal(t, 1, w.cluster.made)
				assert.Equal(t, 1, w.starts)
				assert.Zero(t, w.count("Join"))
			})
		})
	}
}

func TestStepWaitsForItsScript(t *testing.T) {
	t.Run("and runs with it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.beside(1, waitsForRoom)
			w.after(20*time.Minute, func() { w.cluster.alter(hostUID, func(p *corev1.Pod) { scheduled(p); runs(p) }) })
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Zero(t, w.cluster.made)
			assert.Contains(t, w.notices(), "Pod slurm-job-7 waits for room in the cluster")
		})
	})
	t.Run("which never runs", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.beside(1, waitsForRoom)
			w.after(time.Minute, func() { w.cluster.alter(hostUID, deleted); w.cancel("CANCELLED") })
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Zero(t, w.cluster.made)
			assert.Less(t, w.exited, 2*time.Minute)
		})
	})
	t.Run("and says no to it", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.beside(1)
			w.fail("Join", fault{err: foreignError})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "cannot be joined [no such thing]")
		})
	})
}

func TestStepBesideItsScriptOnTwoNodes(t *testing.T) {
	t.Run("starts when the other node's Pod runs", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.beside(2)
			w.cluster.peer(5*time.Second, starts(time.Minute)...)
			w.at("Start", func() {
				w.cluster.mu.Lock()
				defer w.cluster.mu.Unlock()
				assert.True(t, podspec.IsSeat(w.cluster.pods[numberedPod]), "the other node sees by it that this one is there")
			})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Greater(t, w.first["Start"], 65*time.Second)
			assert.Equal(t, []string{"10.0.0.7", "10.0.0.2"}, w.step.addresses)
			assert.Equal(t, 1, w.cluster.made)
			assert.Equal(t, 1, w.count("DeletePod"))
			assert.NotContains(t, w.cluster.names(), numberedPod)
			assert.Contains(t, w.cluster.names(), testPod)
		})
	})
	t.Run("the other one has the seat", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.host("batch", elsewhere)
			w.numbered(2)
			w.slurm.facts = append(w.slurm.facts, "batch_host=n2")
			w.cluster.mu.Lock()
			w.cluster.joined[hostUID] = true
			w.cluster.mu.Unlock()
			w.cluster.peer(30*time.Second, event{0, func(p *corev1.Pod) {
				p.Labels[wellknown.LabelNode] = "n2"
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: wellknown.GateSeat}}
			}})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Greater(t, w.first["Start"], 30*time.Second)
			assert.Equal(t, []string{"", "10.0.0.7"}, w.step.addresses)
		})
	})
	t.Run("the other node never comes", func(t *testing.T) {
		bubble(t, func(w *world) { w.beside(2) }, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Contains(t, w.notices(), "only 1 of the step's 2 nodes")
			assert.Equal(t, 1, w.slurm.stepEnds)
			assert.Equal(t, []string{testPod}, w.cluster.names())
		})
	})
}

func TestStepBesideItsScriptUnderInterruption(t *testing.T) {
	for _, call := range []string{"EnsurePodinit", "CreatePod", "Join", "Pump", "Start", "Exits"} {
		for _, nodes := range []int{1, 2} {
			bubble(t, func(w *world) {
				w.beside(nodes)
				if nodes == 2 {
					w.cluster.peer(time.Second, starts(time.Second)...)
				}
				w.tasks.take = time.Hour
				w.at(call, func() { w.cancel("CANCELLED") })
				w.after(time.Minute, func() { w.cancel("CANCELLED") })
			}, func(t *testing.T, w *world) {
				assert.Contains(t, w.cluster.names(), testPod, call)
				assert.NotContains(t, w.cluster.names(), numberedPod, call)
			})
		}
	}
}

// TestScriptEndsFirst: the step beside it ends with its container.
func TestScriptEndsFirst(t *testing.T) {
	bubble(t, func(w *world) {
		w.beside(2)
		w.cluster.peer(time.Second, starts(time.Second)...)
		w.tasks.take = time.Hour
		w.after(time.Minute, func() { w.cluster.alter(hostUID, ends(0, "Completed", "")) })
	}, func(t *testing.T, w *world) {
		assert.Contains(t, w.notices(), "the container of Pod slurm-job-7 ended")
		assert.Equal(t, uint32(9), w.exit().Status)
		assert.NotContains(t, w.cluster.names(), numberedPod)
	})
}

// TestScriptOfTwoNodes: the script runs on one, and waits for nobody.
func TestScriptOfTwoNodes(t *testing.T) {
	bubble(t, func(w *world) { w.slurm.facts = append(w.slurm.facts, "nodes=2", "batch_host=n1") }, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.starts)
		assert.Zero(t, w.exit().Status)
	})
}
