// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// placeOf is the job's place by the site's rules and the user's own choice, which the site
// must let users have.
func placeOf(j job.Job, config *site.Config) (site.Place, error) {
	place, err := config.Placement.For(j.Partition, j.QOS, j.Account, j.Node)
	if err != nil || j.Options.NodeSelector == "" {
		return place, err
	}
	if err := option.CheckNodeSelector(j.Options.NodeSelector, config.Placement); err != nil {
		return site.Place{}, err
	}
	chosen, err := option.ParseNodeSelector(j.Options.NodeSelector)
	if err != nil {
		return site.Place{}, err
	}
	place.Labels, err = place.Labels.And(chosen)
	return place, err
}

// put writes a place into the Pod, but for its labels, which are part of the request. A
// spread counts the Pods of this step alone.
func put(pod *corev1.Pod, place site.Place) {
	pod.Spec.PriorityClassName = place.PriorityClass
	for _, t := range place.Tolerations {
		toleration := corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(t.Effect)}
		if t.Value != "" {
			toleration.Operator, toleration.Value = corev1.TolerationOpEqual, t.Value
		}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
	}
	step := map[string]string{}
	for _, label := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelCluster, wellknown.LabelStep} {
		step[label] = pod.Labels[label]
	}
	for _, s := range place.Spread {
		constraint := corev1.TopologySpreadConstraint{
			MaxSkew: max(s.MaxSkew, 1), TopologyKey: s.By, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: step},
		}
		if s.Required {
			constraint.WhenUnsatisfiable = corev1.DoNotSchedule
		}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, constraint)
	}
}
