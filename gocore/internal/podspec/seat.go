// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Seat makes of a step's Pod its seat: an object by which the step's other nodes see that this
// one takes part, in the Pod of the job's script. It is never scheduled, so that it takes no room;
// of a quota, the least that counts.
func Seat(pod *corev1.Pod) *corev1.Pod {
	seat := pod.DeepCopy()
	seat.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: wellknown.GateSeat}}
	least := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi")}
	seat.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: least, Limits: least.DeepCopy()}
	return seat
}

// IsSeat tells a seat from a Pod that is to run.
func IsSeat(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.SchedulingGates {
		if gate.Name == wellknown.GateSeat {
			return true
		}
	}
	return false
}
