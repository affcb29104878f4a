// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

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
