// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
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
	numbers := make([]string, len(in.GPUs))
	for i, gpu := range in.GPUs {
		numbers[i] = strconv.Itoa(gpu)
	}
	return strings.Join(numbers, ","), nil
}
