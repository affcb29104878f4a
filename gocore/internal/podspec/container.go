// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const (
	volumePodinit = "podinit"
	volumeRun     = "run"
	volumeShm     = "shm"
	// runSize bounds the emptyDir in memory: podinit's socket and the script.
	runSize = "32Mi"
	// executable: podinit may be read and run by the job's user, and written by nobody.
	executable = int32(0o555)
)

// container is the step's one container: podinit as process 1. It has no args and no
// workingDir, which runc would make as root where the image lacks it.
func container(in Input, image string, request Request, shm *resource.Quantity, env []corev1.EnvVar) corev1.Container {
	resources := request.list()
	mounts := []corev1.VolumeMount{
		{Name: volumePodinit, MountPath: wellknown.PodinitDirectory, ReadOnly: true},
		{Name: volumeRun, MountPath: wellknown.RunDirectory},
	}
	if shm != nil {
		mounts = append(mounts, corev1.VolumeMount{Name: volumeShm, MountPath: "/dev/shm"})
	}
	return corev1.Container{
		Name:  wellknown.ContainerName,
		Image: image,
		Command: append([]string{wellknown.PodinitPath, "init", "--session=" + Session(in.Session)},
			wellknown.PodinitLimits(in.Site.OrphanTimeout.Duration, in.startTimeout())...),
		Env:                      env,
		Resources:                corev1.ResourceRequirements{Requests: resources, Limits: resources.DeepCopy()},
		ImagePullPolicy:          corev1.PullPolicy(in.Site.Pod.PullPolicy),
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		VolumeMounts:             mounts,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// startTimeout is how long podinit waits for the start. That of a step on several nodes comes
// when the last of its Pods runs.
func (in Input) startTimeout() time.Duration {
	limit := in.Site.StartLimit.Duration
	if in.Job.IsBatch() || in.Job.Nodes < 2 {
		return limit
	}
	return max(2*limit, in.Site.Gate.WaitMax.Duration+limit)
}

// shmSize is the site's for /dev/shm; nil: the runtime's own.
func shmSize(config *site.Config, request Request) (*resource.Quantity, error) {
	size, err := config.Pod.ShmBytes(request.Memory)
	if err != nil {
		return nil, fmt.Errorf("pod.shm_size: %w", err)
	}
	if size == 0 {
		return nil, nil
	}
	return resource.NewQuantity(size, resource.BinarySI), nil
}

func volumes(podinit string, shm *resource.Quantity) []corev1.Volume {
	list := []corev1.Volume{
		{Name: volumePodinit, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: podinit},
			Items:                []corev1.KeyToPath{{Key: wellknown.PodinitKey, Path: wellknown.PodinitKey}},
			DefaultMode:          new(executable),
		}}},
		inMemory(volumeRun, resource.MustParse(runSize)),
	}
	if shm != nil {
		list = append(list, inMemory(volumeShm, *shm))
	}
	return list
}

func inMemory(name string, size resource.Quantity) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: &size,
	}}}
}

// podSecurity is the restricted profile with the user's own ids. Strict: else the image's
// /etc/group could put the uid into any group.
func podSecurity(j job.Job) *corev1.PodSecurityContext {
	groups := make([]int64, 0, len(j.Groups))
	for _, g := range j.Groups {
		groups = append(groups, int64(g))
	}
	return &corev1.PodSecurityContext{
		RunAsUser:                new(int64(j.UID)),
		RunAsGroup:               new(int64(j.GID)),
		RunAsNonRoot:             new(true),
		SupplementalGroups:       groups,
		SupplementalGroupsPolicy: new(corev1.SupplementalGroupsPolicyStrict),
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}
