// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// TestLastOutputMayBeMissing: Kubernetes' API was away as the job ended, and for longer than podinit waits
// for it. That the job ended is known by the Pod alone.
func TestLastOutputMayBeMissing(t *testing.T) {
	const words = "the end of the output may be missing"
	unheard := func(end event) func(*world) {
		return func(w *world) {
			w.tasks.take = time.Hour
			w.cluster.script = func(int) []event { return append(starts(time.Second), end) }
		}
	}
	told := func(t *testing.T, w *world) {
		assert.Equal(t, 1, strings.Count(w.notices(), words), w.notices())
	}
	t.Run("the Pod tells a good end", func(t *testing.T) {
		bubble(t, unheard(event{time.Minute, ends(0, "Completed", "task=0 status=0 oom=0\n")}), func(t *testing.T, w *world) {
			told(t, w)
			assert.Zero(t, w.exit().Status, "the job's end is its own")
			assert.Contains(t, w.slurm.record().Reason, words, "for the administrator")
		})
	})
	t.Run("the Pod has a reason", func(t *testing.T) {
		bubble(t, unheard(event{time.Minute, ends(137, "OOMKilled", "")}), func(t *testing.T, w *world) {
			told(t, w)
			assert.Contains(t, w.slurm.record().Reason, "out of memory")
			assert.Less(t, strings.Index(w.notices(), "out of memory"), strings.Index(w.notices(), words), "why comes first")
		})
	})
	t.Run("a numbered step", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.stepID = "0"
			unheard(event{time.Minute, ends(0, "Completed", "task=0 status=0 oom=0\n")})(w)
		}, told)
	})
	t.Run("evicted, and not requeued", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.slurm.noRequeue()
			unheard(event{time.Minute, disruption("EvictionByEvictionAPI")})(w)
			w.after(2*time.Minute, func() { w.cluster.alter("made-1", goes) })
		}, told)
	})
	for name, came := range map[string]bool{"a step that joined a container": false, "such a step, and all of it had come": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.host("batch")
				w.joins("batch")
				w.tasks = tasks{take: time.Hour, came: came}
				w.fail("Exits", fault{err: fmt.Errorf("%w: exit code 69", stream.ErrGone), took: time.Minute})
				w.fail("Exit", fault{err: fmt.Errorf("%w: exit code 69", stream.ErrGone), took: time.Minute})
			}, func(t *testing.T, w *world) {
				assert.Contains(t, w.notices(), "how they ended is not known")
				assert.Equal(t, !came, strings.Contains(w.notices(), words), w.notices())
			})
		})
	}
	t.Run("all of it had come", func(t *testing.T) {
		bubble(t, func(w *world) {
			unheard(event{time.Minute, ends(0, "Completed", "task=0 status=0 oom=0\n")})(w)
			w.tasks.came = true
		}, func(t *testing.T, w *world) { assert.Empty(t, w.notices()) })
	})
	t.Run("the end was told by the stream", func(t *testing.T) {
		bubble(t, func(w *world) { w.tasks.exit = stream.Exit{Status: 256} }, func(t *testing.T, w *world) { assert.Empty(t, w.notices()) })
	})
	t.Run("it never started", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.fail("Pump", fault{err: errors.New("down"), always: true})
			unheard(event{time.Minute, ends(75, "Error", "")})(w)
		}, func(t *testing.T, w *world) { assert.NotContains(t, w.notices(), words) })
	})
}
