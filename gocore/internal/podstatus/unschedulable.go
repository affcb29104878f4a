// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// verdict is kube-scheduler's: its message, and whether it hints that the Pod can never
// fit. SchedulerError and SchedulingGated are no verdicts.
func verdict(pod *corev1.Pod) (message string, neverFits bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			message = c.Message
			if message == "" {
				message = c.Reason
			}
			return message, preemptionUseless(message)
		}
	}
	return "", false
}

// preemptionPart is the second half of the message (k8s.io/kubernetes 1.37,
// pkg/scheduler/framework/preemption):
//
//	0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available:
//	2 Preemption is not helpful for scheduling.
//
// A node says so where even empty it could not hold the Pod; one that others fill says
// "No preemption victims found for incoming pod".
var preemptionPart = regexp.MustCompile(`preemption: 0/([0-9]+) nodes are available: ([0-9]+) Preemption is not helpful for scheduling\.?\s*$`)

// insufficient is the first half where resources, and not taints, are what is missing.
var insufficient = regexp.MustCompile(`\b[0-9]+ (?:Insufficient ([^\s,]+)|(Too many pods))`)

// Lacking is the resources, by Kubernetes' names, that kube-scheduler's message says are
// short on some node. The words are those of its plugin NodeResourcesFit.
func Lacking(message string) []string {
	var names []string
	before, _, _ := strings.Cut(message, "preemption:")
	for _, m := range insufficient.FindAllStringSubmatch(before, -1) {
		name := strings.TrimRight(m[1], ".")
		if m[2] != "" {
			name = string(corev1.ResourcePods)
		}
		names = append(names, name)
	}
	return names
}

func preemptionUseless(message string) bool {
	m := preemptionPart.FindStringSubmatch(message)
	if m == nil || m[1] != m[2] {
		return false
	}
	if nodes, err := strconv.Atoi(m[1]); err != nil || nodes == 0 {
		return false
	}
	before, _, _ := strings.Cut(message, "preemption:")
	return insufficient.MatchString(before)
}
