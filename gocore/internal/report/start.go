// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

// wordsOf joins a reason and a message.
func wordsOf(w podstatus.Words) string {
	switch {
	case w.Message == "":
		return w.Reason
	case w.Reason == "" || strings.HasPrefix(w.Message, w.Reason):
		return w.Message
	}
	return w.Reason + ": " + w.Message
}

// Running says where the Pod is.
func Running(pod, node string) string {
	return line("", "Pod %s runs on Kubernetes node %s", pod, node)
}

// Waiting says why the Pod does not run yet; "" where there is nothing to say.
func Waiting(pod string, r podstatus.Reading) string {
	switch {
	case r.State == podstatus.Unscheduled && r.Unschedulable != "" && r.Nominated:
		return line(r.Unschedulable, "Pod %s waits for the room that Kubernetes makes for it", pod)
	case r.State == podstatus.Unscheduled && r.Unschedulable != "":
		return line(r.Unschedulable, "Pod %s waits for room in the cluster", pod)
	case r.State == podstatus.Starting && r.StartFault != nil:
		return line(wordsOf(r.Waiting), "Pod %s waits on Kubernetes node %s: %s", pod, r.NodeName, kinds[r.StartFault.Kind])
	}
	return ""
}

// NoRoom: the cluster is full, or a quota is; the words say which.
func NoRoom(words string) string { return line(words, "there is no room in the cluster now") }

// NotItsTurn: another job of this Slurm node was put back before for what this one wants, too.
func NotItsTurn(job uint32) string {
	return line("", "job %d was without room before and goes first", job)
}

// NeverFits: no node could ever hold the job.
func NeverFits(why, words string) string {
	return line(words, "the job can never run in this cluster: %s", why)
}

// Vanished: somebody removed the Pod before the job started.
func Vanished() string { return line("", "the Pod was removed before the job started") }

// StillThere: a Pod that never ran the job is not gone yet, and its name is needed.
func StillThere(pod string) string {
	return line("", "Pod %s is deleted but not gone yet; Kubernetes takes its time", pod)
}

// PredecessorAlive: an earlier run of the job may still be going on.
func PredecessorAlive(pod string) string {
	return line("", "Pod %s of an earlier run of the job is not known to have ended, so the job does not run again yet", pod)
}

// kinds are the sentences of podstatus.Kind.
var kinds = map[podstatus.Kind]string{
	podstatus.KindUnknown:       "the container cannot be started",
	podstatus.KindImageName:     "Kubernetes does not take the image's name",
	podstatus.KindImageAbsent:   "the image is not on the Kubernetes node, and the site does not let it be pulled",
	podstatus.KindImageNotFound: "the registry does not have the image",
	podstatus.KindImageDenied:   "the registry does not give the image to this cluster",
	podstatus.KindImagePlatform: "the image is not for the Kubernetes node's kind of processor",
	podstatus.KindImagePull:     "the image cannot be pulled",
	podstatus.KindConfig:        "the container cannot be configured",
	podstatus.KindCreate:        "the container cannot be created",
	podstatus.KindRejected:      "the Kubernetes node did not take the Pod",
	podstatus.KindNeverStarted:  "the Pod ran but was not told to start the job in time",
}

// CannotStart is a fault before the start.
func CannotStart(f *podstatus.StartFault) string {
	if f == nil {
		return line("", "%s", kinds[podstatus.KindUnknown])
	}
	return line(wordsOf(f.Words), "%s", kinds[f.Kind])
}

// EndedEarly: the Pod ended before the job's tasks were started in it.
func EndedEarly(e *podstatus.End) string {
	if e == nil {
		return line("", "the Pod ended before the job was started in it")
	}
	if e.OOM {
		return line(wordsOf(e.Words), "the Pod ran out of memory before the job was started in it")
	}
	return line(wordsOf(e.Words), "the Pod ended before the job was started in it")
}

// StartTimedOut: the start limit passed. What hung is in the status where it says so,
// else in the newest warning, since faults of mounts and networks show in Events only.
func StartTimedOut(limit time.Duration, r podstatus.Reading, events []corev1.Event) string {
	after := Pretty(limit)
	switch {
	case r.State == podstatus.Unscheduled && r.Unschedulable != "":
		return line(r.Unschedulable, "there was no room in the cluster for %s", after)
	case r.StartFault != nil:
		return line(wordsOf(r.StartFault.Words), "the Pod did not start within %s: %s", after, kinds[r.StartFault.Kind])
	}
	if e := lastWarning(events); e != nil {
		return line(wordsOf(podstatus.Words{Reason: e.Reason, Message: e.Message}), "the Pod did not start within %s", after)
	}
	return line(wordsOf(r.Waiting), "the Pod did not start within %s", after)
}

func lastWarning(events []corev1.Event) *corev1.Event {
	warnings := slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool { return e.Type != corev1.EventTypeWarning })
	return newest(warnings)
}

// newest is nil where there is none.
func newest(events []corev1.Event) *corev1.Event {
	if len(events) == 0 {
		return nil
	}
	e := slices.MaxFunc(events, func(a, b corev1.Event) int { return cmp.Compare(when(a).UnixNano(), when(b).UnixNano()) })
	return &e
}

// when an event was last seen: its producers fill different fields.
func when(e corev1.Event) time.Time {
	t := e.CreationTimestamp.Time
	for _, other := range []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time} {
		if other.After(t) {
			t = other
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(t) {
		t = e.Series.LastObservedTime.Time
	}
	return t
}
