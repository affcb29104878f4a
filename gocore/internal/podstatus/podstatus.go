// SPDX-License-Identifier: Apache-2.0

// Package podstatus reads a Pod's status: where it is in its life, why it waits, how it
// ended and whose doing that was. Pure. One place decides what is final.
//
// The container's status goes before the Pod's phase, which may say Running for a second
// after the end; what Kubernetes did to the Pod goes before its exit code.
package podstatus

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// State is where a Pod is in its life.
type State int

// A Pod only goes forward through these.
const (
	Unscheduled State = iota // no node was chosen
	Starting                 // a node was chosen; pulls, mounts, creation
	Running                  // the container runs
	Terminated               // the container ended, or will never run
	Gone                     // there is no Pod
)

func (s State) String() string {
	if s < Unscheduled || s > Gone {
		return "unknown"
	}
	return [...]string{"unscheduled", "starting", "running", "terminated", "gone"}[s]
}

// Reading is what a Pod's status says.
type Reading struct {
	State    State
	NodeName string
	// Unschedulable is the scheduler's message; "" without its verdict.
	Unschedulable string
	// Nominated: the scheduler makes room on a node by preemption; no verdict meanwhile.
	Nominated bool
	// NeverFits: the scheduler hints that no preemption on any node would help. Taints and
	// cordons say the same, so it is to be confirmed against the node shapes.
	NeverFits bool
	// Waiting is why the container does not run yet, in kubelet's words.
	Waiting Words
	// StartFault is why the container did not start; nil: no fault so far.
	StartFault *StartFault
	// Disruption is what Kubernetes does to the Pod by no fault of the job's; set while it
	// still runs, too.
	Disruption Words
	// Deleting: the Pod's deletion was asked for, by whomever.
	Deleting bool
	// End is set where State is Terminated or Gone.
	End *End
}

// Words are a reason in CamelCase and a message, both Kubernetes' own.
type Words struct {
	Reason, Message string
}

// Any tells whether there are words.
func (w Words) Any() bool { return w != Words{} }

// End is how the Pod ended.
type End struct {
	// Ran: the container started, whether or not the user's tasks did.
	Ran bool
	// Code is the container's exit code, -1 where Kubernetes does not know it.
	Code int
	// Signal that ended it, 0: none. Of podinit it is what the code says (128 and it).
	Signal int
	// OOM: Kubernetes says that memory ran out.
	OOM bool
	// Report is podinit's own of the tasks, from the termination message; nil: it left none.
	Report *Report
	// Orphaned: podinit ended the tasks, since no core had spoken to it for orphan_timeout.
	Orphaned bool
	// Deadline: activeDeadlineSeconds, the outermost net, ended it.
	Deadline bool
	// Lost: the node does not know any more how the container ended, since it was started anew or set up again.
	Lost bool
	// Disruption is Reading's.
	Disruption Words
	// Deleted: somebody asked for the deletion, or the Pod is gone.
	Deleted bool
	// Words of the container's end, or of the Pod's where the container has none.
	Words    Words
	NodeName string
	At       time.Time // zero: unknown
}

// Read reads a Pod; nil is one that is gone. It never panics.
func Read(pod *corev1.Pod) Reading {
	if pod == nil {
		return Reading{State: Gone, Deleting: true, End: &End{Code: -1, Deleted: true}}
	}
	status := containerStatus(pod)
	r := Reading{
		State:      state(pod, status),
		NodeName:   pod.Spec.NodeName,
		Nominated:  pod.Status.NominatedNodeName != "",
		Disruption: disruption(pod),
		Deleting:   pod.DeletionTimestamp != nil,
	}
	switch r.State {
	case Unscheduled:
		r.Unschedulable, r.NeverFits = verdict(pod)
	case Starting:
		r.Waiting = waiting(status)
		r.StartFault = waitingFault(r.Waiting, image(pod))
	case Terminated:
		r.End = end(pod, status)
		r.StartFault = endedFault(pod, status)
	}
	return r
}

// ReadGone reads the last state seen of a Pod that is gone: what Kubernetes did to it
// before is still why.
func ReadGone(last *corev1.Pod) Reading {
	r := Read(last)
	r.State, r.Deleting = Gone, true
	if r.End == nil {
		r.End = &End{Code: -1, NodeName: r.NodeName, Disruption: r.Disruption}
	}
	r.End.Deleted = true
	return r
}

// state: containers before phase.
func state(pod *corev1.Pod, status *corev1.ContainerStatus) State {
	switch {
	case hasTerminated(status):
		return Terminated
	case phaseOver(pod):
		return Terminated
	case status != nil && status.State.Running != nil:
		return Running
	case pod.Spec.NodeName == "":
		return Unscheduled
	}
	return Starting
}

// containerStatus is that of our container, or nil.
func containerStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == wellknown.ContainerName {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

// hasTerminated: with restartPolicy Never an earlier termination is the end, too; kubelet
// shows it beside "waiting" where the sandbox was lost.
func hasTerminated(status *corev1.ContainerStatus) bool {
	return termination(status) != nil
}

func termination(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case status == nil:
		return nil
	case status.State.Terminated != nil:
		return status.State.Terminated
	case status.State.Running == nil:
		return status.LastTerminationState.Terminated
	}
	return nil
}

func phaseOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func image(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == wellknown.ContainerName {
			return pod.Spec.Containers[i].Image
		}
	}
	return ""
}

func waiting(status *corev1.ContainerStatus) Words {
	if status == nil || status.State.Waiting == nil {
		return Words{}
	}
	return Words{status.State.Waiting.Reason, status.State.Waiting.Message}
}

// Over tells whether nothing more will come from the Pod's container; nil Pod: it is gone.
func Over(pod *corev1.Pod) bool {
	return pod == nil || hasTerminated(containerStatus(pod)) || phaseOver(pod)
}
