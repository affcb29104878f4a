// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestSeat(t *testing.T) {
	pod, err := Build(input(func(in *Input) { in.Job.Step, in.Job.NodeID, in.Job.Nodes = "3", 1, 2 }))
	require.NoError(t, err)
	seat := Seat(pod)
	assert.True(t, IsSeat(seat))
	assert.False(t, IsSeat(pod), "the Pod itself is as it was")
	assert.Equal(t, pod.ObjectMeta, seat.ObjectMeta, "the step's other nodes find it as they find a Pod")
	resources := seat.Spec.Containers[0].Resources
	assert.Equal(t, resource.MustParse("1m"), resources.Requests["cpu"])
	assert.Equal(t, resources.Requests, resources.Limits)
	assert.NotEqual(t, pod.Spec.Containers[0].Resources, resources)
	golden(t, "seat", seat)
}

func TestSeatHasNoVolumeMadeForIt(t *testing.T) {
	pod, err := Build(withVolumes(t, "sets", "1Gi:/scratch", nil))
	require.NoError(t, err)
	for _, v := range Seat(pod).Spec.Volumes {
		assert.False(t, isStorage(v.Name), v.Name)
	}
	for _, m := range Seat(pod).Spec.Containers[0].VolumeMounts {
		assert.False(t, isStorage(m.Name), m.Name)
	}
}
