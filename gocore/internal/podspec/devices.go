// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// visibleDevices is what NVIDIA's container runtime reads: the container's GPUs by their numbers.
const visibleDevices = "NVIDIA_VISIBLE_DEVICES"

// devices is the environment of the container itself, which is what its runtime reads: NVIDIA's
// gives every GPU of the node to an image that says NVIDIA_VISIBLE_DEVICES=all, unless the Pod
// says void. Where the Pod asks for GPUs the device plugin says which, or else Slurm has.
func (in Input) devices(request Request, place site.Place) ([]corev1.EnvVar, error) {
	chosen, err := in.chosenBySlurm(place)
	if err != nil {
		return nil, err
	}
	if chosen != "" {
		return []corev1.EnvVar{{Name: visibleDevices, Value: chosen}}, nil
	}
	for name := range request.Resources {
		if strings.HasPrefix(name, "nvidia.com/") || strings.Contains(name, "gpu") {
			return nil, nil
		}
	}
	return []corev1.EnvVar{{Name: visibleDevices, Value: "void"}}, nil
}

// chosenBySlurm are the step's GPUs where the site hands on Slurm's own choice; else "".
func (in Input) chosenBySlurm(place site.Place) (string, error) {
	var count int64
	for _, g := range in.Job.GRES {
		if entry, _ := in.Site.Resources.Of(g.Name, g.Type); entry.Devices == site.DevicesSlurm {
			count += g.Count
		}
	}
	switch {
	case count == 0:
		return "", nil
	case !place.Pinned:
		return "", fmt.Errorf("the GPUs that Slurm has chosen mean nothing on another node: this job's Pod would not stay on Slurm's node %q (placement.mode in k8s.yaml)", in.Job.Node)
	case int64(len(in.GPUs)) != count:
		return "", fmt.Errorf("which GPUs Slurm has chosen on node %q is not known (gres.conf must name them by File=)", in.Job.Node)
	}
	return job.FormatGPUs(in.GPUs), nil
}

// knowsGPUs tells whether all GPUs of a numbered step are known by their numbers. Those of a job's
// script slurmctld tells to everybody.
func (in Input) knowsGPUs() bool {
	var count int64
	for _, g := range in.Job.GRES {
		if g.Name == "gpu" {
			count += g.Count
		}
	}
	return !in.Job.IsBatch() && count > 0 && count == int64(len(in.GPUs))
}

// GPUs are the numbers on the Slurm node of the GPUs that a numbered step's Pod was made with, which
// Slurm tells nobody else; empty: it has none, or Slurm only counts them.
func GPUs(pod *corev1.Pod) []int { return job.ParseGPUs(pod.Annotations[wellknown.AnnotationGPUs]) }
