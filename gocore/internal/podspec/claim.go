// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// volumeClaim is the Pod's name of the volume of --k8s-pvc. One that is the Pod's alone has the name of
// the Pod and this.
const volumeClaim = "claim"

// addClaim adds the job's own volume. One that goes with the Pod is a generic ephemeral one, so that
// Kubernetes makes the claim and removes it with the Pod, whatever becomes of us; one that is kept
// is there before (KeptClaim).
func (s *Storage) addClaim(asked *option.Claimed, config *site.Config) []error {
	if asked == nil {
		return nil
	}
	flag, rules := option.Flag(option.PVC), config.Claims
	if !rules.Allowed {
		return []error{fmt.Errorf("%s: this site does not offer it: %q", flag, asked.String())}
	}
	faults := s.placeClaim(asked, rules.Path)
	if asked.Kept() && rules.Keep.Duration == 0 {
		faults = append(faults, fmt.Errorf("%s: this site keeps no volume of a job: %q", flag, asked.String()))
	}
	if asked.Of == 0 {
		faults = append(faults, claimFaults(asked, rules)...)
	}
	s.claim = &corev1.Volume{Name: volumeClaim}
	if asked.Kept() {
		s.claim.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{} // forJob names it
	} else {
		s.claim.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimSpec(*asked, rules)}}
	}
	return faults
}

// placeClaim says where it is mounted.
func (s *Storage) placeClaim(asked *option.Claimed, otherwise string) []error {
	if s.at = asked.Path; s.at == "" {
		s.at = otherwise
	}
	var faults []error
	for _, m := range s.mounts {
		if problem := site.MountsFault(s.at, m.path); problem != "" {
			faults = append(faults, fmt.Errorf("%s: the mount point %s that of volume %q: %q (give it another path, SIZE:PATH)", option.Flag(option.PVC), problem, m.name, s.at))
		}
	}
	return faults
}

// claimFaults are what of the volume that is to be made the site does not give.
func claimFaults(asked *option.Claimed, rules site.Claims) []error {
	flag := option.Flag(option.PVC)
	var faults []error
	if most, err := site.ParseQuantity(rules.MaxSize); err != nil || asked.Size.Cmp(most) > 0 {
		faults = append(faults, fmt.Errorf("%s: more than the site's %s: %q", flag, rules.MaxSize, asked.Size.String()))
	}
	switch {
	case asked.Class == "":
	case len(rules.Classes) == 0:
		faults = append(faults, fmt.Errorf("%s: this site gives the cluster's default storage class alone: %q (leave the class out)", flag, asked.Class))
	case !slices.Contains(rules.Classes, asked.Class):
		faults = append(faults, fmt.Errorf("%s: no storage class of this site: %q (there are: %s)", flag, asked.Class, strings.Join(rules.Classes, ", ")))
	}
	return faults
}

// claimSpec is the claim in Kubernetes' words.
func claimSpec(asked option.Claimed, rules site.Claims) corev1.PersistentVolumeClaimSpec {
	class := asked.Class
	if class == "" && len(rules.Classes) > 0 {
		class = rules.Classes[0]
	}
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: asked.Size}},
	}
	if class != "" {
		spec.StorageClassName = &class
	}
	return spec
}
