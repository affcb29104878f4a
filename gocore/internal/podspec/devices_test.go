// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Who joins a step's container is told by its Pod alone which of Slurm's GPUs are in it.
func TestGPUsOfAStep(t *testing.T) {
	gpus := func(change func(*Input)) []int {
		pod, err := Build(input(func(in *Input) {
			in.Job.Step, in.Job.GRES, in.GPUs = "3", []job.GRES{{Name: "gpu", Type: "a", Count: 1}, {Name: "gpu", Count: 2}}, []int{0, 2, 5}
			change(in)
		}))
		require.NoError(t, err)
		return GPUs(pod)
	}
	assert.Equal(t, []int{0, 2, 5}, gpus(func(*Input) {}))
	assert.Empty(t, gpus(func(in *Input) { in.Job.Step = wellknown.StepBatch }), "slurmctld tells")
	assert.Empty(t, gpus(func(in *Input) { in.GPUs = in.GPUs[1:] }), "not all are known")
	assert.Empty(t, gpus(func(in *Input) { in.Job.GRES = nil }), "its container has none")
	assert.Empty(t, GPUs(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{wellknown.AnnotationGPUs: "0,x"}}}))
}

func TestSlurmsOwnChoice(t *testing.T) {
	build := func(change func(*Input)) (string, error) {
		pod, err := Build(input(func(in *Input) {
			in.Site.Resources.GRES = map[string]site.GRES{"gpu": {Devices: site.DevicesSlurm}, "shard": {Resource: "example.com/shard"}}
			in.Site.Placement.Mode = site.PlaceNode
			in.Job.GRES, in.GPUs = []job.GRES{{Name: "gpu", Type: "a", Count: 2}, {Name: "shard", Count: 1}}, []int{0, 2}
			if change != nil {
				change(in)
			}
		}))
		if err != nil {
			return "", err
		}
		require.Len(t, pod.Spec.Containers[0].Env, 1)
		require.Equal(t, "NVIDIA_VISIBLE_DEVICES", pod.Spec.Containers[0].Env[0].Name)
		return pod.Spec.Containers[0].Env[0].Value, nil
	}
	value, err := build(nil)
	require.NoError(t, err)
	assert.Equal(t, "0,2", value)

	value, err = build(func(in *Input) { in.Job.GRES = in.Job.GRES[1:] })
	require.NoError(t, err)
	assert.Equal(t, "void", value, "a job without GPUs has none, whatever the node has")

	_, err = build(func(in *Input) { in.GPUs = nil })
	assert.ErrorContains(t, err, `which GPUs Slurm has chosen on node "n1" is not known (gres.conf must name them by File=)`)
	_, err = build(func(in *Input) { in.GPUs = []int{0, 1, 2} })
	assert.ErrorContains(t, err, "is not known")
	_, err = build(func(in *Input) { in.Site.Placement.Mode = site.PlaceCluster })
	assert.ErrorContains(t, err, `this job's Pod would not stay on Slurm's node "n1"`)
}
