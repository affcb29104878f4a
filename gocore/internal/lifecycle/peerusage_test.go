// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const peerReport = "usage utime=2000000 stime=30000 peak=99000000\ntask=1 status=0 oom=0\n"

// TestUsageOfNodes: the step's first node sums what it sees in the Pods of the others.
func TestUsageOfNodes(t *testing.T) {
	own := job.Usage{UserMS: 1500, SystemMS: 20, PeakBytes: 50 << 20}
	both := job.Usage{UserMS: 3500, SystemMS: 50, PeakBytes: 99_000_000}
	seat := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: wellknown.GateSeat}} }
	told := ends(0, "Completed", peerReport)
	for name, test := range map[string]struct {
		becomes []event // of the peer, once the step has started
		want    job.Usage
		counted int
		waits   time.Duration
	}{
		"before us":           {[]event{{30 * time.Second, told}, {31 * time.Second, goes}}, both, 0, 0},
		"a moment after us":   {[]event{{time.Minute + time.Second, told}, {time.Minute + 1100*time.Millisecond, goes}}, both, 0, time.Second},
		"runs on":             {nil, own, 1, peerUsageLimit},
		"too late":            {[]event{{time.Minute + peerUsageLimit + time.Second, told}}, own, 1, peerUsageLimit},
		"lost":                {[]event{{30 * time.Second, goes}}, own, 1, 0},
		"no report":           {[]event{{30 * time.Second, ends(137, "Error", "")}}, own, 1, 0},
		"no report of sense":  {[]event{{30 * time.Second, ends(0, "Completed", "usage utime=1e9 stime=0 peak=1\ntask=1 status=0")}}, own, 1, 0},
		"in its script's Pod": {[]event{{time.Millisecond, seat}}, own, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.numbered(2)
				w.runsPulled()
				w.tasks = tasks{take: time.Minute, exit: someUsage}
				w.cluster.peer(time.Second, append([]event{{time.Millisecond, scheduled}, {2 * time.Millisecond, runs}}, test.becomes...)...)
			}, func(t *testing.T, w *world) {
				steps := w.slurm.record().Steps
				require.Len(t, steps, 1)
				assert.Equal(t, 2, steps[0].Nodes)
				assert.Equal(t, test.counted, steps[0].NodesCounted)
				assert.Equal(t, &test.want, steps[0].Usage)
				assert.InDelta(t, test.waits.Seconds(), (w.exited - w.first["Start"] - time.Minute).Seconds(), 0.2)
				assert.Equal(t, 1, w.count("Update"))
			})
		})
	}
}

// TestUsageOfAnotherNodeAlone: this node's Pod is gone, its peer has told.
func TestUsageOfAnotherNodeAlone(t *testing.T) {
	u := newPeerUsage()
	at := func(node, report string) *corev1.Pod {
		p := &corev1.Pod{}
		p.Labels = map[string]string{wellknown.LabelNodeID: node}
		ends(0, "Completed", report)(p)
		return p
	}
	u.see([]*corev1.Pod{at("0", peerReport), at("1", peerReport), at("2", peerReport), at("-1", peerReport), at("x", peerReport), at("", peerReport)}, 0, 2)
	var usage job.Usage
	nodes, complete := u.sum(&usage)
	assert.True(t, complete)
	assert.Equal(t, 1, nodes, "its own it knows, and others are not the step's")
	assert.Equal(t, job.Usage{UserMS: 2000, SystemMS: 30, PeakBytes: 99_000_000}, usage)
}

func TestUsageIsOfNodeZeroAlone(t *testing.T) {
	bubble(t, func(w *world) {
		w.numbered(2)
		w.nodeID = 1
		w.cluster.peer(time.Second, starts(time.Second)...)
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.starts)
		assert.Zero(t, w.count("Update"))
		assert.Nil(t, w.step.peers, "nor does it watch the others to the end")
	})
}
