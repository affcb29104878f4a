// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// A numbered step is srun's. It has no place in Slurm's queue to go back to, so it waits
// where it is, and starts on all its Slurm nodes or on none.

// waitAgain gives the Pod up and waits before the next attempt. False: it was interrupted.
func (s *Step) waitAgain(reason string) bool {
	s.cleanUp(true)
	s.endPeers()
	s.connected = nil
	// Not longer than the step's other nodes wait for this one's Pod.
	delay := min(job.Backoff(s.attempts, s.Site.Requeue, s.Random()), s.Site.StartLimit.Duration/2)
	s.attempts++
	s.tell(report.StepWaits(reason, delay))
	return s.wait(delay)
}

// givesUpRoom tells whether a Pod without room gives up its place in Kubernetes' queue. A
// step of one node keeps it, unless it may go to another cluster. One of several must not: its other Pods may hold the room that
// another such step lacks. Only a Pod that still has no node is given up, since the other
// nodes start once they have seen it run.
func (s *Step) givesUpRoom() bool {
	if s.Job.IsBatch() {
		return true
	}
	return (s.Job.Nodes > 1 || len(s.choices) > 0) && s.withdraw()
}

// givesUpStart tells whether a Pod that hangs in its start is given up; one of several is not
// where it runs by now, since the other nodes may have seen that.
func (s *Step) givesUpStart() bool { return s.Job.IsBatch() || s.Job.Nodes < 2 || s.withdraw() }

// withdraw deletes the Pod unless it has changed since.
func (s *Step) withdraw() bool {
	ctx, cancel := context.WithTimeout(s.ctx, removeLimit)
	defer cancel()
	err := s.Cluster.WithdrawPod(ctx, s.pod.pod)
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		s.Log.WithError(err).Info("the Pod without room could not be given up")
	}
	return err == nil
}

// missingLimits is for how many start limits a step waits for nodes that have made no Pod:
// they may lack quota that another step holds, which gives it up meanwhile.
const missingLimits = 3

// gather waits until the Pods of all the step's nodes run, each seen by every node at the same
// moment of etcd's. nil: they do.
func (s *Step) gather() *outcome {
	if s.Job.IsBatch() || s.Job.Nodes < 2 {
		s.addresses = addressesOf(map[int]*corev1.Pod{0: s.pod.pod}, 1)
		return nil
	}
	late := s.Clock.NewTimer(s.Site.StartLimit.Duration)
	defer late.Stop()
	patience := s.Clock.NewTimer(newsPatience)
	defer patience.Stop()
	seen := map[int]*corev1.Pod{}
	for {
		select {
		case s.addresses = <-s.peers.all:
			return nil
		default:
		}
		select {
		case s.addresses = <-s.peers.all:
			return nil
		case now := <-s.peers.news:
			if gone := missingOf(seen, now); gone >= 0 {
				return s.unless(report.PeerGone(gone))
			}
			seen = now
		case pod := <-s.pod.states:
			s.pod.saw(pod)
			if r := s.pod.reading(); r.State != podstatus.Running || r.Deleting {
				return s.unless(report.Vanished())
			}
		case <-patience.C():
			s.tell(report.WaitsForPeers(countRunning(seen), s.Job.Nodes))
		case <-late.C():
			if len(seen) < s.Job.Nodes {
				return s.missing(len(seen))
			}
			s.missed = 0
			late.Reset(s.Site.StartLimit.Duration) // they wait for room
		case <-s.ctx.Done():
			return s.interrupted()
		}
	}
}

// missing gives the Pod up for a while, and the step for good where nodes never come.
func (s *Step) missing(there int) *outcome {
	s.missed++
	reason := report.PeersMissing(there, s.Job.Nodes, s.Site.StartLimit.Duration)
	if s.missed < missingLimits {
		return returned(reason)
	}
	return failed(reason)
}

// unless is the outcome of a Pod that went away before the start, unless the others have seen
// all run: then they have started.
func (s *Step) unless(reason string) *outcome {
	if s.othersStarted() {
		return failed(reason)
	}
	return returned(reason)
}

// missingOf is a node that was seen and is no longer there, or -1.
func missingOf(seen, now map[int]*corev1.Pod) int {
	for node := range seen {
		if now[node] == nil {
			return node
		}
	}
	return -1
}

// byNode sorts Pods that may run by their number in the step. In the place of a seat stands the
// Pod that it is in, once that is there.
func byNode(pods []*corev1.Pod) map[int]*corev1.Pod {
	nodes := map[int]*corev1.Pod{}
	for _, pod := range pods {
		number, err := strconv.Atoi(pod.Labels[wellknown.LabelNodeID])
		if err != nil || !mayRun(pod) {
			continue
		}
		nodes[number] = pod
		if podspec.IsSeat(pod) {
			if script := scriptOn(pods, pod.Labels[wellknown.LabelNode]); script != nil {
				nodes[number] = script
			}
		}
	}
	return nodes
}

func mayRun(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !podstatus.Over(pod) }

// scriptOn is the Pod of the job's script on that Slurm node, or nil.
func scriptOn(pods []*corev1.Pod, node string) *corev1.Pod {
	for _, pod := range pods {
		if pod.Labels[wellknown.LabelStep] == wellknown.StepBatch && pod.Labels[wellknown.LabelNode] == node && mayRun(pod) {
			return pod
		}
	}
	return nil
}

// countRunning counts the Pods whose containers run.
func countRunning(nodes map[int]*corev1.Pod) int {
	count := 0
	for _, pod := range nodes {
		if podstatus.Read(pod).State == podstatus.Running {
			count++
		}
	}
	return count
}

func addressesOf(nodes map[int]*corev1.Pod, count int) []string {
	addresses := make([]string, count)
	for node := range addresses {
		if pod := nodes[node]; pod != nil {
			addresses[node] = pod.Status.PodIP
		}
	}
	return addresses
}
