// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// merged is a numbered step on some nodes, with the job's facts, "key=value" with blanks between.
func merged(t *testing.T, nodes int, facts string) Job {
	t.Helper()
	j, err := FromFields(startVector("step_id=0", "nnodes="+strconv.Itoa(nodes)))
	require.NoError(t, err)
	require.NoError(t, j.Merge(strings.Fields(facts)))
	return j
}

func TestMergeStep(t *testing.T) {
	for name, c := range map[string]struct {
		nodes     int
		job, step string
		want      []GRES
	}{
		"none":                          {2, "", "tres=cpu=4,mem=400M,node=2", nil},
		"none of the job's":             {1, "gres=gpu:2", "tres=cpu=4,mem=400M,node=1", nil},
		"all of the job's":              {1, "gres=gpu:2", "tres=cpu=4,node=1,billing=4,gres/gpu=2", []GRES{{"gpu", "", 2}}},
		"of two nodes":                  {2, "gres=gpu:2", "tres=gres/gpu=4", []GRES{{"gpu", "", 2}}},
		"some":                          {2, "gres=gpu:4", "tres=gres/gpu=2", []GRES{{"gpu", "", 1}}},
		"job's part not said":           {2, "", "tres=gres/gpu=4", []GRES{{"gpu", "", 2}}},
		"several names":                 {2, "gres=gpu:2,nvme:1", "tres=gres/gpu=2,gres/nvme=2", []GRES{{"gpu", "", 1}, {"nvme", "", 1}}},
		"the sum and its type":          {1, "gres=gpu:a100:2", "tres=gres/gpu=2,gres/gpu:a100=2", []GRES{{"gpu", "a100", 2}}},
		"a type that is not counted":    {1, "gres=gpu:a100:4", "tres=gres/gpu=2", []GRES{{"gpu", "a100", 2}}},
		"the type alone is counted":     {2, "gres=gpu:a100:2,gpu:h100:2", "tres=gres/gpu:a100=2", []GRES{{"gpu", "a100", 1}}},
		"types, all of the job's":       {1, "gres=gpu:a100:2,gpu:h100:1", "tres=gres/gpu=3", []GRES{{"gpu", "a100", 2}, {"gpu", "h100", 1}}},
		"types, some of each":           {2, "gres=gpu:a100:2,gpu:h100:2", "tres=gres/gpu=4,gres/gpu:a100=2,gres/gpu:h100=2", []GRES{{"gpu", "a100", 1}, {"gpu", "h100", 1}}},
		"types, which is not said":      {2, "gres=gpu:a100:2,gpu:h100:2", "tres=gres/gpu=2", []GRES{{"gpu", "", 1}}},
		"a type said in part":           {1, "gres=gpu:a100:2,gpu:h100:2", "tres=gres/gpu=3,gres/gpu:a100=1", []GRES{{"gpu", "", 3}}},
		"types, each on another node":   {2, "gres=gpu:a100:2,gpu:h100:2", "tres=gres/gpu=2,gres/gpu:a100=1,gres/gpu:h100=1", []GRES{{"gpu", "", 1}}},
		"a type like a number":          {1, "gres=gpu:4090:2", "tres=gres/gpu=1,gres/gpu:4090=1", []GRES{{"gpu", "4090", 1}}},
		"count 0":                       {1, "gres=gpu:1", "tres=gres/gpu=0", nil},
		"no GRES at all, tres not said": {1, "", "", nil},
		"Slurm does not count it":       {1, "gres=gpu:2,nvme:1 tres=cpu=4,gres/gpu=2", "tres=cpu=2", []GRES{{"nvme", "", 1}}},
		"it counts both":                {1, "gres=gpu:2,nvme:1 tres=gres/gpu=2,gres/nvme=1", "tres=cpu=2", nil},
		"the job's tres is not read":    {1, "gres=gpu:2 tres=gres/gpu=x", "tres=cpu=2", nil},
		"overlap":                       {2, "gres=gpu:2", "tres=gres/gpu=3 overlap=1", nil},
		"no overlap":                    {2, "gres=gpu:2", "tres=gres/gpu=2 overlap=0", []GRES{{"gpu", "", 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			j := merged(t, c.nodes, c.job)
			want := j
			want.GRES, want.Overlap = c.want, strings.HasSuffix(c.step, "overlap=1")
			require.NoError(t, j.MergeStep(strings.Fields(c.step)))
			assert.Empty(t, cmp.Diff(want, j, cmpopts.EquateEmpty()))
		})
	}
}

func TestMergeStepRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		nodes           int
		job, step, want string
	}{
		"not evenly":            {2, "gres=gpu:2", "tres=gres/gpu=3", `3 of gres "gpu" on 2 nodes, and Slurm does not say how many on each`},
		"more than the job has": {2, "gres=gpu:1", "tres=gres/gpu=4", `4 of gres "gpu" on 2 nodes`},
		"not said":              {1, "gres=gpu:1", "", "it is not known what the step has"},
		"no count":              {1, "", "tres=gres/gpu", `tres: "gres/gpu" is not`},
		"no number":             {1, "", "tres=gres/gpu=NONE", `tres: "gres/gpu=NONE" is not`},
		"no name":               {1, "", "tres=gres/=2", `tres: "gres/=2" is not`},
		"too many":              {1, "", "tres=gres/a=9223372036854775807,gres/a=1", "too many a"},
		"bad overlap":           {1, "", "tres=cpu=1 overlap=yes", "overlap:"},
	} {
		j := merged(t, c.nodes, c.job)
		before := j
		assert.ErrorContains(t, j.MergeStep(strings.Fields(c.step)), c.want, name)
		assert.Empty(t, cmp.Diff(before, j), "unchanged where it fails")
	}
}

// TestMergeLeavesTheStepsNodes: a step may have fewer nodes than its job.
func TestMergeLeavesTheStepsNodes(t *testing.T) {
	for step, want := range map[string]int{"batch": 2, "0": 2} {
		j, err := FromFields(startVector("step_id="+step, "nnodes=2", "node_id=1"))
		require.NoError(t, err)
		require.NoError(t, j.Merge([]string{"nodes=4"}))
		assert.Equal(t, want, j.Nodes)
		assert.Equal(t, 1, j.NodeID)
		assert.Equal(t, step == "batch", j.IsBatch())
	}
}

func FuzzMergeStep(f *testing.F) {
	f.Add("gpu:a100:2,nvme:1", "cpu=4,gres/gpu=2", "cpu=4,gres/gpu=2,gres/gpu:a100=2", 2, "0")
	f.Add("gpu:9223372036854775807,gpu:a:9223372036854775807", "", "gres/gpu=9223372036854775807,gres/gpu:a=1", 1, "1")
	f.Add("gpu:1", "gres/x=", "gres/gpu:=2", 0, "")
	f.Fuzz(func(t *testing.T, gres, jobTRES, tres string, nodes int, overlap string) {
		j, err := FromFields(startVector("step_id=0"))
		require.NoError(t, err)
		if j.Merge([]string{"gres=" + gres, "tres=" + jobTRES}) != nil {
			return
		}
		j.Nodes = nodes
		before := j
		if err := j.MergeStep([]string{"tres=" + tres, "nodes=n[1-2]", "overlap=" + overlap}); err != nil {
			require.Empty(t, cmp.Diff(before, j))
			return
		}
		seen := map[[2]string]bool{}
		for _, g := range j.GRES {
			require.Positive(t, g.Count)
			require.NotEmpty(t, g.Name)
			require.False(t, seen[[2]string{g.Name, g.Type}], "each once")
			seen[[2]string{g.Name, g.Type}] = true
			if mine := named(before.GRES, g.Name); len(mine) > 0 {
				require.LessOrEqual(t, sum(named(j.GRES, g.Name)), sum(mine), "never more than the job has here")
			}
		}
		require.False(t, j.Overlap && len(j.GRES) > 0)
		j.GRES, j.Overlap = before.GRES, before.Overlap
		require.Empty(t, cmp.Diff(before, j), "nothing else")
	})
}
