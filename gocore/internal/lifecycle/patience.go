// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

const (
	// lastWords is what the stream gets to deliver after Kubernetes says that the container ended.
	lastWords = 5 * time.Second
	// lostLimit is what kubelet gets, beyond the Pod's grace period, to end a Pod that was
	// deleted. A node that is lost never does: its Pod stays Terminating and reads running.
	lostLimit = 30 * time.Second
)

// patience bounds the wait for a stream by what Kubernetes says of its Pod. Its owner reads
// over again after each call: an earlier bound replaces a later one.
type patience struct {
	clock clock.Clock
	until time.Time        // zero: there is no bound
	over  <-chan time.Time // nil: there is no bound
}

// saw takes a state of the Pod, nil: it is gone.
func (p *patience) saw(pod *corev1.Pod) {
	switch {
	case podstatus.Over(pod):
		p.within(lastWords)
	case pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil:
		p.within(time.Duration(*pod.DeletionGracePeriodSeconds)*time.Second + lostLimit)
	}
}

// within bounds the wait by d from now.
func (p *patience) within(d time.Duration) {
	until := p.clock.Now().Add(d)
	if p.until.IsZero() || until.Before(p.until) {
		p.until, p.over = until, p.clock.After(d)
	}
}
