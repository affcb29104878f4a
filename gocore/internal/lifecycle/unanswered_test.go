// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// A stream that breaks just behind START leaves tasks that run: the start limit is not for them.
func TestUnansweredStart(t *testing.T) {
	t.Run("answered after the start limit", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.take, w.tasks.exit = time.Hour, stream.Exit{Status: 3 << 8}
			w.fail("Start", fault{took: 24 * time.Hour, done: true})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, uint32(3<<8), w.exit().Status, "the tasks' own end")
			assert.Equal(t, 1, w.starts)
			assert.Zero(t, w.slurm.requeued())
			assert.Greater(t, w.exited, time.Hour)
		})
	})
	t.Run("never sent", func(t *testing.T) {
		bubble(t, func(w *world) { w.fail("Start", fault{took: 24 * time.Hour}) }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Zero(t, w.starts)
		})
	})
	t.Run("the Pod is over before START is on its way", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.tasks.mute = true
			w.fail("Connected", fault{took: 20*time.Second + lastWords/2})
			w.fail("Start", fault{took: 24 * time.Hour, done: true})
			w.cluster.script = func(int) []event { return append(starts(time.Second), event{20 * time.Second, ends(137, "Error", "")}) }
		}, func(t *testing.T, w *world) {
			assert.Less(t, w.exited, time.Minute, "nobody waits for a Pod that ended")
		})
	})
}
