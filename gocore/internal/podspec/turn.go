// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Turn is what a step waits for that goes first: later steps must not take it.
type Turn struct {
	Job    uint32          `json:"job"`
	Lacks  []string        `json:"lacks"` // resources, by Kubernetes' names
	Labels site.NodeLabels `json:"labels,omitempty"`
}

// Bars tells whether a Pod with this request could take what the turn is for: one of the
// resources, on a node that both may have.
func (t Turn) Bars(r Request) bool {
	_, apart := t.Labels.And(r.Labels)
	return apart == nil && slices.ContainsFunc(t.Lacks, r.wants)
}

func (r Request) wants(resource string) bool {
	switch corev1.ResourceName(resource) {
	case corev1.ResourcePods: // a place on the node
		return true
	case corev1.ResourceCPU:
		return r.CPUMilli > 0
	case corev1.ResourceMemory:
		return r.Memory > 0
	}
	return r.Resources[resource] > 0
}
