// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

func TestGoodLife(t *testing.T) {
	bubble(t, func(w *world) { w.tasks.exit = stream.Exit{Status: 7 << 8, PeakBytes: 9} }, func(t *testing.T, w *world) {
		assert.Equal(t, stream.Exit{Status: 7 << 8, PeakBytes: 9}, w.exit())
		assert.Empty(t, w.notices())
		assert.Empty(t, w.left)
		assert.LessOrEqual(t, w.requests(), 6)
		assert.Equal(t, 1, w.starts)
		assert.Zero(t, w.slurm.requeued())
		assert.Zero(t, w.count("Update"), "an ordinary end is Slurm's alone to tell")
		assert.Less(t, w.exited, w.tasks.take+1200*time.Millisecond)
	})
}
