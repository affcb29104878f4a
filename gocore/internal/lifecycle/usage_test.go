// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

var someUsage = stream.Exit{UserMicros: 1_500_999, SystemMicros: 20_000, PeakBytes: 50 << 20}

// pulled is what kubelet says of the image once the container runs.
func pulled(imageID string) func(*pod) {
	return func(p *pod) { runs(p); p.Status.ContainerStatuses[0].ImageID = imageID }
}

func (w *world) runsPulled(then ...event) {
	w.script(append([]event{{time.Millisecond, scheduled}, {time.Second, pulled("registry.lab/tiny@sha256:abc")}}, then...)...)
}

func batchRecord() job.StepRecord {
	return job.StepRecord{
		Step: "batch", Nodes: 1, Pod: testPod, Node: "k1", Image: "registry.lab/tiny:1@sha256:abc",
		Usage: &job.Usage{UserMS: 1500, SystemMS: 20, PeakBytes: 50 << 20},
	}
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		exit   stream.Exit
		reason string
	}{
		"good":          {someUsage, ""},
		"out of memory": {stream.Exit{Status: 9, OOMKills: 1, UserMicros: 1_500_000, SystemMicros: 20_000, PeakBytes: 50 << 20}, "out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.slurm.comment = "billing=12"
				w.tasks.exit = test.exit
				w.runsPulled()
			}, func(t *testing.T, w *world) {
				record := w.slurm.record()
				assert.Equal(t, []job.StepRecord{batchRecord()}, record.Steps)
				assert.Equal(t, "billing=12", record.Foreign)
				assert.Contains(t, record.Reason, test.reason)
				assert.Equal(t, 1, w.count("Update"), "with the reason in one")
				assert.Equal(t, 1, w.count("Facts"))
			})
		})
	}
}

func TestUsageOfAnImageThatWasNotPulled(t *testing.T) {
	bubble(t, func(w *world) {
		w.script(event{time.Millisecond, scheduled}, event{time.Second, pulled("sha256:abc")})
	}, func(t *testing.T, w *world) {
		require.Len(t, w.slurm.record().Steps, 1)
		assert.Equal(t, "registry.lab/tiny:1", w.slurm.record().Steps[0].Image)
		assert.Equal(t, "sha256:abc", w.slurm.record().Steps[0].ImageID)
		assert.Nil(t, w.slurm.record().Steps[0].Usage, "podinit did not say")
	})
}

// TestUsageDoesNotDelayTheEnd: it is a nicety.
func TestUsageDoesNotDelayTheEnd(t *testing.T) {
	for name, f := range slurmFaults {
		for _, step := range []string{"batch", "3"} {
			t.Run(name+" "+step, func(t *testing.T) {
				bubble(t, func(w *world) {
					w.stepID = step
					w.tasks.exit = stream.Exit{Status: 7 << 8}
					w.expectPanic(f)
					w.fail("Update", f)
				}, func(t *testing.T, w *world) {
					assert.Equal(t, uint32(7<<8), w.exit().Status)
					assert.Less(t, w.exited, w.tasks.take+1200*time.Millisecond+usageLimit)
					assert.Empty(t, w.cluster.own())
					assert.Less(t, w.count("Update"), 2)
				})
			})
		}
	}
	t.Run("a passing refusal", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("Update", fault{err: errSlurmDown}) }, func(t *testing.T, w *world) {
			assert.Len(t, w.slurm.record().Steps, 1, "tried again at once")
		})
	})
}

// TestUsageOfManyTasks: in sum; another step's record, written meanwhile, stays; the last
// task's relay ends after the record, since the job may be over with it.
func TestUsageOfManyTasks(t *testing.T) {
	other := job.StepRecord{Step: "2", Nodes: 1, Usage: &job.Usage{PeakBytes: 1}}
	bubble(t, func(w *world) {
		w.numbered(1)
		w.addRelay()
		w.runsPulled()
		w.tasks = tasks{take: time.Minute, exit: someUsage, early: map[uint32]time.Duration{1: time.Second}}
		w.after(30*time.Second, func() {
			w.slurm.mu.Lock()
			defer w.slurm.mu.Unlock()
			w.slurm.comment = job.Record{Gated: 2, Reason: "slurm-k8s: full", Steps: []job.StepRecord{other}}.Encode()
		})
		w.at("Update", func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			assert.Empty(t, w.relays[0].exits)
			assert.Len(t, w.relays[1].exits, 1)
		})
	}, func(t *testing.T, w *world) {
		want := batchRecord()
		want.Step, want.Pod = "3", numberedPod
		want.Usage = &job.Usage{UserMS: 3000, SystemMS: 40, PeakBytes: 50 << 20}
		assert.Equal(t, []job.StepRecord{other, want}, w.slurm.record().Steps)
		assert.EqualValues(t, 2, w.slurm.record().Gated)
		assert.Equal(t, "slurm-k8s: full", w.slurm.record().Reason)
	})
}

func TestNoUsageWithoutAStart(t *testing.T) {
	for _, name := range []string{"full", "bad image"} {
		for _, step := range []string{"batch", "3"} {
			t.Run(name+" "+step, func(t *testing.T) {
				bubble(t, func(w *world) {
					lives[name](w)
					w.stepID = step
					w.after(10*time.Minute, func() { w.cancel("CANCELLED") })
				}, func(t *testing.T, w *world) {
					assert.Zero(t, w.starts)
					assert.Empty(t, w.slurm.record().Steps)
				})
			})
		}
	}
}

// TestUsageOfARunBefore stays, be it requeued for a disruption or by the administrator.
func TestUsageOfARunBefore(t *testing.T) {
	before := job.StepRecord{Step: "batch", Nodes: 1, Pod: testPod, Node: "k9"}
	for name, set := range map[string]func(w *world){
		"evicted":          func(w *world) { lives["evicted"](w) },
		"scontrol requeue": func(w *world) { w.tasks.take = time.Hour; w.after(time.Minute, func() { w.cancel("PENDING") }) },
		"killed":           func(w *world) { w.tasks.take = time.Hour; w.after(time.Minute, w.kill) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				set(w)
				w.slurm.restarts = 1
				w.slurm.comment = job.Record{Steps: []job.StepRecord{before}}.Encode()
			}, func(t *testing.T, w *world) {
				steps := w.slurm.record().Steps
				require.Len(t, steps, 2)
				assert.Equal(t, before, steps[0])
				assert.EqualValues(t, 1, steps[1].Restarts)
				assert.Equal(t, "k1", steps[1].Node)
				assert.Equal(t, 1, w.count("Update"))
			})
		})
	}
}
