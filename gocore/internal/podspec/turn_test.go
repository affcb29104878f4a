// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestTurnBars(t *testing.T) {
	a100 := site.NodeLabels{"gpu": {"a100"}}
	for name, test := range map[string]struct {
		turn    Turn
		request Request
		bars    bool
	}{
		"cpus":                     {Turn{Lacks: []string{"cpu"}}, Request{CPUMilli: 1}, true},
		"no cpus of its own":       {Turn{Lacks: []string{"cpu"}}, Request{Memory: 1}, false},
		"memory":                   {Turn{Lacks: []string{"cpu", "memory"}}, Request{Memory: 1}, true},
		"a GPU":                    {Turn{Lacks: []string{"nvidia.com/gpu"}}, Request{Resources: map[string]int64{"nvidia.com/gpu": 1}}, true},
		"no GPU":                   {Turn{Lacks: []string{"nvidia.com/gpu"}}, Request{CPUMilli: 1}, false},
		"places for Pods":          {Turn{Lacks: []string{"pods"}}, Request{}, true},
		"nothing lacks":            {Turn{}, Request{CPUMilli: 1}, false},
		"on nodes of its own":      {Turn{Lacks: []string{"cpu"}, Labels: a100}, Request{CPUMilli: 1, Labels: site.NodeLabels{"gpu": {"h100"}}}, false},
		"on nodes of both":         {Turn{Lacks: []string{"cpu"}, Labels: a100}, Request{CPUMilli: 1, Labels: site.NodeLabels{"gpu": {"h100", "a100"}}}, true},
		"on any, one of a kind":    {Turn{Lacks: []string{"cpu"}, Labels: a100}, Request{CPUMilli: 1}, true},
		"by another label as well": {Turn{Lacks: []string{"cpu"}, Labels: a100}, Request{CPUMilli: 1, Labels: site.NodeLabels{"zone": {"b"}}}, true},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.bars, test.turn.Bars(test.request)) })
	}
}
