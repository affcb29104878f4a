// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// isStorage tells a volume of the site's, or one made for the job, by the Pod's name of it.
func isStorage(name string) bool {
	return name == volumeClaim || strings.HasPrefix(name, volumeSite)
}

// HasStorage tells whether a Pod has all that a step asks for in volumes, at the same places: so
// that the step may run in it. The site's defaults every Pod has as its own time had them.
func HasStorage(pod *corev1.Pod, in Input) bool {
	if len(in.Job.Options.Mounts) == 0 && in.Job.Options.Claim == nil {
		return true
	}
	storage, err := StorageFor(in.Job.Options, whoIs(in.Job), in.Site, in.Directory)
	if err != nil {
		return false // the step's own Pod says it
	}
	wanted := corev1.PodSpec{Containers: make([]corev1.Container, 1)}
	storage.forJob(in.Job).add(&wanted, "")
	for _, m := range wanted.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(has corev1.VolumeMount) bool {
			return has.Name == m.Name && has.MountPath == m.MountPath && has.ReadOnly == m.ReadOnly
		}) {
			return false
		}
	}
	return storage.claim == nil || slices.ContainsFunc(pod.Spec.Volumes, func(has corev1.Volume) bool {
		return sameClaim(has, *storage.claim)
	})
}

// sameClaim compares what is there with what is wanted, whose class may be left to Kubernetes.
func sameClaim(has, wanted corev1.Volume) bool {
	if has.Name != wanted.Name {
		return false
	}
	if wanted.PersistentVolumeClaim != nil {
		return has.PersistentVolumeClaim != nil && has.PersistentVolumeClaim.ClaimName == wanted.PersistentVolumeClaim.ClaimName
	}
	if has.Ephemeral == nil || has.Ephemeral.VolumeClaimTemplate == nil {
		return false
	}
	a, b := has.Ephemeral.VolumeClaimTemplate.Spec, wanted.Ephemeral.VolumeClaimTemplate.Spec
	size := b.Resources.Requests[corev1.ResourceStorage]
	if a.Resources.Requests.Storage().Cmp(size) != 0 {
		return false
	}
	return b.StorageClassName == nil || a.StorageClassName != nil && *a.StorageClassName == *b.StorageClassName
}
