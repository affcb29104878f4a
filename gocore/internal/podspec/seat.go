// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Seat makes of a step's Pod its seat: an object by which the step's other nodes see that this
// one takes part, in the Pod of the job's script. It is never scheduled, so that it takes no room;
// of a quota, the least that counts. It has no volumes of the site's, and none is made for it.
func Seat(pod *corev1.Pod) *corev1.Pod {
	seat := pod.DeepCopy()
	seat.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: wellknown.GateSeat}}
	seat.Spec.Volumes = slices.DeleteFunc(seat.Spec.Volumes, func(v corev1.Volume) bool { return isStorage(v.Name) })
	c := &seat.Spec.Containers[0]
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return isStorage(m.Name) })
	least := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi")}
	c.Resources = corev1.ResourceRequirements{Requests: least, Limits: least.DeepCopy()}
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
