// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

// APIRefused: Kubernetes refuses the Pod for good, by the rule in its words.
func APIRefused(err error) string {
	return line(podstatus.Rule(err), "Kubernetes refuses the Pod")
}

// APIUnreachable: no usable answer for so long.
func APIUnreachable(after time.Duration, err error) string {
	return line(faults(err), "Kubernetes cannot be reached for %s", Pretty(after))
}

// NoConnection: the Pod runs, but its stream could not be opened.
func NoConnection(err error) string {
	return line(faults(err), "the Pod runs but cannot be spoken to")
}

// BadStart: what the job is to start with can never be sent.
func BadStart(err error) string {
	return line(faults(err), "the job cannot be started in its Pod")
}

// BadStream: what came from the Pod cannot be trusted.
func BadStream(err error) string {
	return line(faults(err), "the stream from the Pod is broken")
}

// PutBack adds to a reason that the job goes back to PENDING, and for how long.
func PutBack(reason string, delay time.Duration) string {
	sentence, words := split(reason)
	if delay < time.Second {
		return line(words, "%s; the job goes back to PENDING", sentence)
	}
	return line(words, "%s; the job goes back to PENDING for %s", sentence, Pretty(delay))
}

// Requeued adds to a reason that the job, which had started, runs again.
func Requeued(reason string) string {
	sentence, words := split(reason)
	return line(words, "%s; the job is requeued", sentence)
}

// NotRequeued: Slurm did not put the job back.
func NotRequeued(err error) string {
	return line("", "the job could not be put back to PENDING, so it ends: %s", faults(err))
}

// split takes a line of this package apart.
func split(reason string) (sentence, words string) {
	sentence = strings.TrimPrefix(reason, Tag)
	if at := strings.Index(sentence, " ["); at >= 0 && strings.HasSuffix(sentence, "]") {
		return sentence[:at], sentence[at+2 : len(sentence)-1]
	}
	return sentence, ""
}
