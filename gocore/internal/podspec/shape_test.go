// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

const gib = int64(1) << 30

var shapes = Shapes{Shapes: []Shape{
	{CPU: 64000, Memory: 256 * gib, Count: 4},
	{CPU: 16000, Memory: 64 * gib, Resources: map[string]int64{"nvidia.com/gpu": 4}, Count: 2},
}}

func TestHolds(t *testing.T) {
	gpu := func(n int64) map[string]int64 { return map[string]int64{"nvidia.com/gpu": n} }
	for _, c := range []struct {
		request Request
		why     string
	}{
		{Request{CPUMilli: 64000, Memory: 256 * gib}, ""},
		{Request{CPUMilli: 16000, Resources: gpu(4)}, ""},
		{Request{CPUMilli: 65000}, "no node has 65 cpus (the largest has 64 cpus)"},
		{Request{CPUMilli: 1000, Memory: 257 * gib}, "no node has 257 GiB of memory (the largest has 256 GiB)"},
		{Request{CPUMilli: 1000, Resources: gpu(8)}, "no node has 8 nvidia.com/gpu (the most is 4)"},
		{Request{CPUMilli: 1000, Resources: map[string]int64{"x.y/z": 1}}, "no node has 1 x.y/z (the most is 0)"},
		{Request{CPUMilli: 32000, Memory: gib, Resources: gpu(1)}, "no one node has 32 cpus, 1 GiB of memory and 1 nvidia.com/gpu together"},
		{Request{CPUMilli: 65000, Resources: gpu(8)}, "no node has 65 cpus (the largest has 64 cpus), nor 8 nvidia.com/gpu (the most is 4)"},
	} {
		holds, why := shapes.Holds(c.request)
		assert.Equal(t, c.why == "", holds, c.request)
		assert.Equal(t, c.why, why)
	}
	holds, _ := Shapes{}.Holds(Request{CPUMilli: 1 << 40})
	assert.True(t, holds, "nothing is known")
	elastic := shapes
	elastic.Autoscaler = true
	holds, _ = elastic.Holds(Request{CPUMilli: 1 << 40})
	assert.True(t, holds)
}

// labelled: as the collector publishes where the site's table names the label gpu.
var labelled = Shapes{Labels: []string{"gpu"}, Shapes: []Shape{
	{CPU: 64000, Memory: 256 * gib, Count: 4},
	{CPU: 16000, Memory: 64 * gib, Labels: map[string]string{"gpu": "a100"}, Count: 2},
}}

func TestHoldsByLabels(t *testing.T) {
	for _, c := range []struct {
		labels site.NodeLabels
		cpus   int64
		why    string
	}{
		{nil, 64, ""},
		{site.NodeLabels{"gpu": {"v100", "a100"}}, 16, ""},
		{site.NodeLabels{"other": {"x"}}, 64, ""}, // nothing is known of it
		{site.NodeLabels{"gpu": {"a100"}}, 17, "no node has 17 cpus (the largest has 16 cpus)"},
		{site.NodeLabels{"gpu": {"h100"}}, 1, "no node is labelled gpu=h100"},
	} {
		holds, why := labelled.Holds(Request{CPUMilli: c.cpus * 1000, Labels: c.labels})
		assert.Equal(t, c.why == "", holds, c.labels)
		assert.Equal(t, c.why, why)
	}
	old := labelled
	old.Labels = nil
	holds, _ := old.Holds(Request{CPUMilli: 1000, Labels: site.NodeLabels{"gpu": {"h100"}}})
	assert.True(t, holds, "published by an older collector")
}

func TestClampToLabelledNodes(t *testing.T) {
	r := Request{CPUMilli: 128000, Memory: gib, Labels: site.NodeLabels{"gpu": {"a100"}}, RuntimeClass: "nvidia"}
	clamped, cut, err := Clamp(r, labelled, site.Reserve{CPU: "1"})
	require.NoError(t, err)
	assert.True(t, cut)
	r.CPUMilli = 15000
	assert.Empty(t, cmp.Diff(r, clamped))
}

func TestClamp(t *testing.T) {
	reserve := site.Reserve{CPU: "500m", Memory: "1Gi"}
	for name, c := range map[string]struct {
		request, want Request
		cut           bool
	}{
		"fits":         {Request{CPUMilli: 63000, Memory: 255 * gib}, Request{CPUMilli: 63000, Memory: 255 * gib}, false},
		"cpus":         {Request{CPUMilli: 128000, Memory: gib}, Request{CPUMilli: 63000, Memory: gib}, true},
		"both":         {Request{CPUMilli: 128000, Memory: 512 * gib}, Request{CPUMilli: 63000, Memory: 255 * gib}, true},
		"into reserve": {Request{CPUMilli: 64000, Memory: gib}, Request{CPUMilli: 63000, Memory: gib}, true},
		"with gpus": {Request{CPUMilli: 128000, Memory: 512 * gib, Resources: map[string]int64{"nvidia.com/gpu": 2}},
			Request{CPUMilli: 15000, Memory: 63 * gib, Resources: map[string]int64{"nvidia.com/gpu": 2}}, true},
		"gpus nobody has": {Request{CPUMilli: 128000, Resources: map[string]int64{"nvidia.com/gpu": 9}},
			Request{CPUMilli: 128000, Resources: map[string]int64{"nvidia.com/gpu": 9}}, false},
	} {
		got, cut, err := Clamp(c.request, shapes, reserve)
		require.NoError(t, err)
		assert.Equal(t, c.cut, cut, name)
		assert.Empty(t, cmp.Diff(c.want, got), name)
	}
	tiny, cut, err := Clamp(Request{CPUMilli: 4000, Memory: 4 * gib}, Shapes{Shapes: []Shape{{CPU: 1200, Memory: gib, Count: 1}}}, reserve)
	require.NoError(t, err)
	assert.True(t, cut)
	assert.Equal(t, Request{CPUMilli: leastCPU, Memory: leastMemory}, tiny)
	_, _, err = Clamp(Request{}, shapes, site.Reserve{CPU: "much"})
	assert.ErrorContains(t, err, `resources.reserve.cpu: "much"`)
}

func TestEncodeShapes(t *testing.T) {
	s := Shapes{Autoscaler: true, At: time.Unix(1700000000, 5), Shapes: []Shape{
		shapes.Shapes[1], shapes.Shapes[0], {CPU: 64000, Memory: 256 * gib, Count: 1}, {CPU: 1, Count: 0},
	}}
	text, err := EncodeShapes(s)
	require.NoError(t, err)
	assert.Equal(t, `{"v":1,"autoscaler":true,"at":"2023-11-14T22:13:20Z","shapes":[`+
		`{"cpu":16000,"memory":68719476736,"resources":{"nvidia.com/gpu":4},"count":2},{"cpu":64000,"memory":274877906944,"count":5}]}`, string(text))
	got, err := ParseShapes(text)
	require.NoError(t, err)
	assert.True(t, got.Same(s))
	later := got
	later.At = time.Now()
	assert.True(t, got.Same(later))
	later.Autoscaler = false
	assert.False(t, got.Same(later))
	for text, want := range map[string]string{
		"": "cannot be read", "{}": "version 0", `{"v":2}`: "version 2", `{"v":1,"shapes":[{"cpu":-1}]}`: "negative",
	} {
		_, err := ParseShapes([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

func FuzzParseShapes(f *testing.F) {
	text, err := EncodeShapes(shapes)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"v":1,"shapes":[{"cpu":1,"count":9223372036854775807},{"cpu":1,"count":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseShapes(data)
		if err != nil {
			return
		}
		s.Holds(Request{CPUMilli: 1000, Memory: 1, Resources: map[string]int64{"a/b": 1}})
		_, _, err = Clamp(Request{CPUMilli: 1 << 50, Memory: 1 << 50}, s, site.Reserve{CPU: "1", Memory: "1Gi"})
		require.NoError(t, err)
	})
}

func TestRequestText(t *testing.T) {
	assert.Equal(t, "1 cpu", Request{CPUMilli: 1000}.String())
	assert.Equal(t, "0.5 cpus and 1 MiB of memory", Request{CPUMilli: 500, Memory: mebibyte}.String())
	assert.Equal(t, "10 cpus", Request{CPUMilli: 10000}.String())
}
