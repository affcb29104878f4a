// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// selectNodes writes labels into a Pod: one value as a nodeSelector, which is what people look
// for first, several as a required node affinity.
func selectNodes(spec *corev1.PodSpec, labels site.NodeLabels) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if values := labels[key]; len(values) == 1 {
			if spec.NodeSelector == nil {
				spec.NodeSelector = map[string]string{}
			}
			spec.NodeSelector[key] = values[0]
		} else {
			term := nodeTerm(spec)
			term.MatchExpressions = append(term.MatchExpressions, in(key, slices.Sorted(slices.Values(values))))
		}
	}
}

func in(key string, values []string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// nodeTerm is the one term of the Pod's required node affinity; it makes it.
func nodeTerm(spec *corev1.PodSpec) *corev1.NodeSelectorTerm {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 1)},
		}}
	}
	return &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]
}

// labelsOf reads what selectNodes wrote.
func labelsOf(spec *corev1.PodSpec) site.NodeLabels {
	var labels site.NodeLabels
	add := func(key string, values ...string) {
		if labels == nil {
			labels = site.NodeLabels{}
		}
		labels[key] = values
	}
	for key, value := range spec.NodeSelector {
		add(key, value)
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				add(e.Key, e.Values...)
			}
		}
	}
	return labels
}
