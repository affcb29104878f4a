// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// volumeSite begins the Pod's name of a volume of the site's. The policies know it.
const volumeSite = "site-"

// mount is one volume of the site's at its place.
type mount struct {
	name     string
	volume   site.Volume
	path     string
	readOnly bool
	option   bool // the job asked for it
}

// flag says whose the mount is, to begin a fault with.
func (m mount) flag() string {
	if m.option {
		return option.Flag(option.Mount)
	}
	return "volume of every job"
}

// whoIs is the job on its node, where everything of it is known.
func whoIs(j job.Job) site.Who {
	return site.Who{
		UID: &j.UID, GIDs: append([]uint32{j.GID}, j.Groups...),
		Accounts: []string{j.Account}, Partitions: []string{j.Partition},
	}
}

// Storage is what a job has beside its own container: what it asked for and the site's
// defaults that it may use, each judged by who the job is. Every fault is a line of the error.
type Storage struct {
	mounts []mount
	claim  *corev1.Volume
	at     string // where the claim is
}

// StorageFor works it out. It is the same at submission, where who has gaps, and on the node.
func StorageFor(options job.Options, who site.Who, config *site.Config, directory site.Directory) (Storage, error) {
	var s Storage
	var faults []error
	asked := map[string]bool{}
	for _, a := range options.Mounts {
		asked[a.Volume] = true
		m, err := askedMount(a, who, config, directory)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		s.mounts = append(s.mounts, m)
	}
	for _, name := range config.VolumeNames() {
		v := config.Volumes[name]
		if !bool(v.Default) || asked[name] {
			continue
		}
		verdict, _, err := v.Allows(who, directory)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("volume %q: %w", name, err))
		case verdict == site.Allowed:
			s.mounts = append(s.mounts, mount{name: name, volume: v, path: v.Mount, readOnly: v.ReadOnly})
		}
	}
	faults = append(faults, s.overlaps()...)
	faults = append(faults, s.addClaim(options.Claim, config)...)
	slices.SortStableFunc(s.mounts, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	return s, errors.Join(faults...)
}

func askedMount(a option.VolumeMount, who site.Who, config *site.Config, directory site.Directory) (mount, error) {
	flag := option.Flag(option.Mount)
	v, found := config.Volumes[a.Volume]
	if !found {
		var mine []string
		for _, name := range config.VolumeNames() {
			if verdict, _, err := config.Volumes[name].Allows(who, directory); err == nil && verdict != site.Refused {
				mine = append(mine, name)
			}
		}
		hint := "this site has none for you"
		if len(mine) > 0 {
			hint = "there are: " + strings.Join(mine, ", ")
		}
		return mount{}, fmt.Errorf("%s: no volume of this name: %q (%s)", flag, a.Volume, hint)
	}
	verdict, why, err := v.Allows(who, directory)
	switch {
	case err != nil:
		return mount{}, fmt.Errorf("%s: volume %q: %w", flag, a.Volume, err)
	case verdict == site.Refused:
		return mount{}, fmt.Errorf("%s: this job may not use the volume: %q (the site's %s for it say who may)", flag, a.Volume, why)
	}
	m := mount{name: a.Volume, volume: v, path: a.Path, readOnly: a.ReadOnly || v.ReadOnly, option: true}
	if m.path == "" {
		m.path = v.Mount
	}
	return m, nil
}

// overlaps are the mounts that cannot be together.
func (s *Storage) overlaps() []error {
	var faults []error
	for i, a := range s.mounts {
		for _, b := range s.mounts[:i] {
			if problem := site.MountsFault(a.path, b.path); problem != "" {
				one, other := a, b
				if !one.option { // the fault is that of what was asked for
					one, other, problem = b, a, site.MountsFault(b.path, a.path)
				}
				faults = append(faults, fmt.Errorf("%s: the mount point of volume %q %s that of volume %q: %q", one.flag(), one.name, problem, other.name, one.path))
			}
		}
	}
	return faults
}

// add puts them into the Pod.
func (s Storage) add(pod *corev1.PodSpec, pull corev1.PullPolicy) {
	c := &pod.Containers[0]
	seen := map[string]bool{}
	for _, m := range s.mounts {
		name := volumeSite + m.name
		if !seen[name] {
			pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: source(m.volume, pull)})
		}
		seen[name] = true
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: m.path, ReadOnly: m.readOnly || m.volume.Kind() == site.KindImage})
	}
	if s.claim != nil {
		pod.Volumes = append(pod.Volumes, *s.claim)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: s.claim.Name, MountPath: s.at})
	}
}

// source is a valid volume in Kubernetes' words.
func source(v site.Volume, pull corev1.PullPolicy) corev1.VolumeSource {
	switch v.Kind() {
	case site.KindPVC:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.PVC}}
	case site.KindNFS:
		return corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: v.NFS.Server, Path: v.NFS.Path, ReadOnly: v.ReadOnly}}
	case site.KindHostPath:
		// Never made where it lacks: a directory of root's on the node would hide that its file system is not mounted.
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: v.HostPath, Type: new(corev1.HostPathDirectory)}}
	case site.KindImage:
		return corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: v.Image, PullPolicy: pull}}
	case site.KindEmptyDir:
		size, _ := site.ParseQuantity(v.EmptyDir.Size) // checked by site.Validate
		dir := &corev1.EmptyDirVolumeSource{SizeLimit: &size}
		if v.EmptyDir.Memory {
			dir.Medium = corev1.StorageMediumMemory
		}
		return corev1.VolumeSource{EmptyDir: dir}
	case site.KindCSI:
		csi := &corev1.CSIVolumeSource{Driver: v.CSI.Driver, VolumeAttributes: v.CSI.Attributes, ReadOnly: new(v.ReadOnly)}
		if v.CSI.FSType != "" {
			csi.FSType = &v.CSI.FSType
		}
		if v.CSI.Secret != "" {
			csi.NodePublishSecretRef = &corev1.LocalObjectReference{Name: v.CSI.Secret}
		}
		return corev1.VolumeSource{CSI: csi}
	}
	return corev1.VolumeSource{}
}

// OnVolume tells whether a directory lies on a volume of the site's in the Pod, so that it must
// exist: a job that started somewhere else would write its files where nobody looks for them.
func OnVolume(pod *corev1.Pod, directory string) bool {
	if pod == nil {
		return false
	}
	for i := range pod.Spec.Containers {
		for _, m := range pod.Spec.Containers[i].VolumeMounts {
			if strings.HasPrefix(m.Name, volumeSite) && site.Below(directory, m.MountPath) {
				return true
			}
		}
	}
	return false
}
