// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"syscall"

	corev1 "k8s.io/api/core/v1"
)

// reasonPodGC is the DisruptionTarget of a Pod whose node is gone or out of service.
const reasonPodGC = "DeletionByPodGC"

// Ended tells whether it is certain that nothing of the Pod runs any more, so that the
// job may run again: at most once. That is: its container reads terminated; or it never
// had one and never will; or Kubernetes knows that its node is gone or out of service.
//
// A phase Failed beside a container that reads running is not enough: kubelet may not
// have said its last word.
func Ended(pod *corev1.Pod) bool {
	if pod == nil {
		return true
	}
	status := containerStatus(pod)
	switch {
	case hasTerminated(status):
		return true
	case !phaseOver(pod):
		return false
	case status == nil || status.State.Running == nil:
		return true
	}
	return disruption(pod).Reason == reasonPodGC
}

// disruption is what Kubernetes did to the Pod by no fault of the job's.
func disruption(pod *corev1.Pod) Words {
	for _, c := range pod.Status.Conditions {
		// PreemptionByScheduler, DeletionByTaintManager, EvictionByEvictionAPI,
		// DeletionByPodGC, TerminationByKubelet (eviction by the node, its shutdown).
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return Words{c.Reason, c.Message}
		}
	}
	switch pod.Status.Reason {
	case "Evicted", "NodeLost", "Shutdown", "NodeShutdown", "Terminated", "Preempting":
		return Words{pod.Status.Reason, pod.Status.Message}
	}
	return Words{}
}

// The node's own verdicts on a container's end (k8s.io/kubernetes/pkg/kubelet).
const (
	reasonOOM      = "OOMKilled"
	reasonDeadline = "DeadlineExceeded"
	// reasonUnknown: kubelet lost the container (reboot, sandbox gone); its code 137 is made up.
	reasonUnknown = "ContainerStatusUnknown"
)

// What containerd says of a container whose end it did not see (cri: internal/cri/server, unknownExitCode, unknownExitReason).
const (
	exitUnknown   = 255
	reasonNotSeen = "Unknown"
)

// KilledFromOutside tells whether podinit, which waited for its order to start, was killed or lost: by a
// restart of kubelet or containerd, by an administrator. Another Pod need not fare the same. Memory is another
// thing: the next one would run out of it, too.
func (e *End) KilledFromOutside() bool {
	switch {
	case e == nil || e.OOM || e.Deadline:
		return false
	case e.Lost || e.Code == exitUnknown:
		return true
	}
	return e.Signal == int(syscall.SIGKILL) || e.Signal == int(syscall.SIGTERM)
}

// maxSignal is Linux's last real-time signal.
const maxSignal = 64

func end(pod *corev1.Pod, status *corev1.ContainerStatus) *End {
	e := &End{
		Code:       -1,
		Deadline:   pod.Status.Reason == reasonDeadline,
		Disruption: disruption(pod),
		Deleted:    pod.DeletionTimestamp != nil,
		Words:      Words{pod.Status.Reason, pod.Status.Message},
		NodeName:   pod.Spec.NodeName,
	}
	t := termination(status)
	if t == nil {
		return e
	}
	e.Ran = t.Reason != reasonStartError && t.Reason != reasonCannotRun
	e.At = t.FinishedAt.Time
	e.OOM = t.Reason == reasonOOM
	e.Lost = t.Reason == reasonUnknown || t.ExitCode == exitUnknown && t.Reason == reasonNotSeen
	if !e.Deadline && !e.Disruption.Any() || !e.Words.Any() {
		e.Words = Words{t.Reason, t.Message}
	}
	if t.Reason == reasonUnknown {
		return e
	}
	e.Code = int(t.ExitCode)
	e.Signal = int(t.Signal)
	if e.Signal == 0 && e.Code > 128 && e.Code <= 128+maxSignal {
		e.Signal = e.Code - 128
	}
	if report, ok := ParseReport(t.Message); ok {
		if report.Told {
			e.Report = &report
		}
		e.Orphaned = report.Orphaned
		e.OOM = e.OOM || report.OOMKills > 0
		if e.Words.Message == t.Message {
			e.Words.Message = "" // podinit's words, not Kubernetes'
		}
	}
	return e
}
