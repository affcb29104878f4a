// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// peerUsageLimit is how long the step's first node waits at its end for what the others used:
// kubelet puts podinit's report into the Pod's status, mostly within a second of its end.
const peerUsageLimit = 5 * time.Second

// peerUsage is what the other nodes' tasks used, as podinit reports it in their Pods' status.
// Written by the watch of the step's Pods, read by Run's goroutine.
type peerUsage struct {
	mu      sync.Mutex
	told    map[int]job.Usage
	missing int           // Pods that are there and have not told yet
	news    chan struct{} // holds one where something has changed
}

func newPeerUsage() *peerUsage {
	return &peerUsage{told: map[int]job.Usage{}, news: make(chan struct{}, 1)}
}

// see takes the step's Pods of a moment, on all nodes. It never blocks the watch.
func (u *peerUsage) see(pods []*corev1.Pod, own, nodes int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.missing = 0
	for _, pod := range pods {
		number, err := strconv.Atoi(pod.Labels[wellknown.LabelNodeID])
		if err != nil || number < 0 || number >= nodes || number == own {
			continue
		}
		if usage := podstatus.UsageOf(pod); usage != nil {
			u.told[number] = *usage
		} else if _, told := u.told[number]; !told && !podspec.IsSeat(pod) && !podstatus.Over(pod) {
			u.missing++ // of tasks in the script's container, behind a seat, there is no report
		}
	}
	select {
	case u.news <- struct{}{}:
	default:
	}
}

// sum adds what was told to usage: of how many nodes, and whether more may come.
func (u *peerUsage) sum(usage *job.Usage) (nodes int, complete bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, theirs := range u.told {
		usage.Add(theirs)
	}
	return len(u.told), u.missing == 0
}

// usageOfNodes is what the step's tasks used on all its nodes, and on how many of these, 0 for all:
// one whose tasks run on, or whose Pod was lost, is not counted. nil: nobody could say.
func (s *Step) usageOfNodes(exits []stream.Exit) (*job.Usage, int) {
	own := sum(exits)
	if s.Job.IsBatch() || s.Job.Nodes < 2 {
		return own, 0
	}
	total, counted := job.Usage{}, 0
	if s.peers != nil {
		total, counted = s.hearPeers()
	}
	if own != nil {
		total.Add(*own)
		counted++
	}
	switch counted {
	case 0:
		return nil, 0
	case s.Job.Nodes:
		counted = 0
	}
	return &total, counted
}

// hearPeers waits, not long, until the other nodes have told.
func (s *Step) hearPeers() (job.Usage, int) {
	late := s.Clock.NewTimer(peerUsageLimit)
	defer late.Stop()
	for {
		var usage job.Usage
		nodes, complete := s.peers.usage.sum(&usage)
		if complete {
			return usage, nodes
		}
		select {
		case <-s.peers.usage.news:
		case <-late.C():
			s.Log.Infof("%d of the step's %d nodes have not told in %s what they used", s.Job.Nodes-1-nodes, s.Job.Nodes, peerUsageLimit)
			return usage, nodes
		}
	}
}
