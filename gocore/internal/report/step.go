// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

// What srun says of a step that waits, or does not start.

// StepStarts is StepWaiting's kind of a Pod whose status does not say what it waits for.
const StepStarts = "start"

// StepWaiting says why the Pod of a step does not run yet, and what kind of reason that is,
// since the words change with every Pod of the cluster. "": there is nothing to say.
func StepWaiting(pod string, r podstatus.Reading) (kind, text string) {
	switch {
	case r.State == podstatus.Unscheduled:
		text = Waiting(pod, r)
		kind = "room"
		if r.Nominated {
			kind = "preemption"
		}
	case r.StartFault != nil:
		return kinds[r.StartFault.Kind], Waiting(pod, r)
	case r.State == podstatus.Starting:
		return StepStarts, StepStarting(pod, r, nil)
	}
	return kind, text
}

// slow are the reasons of kubelet's events (k8s.io/kubernetes/pkg/kubelet/events) that say what
// takes its time; others are said beside them.
var slow = []string{
	"Pulling", "BackOff", "Failed", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "NetworkNotReady",
}

// StepStarting says what a Pod on its node waits for: a pull or a mount stands in Events alone.
func StepStarting(pod string, r podstatus.Reading, events []corev1.Event) string {
	words := r.Waiting
	events = slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool { return !slices.Contains(slow, e.Reason) })
	if e := newest(events); e != nil {
		words = podstatus.Words{Reason: e.Reason, Message: e.Message}
	}
	return line(wordsOf(words), "Pod %s is being started on Kubernetes node %s", pod, r.NodeName)
}

// StepOverlaps: the step has asked to share.
func StepOverlaps() string {
	return line("", "the step overlaps others: its Pod asks for no cpus and no GRES of its own")
}

// StepWaits: the step's Pod was given up before the start, and is made again.
func StepWaits(reason string, delay time.Duration) string {
	sentence, words := split(reason)
	return line(words, "%s; the next attempt is in %s", sentence, Pretty(delay))
}

// WaitsForPeers: this node's Pod runs, others of the step do not yet.
func WaitsForPeers(running, nodes int) string {
	return line("", "%d of the step's %d Pods run; it starts when all do", running, nodes)
}

// PeerGone: a Pod of another node of the step went away before the start.
func PeerGone(node int) string {
	return line("", "the Pod of the step's node %d went away before the start", node)
}

// NoPeers: Kubernetes does not let the step's Pods be watched.
func NoPeers(limit time.Duration) string {
	return line("", "the Pods of the step could not be watched for %s; slurmd's log has the reason", Pretty(limit))
}

// PeersMissing: nodes of the step have not made their Pods.
func PeersMissing(there, nodes int, limit time.Duration) string {
	return line("", "only %d of the step's %d nodes have made their Pods within %s: the others have said why, or their slurmd's log has it", there, nodes, Pretty(limit))
}
