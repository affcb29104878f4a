// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// volumeClaim is the Pod's name of the volume that is made for it; the claim's own is that of
// the Pod and this.
const volumeClaim = "claim"

// addClaim adds the job's own volume: a generic ephemeral one, so that Kubernetes makes the claim
// and removes it with the Pod, whatever becomes of us.
func (s *Storage) addClaim(asked *option.Claimed, config *site.Config) []error {
	if asked == nil {
		return nil
	}
	flag, rules := option.Flag(option.PVC), config.Claims
	if !rules.Allowed {
		return []error{fmt.Errorf("%s: this site does not offer it: %q", flag, asked.Size.String())}
	}
	var faults []error
	if most, err := resource.ParseQuantity(rules.MaxSize); err != nil || asked.Size.Cmp(most) > 0 {
		faults = append(faults, fmt.Errorf("%s: more than the site's %s: %q", flag, rules.MaxSize, asked.Size.String()))
	}
	class := asked.Class
	switch {
	case class == "" && len(rules.Classes) > 0:
		class = rules.Classes[0]
	case class != "" && len(rules.Classes) == 0:
		faults = append(faults, fmt.Errorf("%s: this site gives the cluster's default storage class alone: %q (leave the class out)", flag, class))
	case class != "" && !slices.Contains(rules.Classes, class):
		faults = append(faults, fmt.Errorf("%s: no storage class of this site: %q (there are: %s)", flag, class, strings.Join(rules.Classes, ", ")))
	}
	s.at = asked.Path
	if s.at == "" {
		s.at = rules.Path
	}
	for _, m := range s.mounts {
		if problem := site.MountsFault(s.at, m.path); problem != "" {
			faults = append(faults, fmt.Errorf("%s: the mount point %s that of volume %q: %q (give it another path, SIZE:PATH)", flag, problem, m.name, s.at))
		}
	}
	claim := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: asked.Size}},
	}
	if class != "" {
		claim.StorageClassName = &class
	}
	s.claim = &corev1.Volume{Name: volumeClaim, VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim}},
	}}
	return faults
}
