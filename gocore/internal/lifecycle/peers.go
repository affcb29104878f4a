// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// peers are the Pods of a step on all its nodes, watched from before this node's own is made:
// the moment at which all run may be short, and must not be missed. The step's first node watches
// to its end, for what the others' tasks used.
type peers struct {
	all    chan []string            // once: the addresses at the moment at which all ran
	news   chan map[int]*corev1.Pod // the newest, by the nodes' numbers
	ready  chan struct{}            // closed when what was there first has been seen
	usage  *peerUsage
	cancel context.CancelFunc
	done   chan struct{}
}

// watchPeers begins the watch and waits until it sees.
func (s *Step) watchPeers(pod *corev1.Pod, limit time.Time) *outcome {
	if s.Job.IsBatch() || s.Job.Nodes < 2 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &peers{
		all: make(chan []string, 1), news: make(chan map[int]*corev1.Pod, 1), ready: make(chan struct{}),
		usage: newPeerUsage(), cancel: cancel, done: make(chan struct{}),
	}
	s.peers = p
	nodes, own := s.Job.Nodes, s.Job.NodeID
	see := func(pods []*corev1.Pod) {
		p.usage.see(pods, own, nodes)
		p.see(byNode(pods), nodes)
	}
	go func() {
		defer close(p.done)
		defer recoverTo(s.Log)
		s.Cluster.FollowStep(ctx, pod, see,
			func(err error) { s.Log.WithError(err).Info("the watch of the step's Pods was interrupted") })
	}()
	late := s.Clock.NewTimer(limit.Sub(s.Clock.Now()))
	defer late.Stop()
	select {
	case <-p.ready:
		return nil
	case <-late.C():
		return returned(report.NoPeers(s.Site.StartLimit.Duration))
	case <-s.ctx.Done():
		return s.interrupted()
	}
}

// see takes a moment. It never blocks the watch.
func (p *peers) see(now map[int]*corev1.Pod, nodes int) {
	if countRunning(now) == nodes {
		select {
		case p.all <- addressesOf(now, nodes):
		default:
		}
	}
	select {
	case <-p.news:
	default:
	}
	p.news <- now // there is room: this goroutine alone sends
	select {
	case <-p.ready:
	default:
		close(p.ready)
	}
}

// othersStarted tells whether all Pods of the step were seen to run at one moment.
func (s *Step) othersStarted() bool { return s.peers != nil && len(s.peers.all) > 0 }

// endPeers ends the watch.
func (s *Step) endPeers() {
	if s.peers != nil {
		s.peers.cancel()
		<-s.peers.done
		s.peers = nil
	}
}
