// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestPlaces(t *testing.T) {
	config := site.Default()
	names := func(cluster string) (names []string) {
		for _, place := range (Request{Options: map[string]string{"cluster": cluster}}).Places(config) {
			names = append(names, place.Kubernetes)
		}
		return names
	}
	assert.Equal(t, []string{""}, names(""), "a site that names none")
	config.Clusters = []site.Cluster{{Name: "a"}, {Name: "b"}}
	for asked, want := range map[string][]string{"": {"a"}, "b": {"b"}, "auto": {"a", "b"}, "moon": {""}} {
		assert.Equal(t, want, names(asked), asked)
	}
}

func TestShapesOf(t *testing.T) {
	a, b := &site.Config{Kubernetes: "a"}, &site.Config{Kubernetes: "b"}
	small, large := podspec.Shape{CPU: 1000, Memory: 1 << 30, Count: 1}, podspec.Shape{CPU: 8000, Memory: 1 << 30, Count: 1}
	read := func(sources map[string]Shapes) func(*site.Config) Shapes {
		return func(place *site.Config) Shapes { return sources[place.Kubernetes] }
	}
	both := ShapesOf([]*site.Config{a, b}, read(map[string]Shapes{"a": shapesOf(small), "b": shapesOf(large)}))
	shapes, err := both.Shapes(t.Context())
	require.NoError(t, err)
	holds, _ := shapes.Holds(podspec.Request{CPUMilli: 4000})
	assert.True(t, holds, "the second does")
	holds, _ = shapes.Holds(podspec.Request{CPUMilli: 9000})
	assert.False(t, holds, "neither does")
	assert.Nil(t, ShapesOf([]*site.Config{a, b}, read(map[string]Shapes{"a": shapesOf(small)})), "the second may")
	down := ShapesFunc(func(context.Context) (podspec.Shapes, error) { return podspec.Shapes{}, errFake })
	_, err = ShapesOf([]*site.Config{a, b}, read(map[string]Shapes{"a": shapesOf(small), "b": down})).Shapes(t.Context())
	assert.ErrorIs(t, err, errFake)
}
