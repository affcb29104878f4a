// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// event is a change of a Pod.
type event struct {
	after time.Duration // the one before
	do    func(*corev1.Pod)
}

// starts is the good case.
func starts(pull time.Duration) []event {
	return []event{{10 * time.Millisecond, scheduled}, {20 * time.Millisecond, waits("ContainerCreating", "")}, {pull, runs}}
}

func scheduled(p *corev1.Pod) {
	p.Spec.NodeName = "k1"
	p.Status.Phase = corev1.PodPending
	p.Status.NominatedNodeName = ""
	p.Status.Conditions = nil
}

func container(p *corev1.Pod, state corev1.ContainerState) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: wellknown.ContainerName, State: state}}
}

func waits(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		container(p, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
	}
}

func runs(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	container(p, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
}

func ends(code int32, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		container(p, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}})
	}
}

func rejected(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, reason, "Pod was rejected: "+reason
	}
}

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		}}
	}
}

func nominated(p *corev1.Pod) { p.Status.NominatedNodeName = "k1" }

func disruption(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: "by the test",
		})
	}
}

// goes is a Pod that is gone at once, as by force.
func goes(p *corev1.Pod) { p.Name = "" }

// deleted is somebody's ordinary deletion.
func deleted(p *corev1.Pod) {
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: time.Now()}, new(int64(30))
}

const (
	full   = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
	never  = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	quotas = "exceeded quota: team-a, requested: cpu=1, used: cpu=4, limited: cpu=4"
)
