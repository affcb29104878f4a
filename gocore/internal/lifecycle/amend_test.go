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

// cancelledAt makes the world's job one that Slurm ends after a minute, for which it takes no update any more.
func (w *world) cancelledAt(state string) {
	w.runsPulled()
	w.tasks = tasks{take: time.Hour, exit: someUsage}
	w.after(time.Minute, func() { w.cancel(state) })
}

func TestRecordOfACancelledJob(t *testing.T) {
	before := job.StepRecord{Step: "batch", Nodes: 1, Pod: testPod, Node: "k9"}
	for name, test := range map[string]struct {
		set     func(w *world)
		want    []job.StepRecord
		amended int
	}{
		"scancel":    {func(w *world) {}, []job.StepRecord{batchRecord()}, 1},
		"at once":    {func(w *world) { w.slurm.unknown = 2 }, []job.StepRecord{batchRecord()}, 3},
		"deaf tasks": {func(w *world) { w.tasks.traps = true }, []job.StepRecord{batchRecord()}, 1},
		"second run": {func(w *world) {
			w.slurm.restarts = 1
			w.slurm.comment = job.Record{Steps: []job.StepRecord{before}, Gated: 2, Foreign: "billing=12"}.Encode()
		}, []job.StepRecord{before, func() job.StepRecord { r := batchRecord(); r.Restarts = 1; return r }()}, 2},
		"somebody's words": {func(w *world) { w.slurm.comment = "billing=12" }, []job.StepRecord{batchRecord()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.cancelledAt("CANCELLED")
				test.set(w)
			}, func(t *testing.T, w *world) {
				for i := range test.want { // that it was killed, nobody measured here
					test.want[i].Usage = nil
				}
				record := w.slurm.amended()
				for i := range record.Steps {
					record.Steps[i].Usage = nil
				}
				assert.Equal(t, test.want, record.Steps)
				assert.Equal(t, test.amended, w.count("Amend"))
				assert.Equal(t, 1, w.count("Update"))
				assert.Equal(t, 1, w.count("Facts"))
				if w.slurm.comment != "" {
					assert.Equal(t, "billing=12", record.Foreign)
				}
			})
		})
	}
}

// TestAmendDoesNotDelayTheRelays: the job is over anyway.
func TestAmendDoesNotDelayTheRelays(t *testing.T) {
	for name, f := range map[string]fault{
		"slow":          {took: 3 * time.Second, err: errSlurmDown},
		"no accounting": {err: errNoAccounting},
		"panic":         {panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.cancelledAt("TIMEOUT")
				w.expectPanic(f)
				w.fail("Amend", f)
			}, func(t *testing.T, w *world) {
				assert.Less(t, w.exited, w.first["Start"]+time.Minute+4*time.Second) // of which settle has 2
				assert.Less(t, w.ran, w.exited+3*time.Second+2*time.Second)
				assert.Empty(t, w.cluster.own())
				assert.Equal(t, 1, w.count("Amend"))
			})
		})
	}
}

// TestRecordOfACancelledJobWithSteps: each adds its own to what is there.
func TestRecordOfACancelledJobWithSteps(t *testing.T) {
	other := job.StepRecord{Step: "2", Nodes: 1, Usage: &job.Usage{PeakBytes: 1}}
	bubble(t, func(w *world) {
		w.numbered(1)
		w.cancelledAt("CANCELLED")
		w.slurm.comment = job.Record{Reason: "slurm-k8s: full", Steps: []job.StepRecord{{Step: "1", Nodes: 1}}}.Encode()
		w.at("Amend", func() { // step 2 was first
			kept := job.Record{Steps: []job.StepRecord{{Step: "1", Nodes: 1}, other}}.Encode()
			w.slurm.mu.Lock()
			defer w.slurm.mu.Unlock()
			w.slurm.kept = &kept
		})
	}, func(t *testing.T, w *world) {
		record := w.slurm.amended()
		require.Len(t, record.Steps, 3)
		assert.Equal(t, other, record.Steps[1])
		assert.Equal(t, "3", record.Steps[2].Step)
		assert.Equal(t, "slurm-k8s: full", record.Reason)
		assert.Equal(t, 2, w.count("Amend"))
	})
}

// TestReasonOfACancelledJob stands there, too.
func TestReasonOfACancelledJob(t *testing.T) {
	bubble(t, func(w *world) {
		w.runsPulled()
		w.tasks = tasks{take: time.Minute, exit: stream.Exit{Status: 9, OOMKills: 1}}
		w.after(59*time.Second, func() { w.slurm.set("CANCELLED") })
	}, func(t *testing.T, w *world) {
		record := w.slurm.amended()
		require.Len(t, record.Steps, 1)
		assert.Contains(t, record.Reason, "out of memory")
		assert.Equal(t, 1, w.count("Amend"))
	})
}

// TestNoRecordWithoutAStart: a job cancelled before it ran has none.
func TestNoRecordWithoutAStart(t *testing.T) {
	bubble(t, func(w *world) {
		lives["full"](w)
		w.after(time.Minute, func() { w.cancel("CANCELLED") })
	}, func(t *testing.T, w *world) {
		assert.Zero(t, w.starts)
		assert.Zero(t, w.count("Amend"))
	})
}

func TestArrayTaskIsAmendedByItsName(t *testing.T) {
	s := &Step{}
	s.Job.UID, s.Job.ArrayJobID, s.Job.ArrayTaskID = 1000, 40, 3
	assert.Equal(t, []string{`admin_comment={"slurm-k8s":1}`, "expected=x", "user_id=1000", "array_job_id=40", "array_task_id=3"}, s.amendment(job.Record{}, "x"))
	s.Job.ArrayJobID = 0
	assert.Len(t, s.amendment(job.Record{}, ""), 3)
}
