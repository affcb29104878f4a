// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slurmSets is what Slurm gives to a task: its GPUs by number, and by what the variable has.
func slurmSets(numbers, visible string) []string {
	return []string{"SLURM_STEP_GPUS=" + numbers, "SLURM_GPUS_ON_NODE=2", "CUDA_VISIBLE_DEVICES=" + visible, "CUDA_HOME=/opt"}
}

// visible checks what each task is told of its GPUs; "": nothing.
func visible(t *testing.T, want []string, got [][]string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, places := range want {
		if places == "" {
			assert.Empty(t, got[i], "task %d", i)
		} else {
			assert.Equal(t, []string{"CUDA_VISIBLE_DEVICES=" + places}, got[i], "task %d", i)
		}
	}
}

func TestDevices(t *testing.T) {
	for name, c := range map[string]struct {
		count int64
		tasks [][]string
		want  []string // of CUDA_VISIBLE_DEVICES
	}{
		"one each":                 {2, [][]string{slurmSets("0", "0"), slurmSets("1", "1")}, []string{"0", "1"}},
		"not the node's first":     {2, [][]string{slurmSets("5", "5"), slurmSets("7", "7")}, []string{"0", "1"}},
		"in another order":         {2, [][]string{slurmSets("3", "3"), slurmSets("2", "2")}, []string{"1", "0"}},
		"cgroups number anew":      {2, [][]string{slurmSets("2", "0"), slurmSets("3", "1")}, []string{"0", "1"}},
		"by their serial numbers":  {2, [][]string{slurmSets("2", "GPU-aa"), slurmSets("3", "GPU-bb")}, []string{"0", "1"}},
		"two each":                 {4, [][]string{slurmSets("4,6", "4,6"), slurmSets("5,7", "5,7")}, []string{"0,2", "1,3"}},
		"two share one":            {2, [][]string{slurmSets("2", "2"), slurmSets("2", "2"), slurmSets("3", "3")}, []string{"0", "0", "1"}},
		"a part of them":           {4, [][]string{slurmSets("1", "1"), slurmSets("3", "3")}, []string{"1", "3"}},
		"a part, not the first":    {4, [][]string{slurmSets("5", "1"), slurmSets("7", "3")}, []string{"0", "1"}},
		"one task, one of two":     {2, [][]string{slurmSets("1", "1")}, []string{"1"}},
		"all of them":              {2, [][]string{slurmSets("0,1", "0,1"), slurmSets("0,1", "0,1")}, []string{"", ""}},
		"one has all":              {2, [][]string{slurmSets("0,1", "0,1"), slurmSets("1", "1")}, []string{"", "1"}},
		"the step has none":        {0, [][]string{slurmSets("0", "0")}, []string{""}},
		"more than the step has":   {2, [][]string{slurmSets("0", "0"), slurmSets("1", "1"), slurmSets("2", "2")}, []string{"", "", ""}},
		"Slurm only counts":        {2, [][]string{{"CUDA_VISIBLE_DEVICES=1"}}, []string{""}},
		"not set by Slurm":         {2, [][]string{{"SLURM_STEP_GPUS=1"}}, []string{""}},
		"the user's own":           {3, [][]string{slurmSets("1", "0,2")}, []string{""}},
		"no numbers":               {2, [][]string{slurmSets("x", "0"), slurmSets("-1", "0"), slurmSets("0,0", "0,0"), slurmSets(",", ","), slurmSets("70000", "1")}, []string{"", "", "", "", ""}},
		"twice, and the last wins": {2, [][]string{append(slurmSets("0", "0"), slurmSets("1", "1")...)}, []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Job{Step: "0", GRES: []GRES{{"gpu", "", c.count}, {"nvme", "", 9}}}.Devices(c.tasks)
			visible(t, c.want, got)
		})
	}
}

func TestDevicesInside(t *testing.T) {
	for name, c := range map[string]struct {
		node  []int
		tasks [][]string
		want  []string
	}{
		"two of three steps":       {[]int{0, 1, 2}, [][]string{slurmSets("1", "1"), slurmSets("2", "2")}, []string{"1", "2"}},
		"not the node's first":     {[]int{4, 6, 7}, [][]string{slurmSets("6,7", "6,7")}, []string{"1,2"}},
		"all":                      {[]int{4, 6}, [][]string{slurmSets("4,6", "4,6")}, []string{""}},
		"not the job's":            {[]int{4, 6}, [][]string{slurmSets("5", "5")}, []string{""}},
		"none, and Slurm counts":   {nil, [][]string{slurmSets("5", "5"), {"CUDA_VISIBLE_DEVICES=1"}}, []string{"", ""}},
		"a step without GPUs":      {[]int{0, 1}, [][]string{{"PATH=/bin"}}, []string{""}},
		"the user's own variables": {[]int{0, 1}, [][]string{slurmSets("1", "0,1")}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := DevicesInside(c.tasks, ParseGPUs(FormatGPUs(c.node)))
			visible(t, c.want, got)
		})
	}
}

func TestStepGPUs(t *testing.T) {
	two := []GRES{{"gpu", "", 2}}
	tasks := [][]string{slurmSets("6", "6"), slurmSets("4,6", "4,6"), slurmSets("9", "9")}
	assert.Equal(t, []int{2, 4, 6}, Job{Step: "batch", GRES: two, NodeGPUs: []int{2, 4, 6}}.StepGPUs(tasks), "the script's are the job's")
	assert.Equal(t, []int{4, 6}, Job{Step: "0", GRES: two, NodeGPUs: []int{2, 4, 6}}.StepGPUs(tasks), "what is not the job's is left out")
	assert.Equal(t, []int{2, 4}, Job{Step: "0", GRES: two, NodeGPUs: []int{2, 4}}.StepGPUs(nil), "the step has all")
	assert.Empty(t, Job{Step: "0", GRES: two}.StepGPUs(tasks))
	assert.Equal(t, []int{0, 1}, Job{GRES: two}.SampleGPUs())
}

func TestNodeGPUs(t *testing.T) {
	for text, want := range map[string][]int{
		"":                                     nil,
		"gpu:2":                                nil,
		"gpu:2(CNT:2)":                         nil,
		"gpu:2(IDX:0-1)":                       {0, 1},
		"gpu:a:1(IDX:5),gpu:b:2(IDX:0,2)":      {0, 2, 5},
		"gres:gpu:a:3(IDX:1-2,7),nic:1(IDX:4)": {1, 2, 7},
		"mygpu:1(IDX:3),shard:1(IDX:4)":        nil,
		"gpu:a:1(IDX:0),gpu:b:0(IDX:N/A)":      {0},
		"gpu:2(IDX:3-1)":                       nil,
		"gpu:2(IDX:0-65535)":                   nil,
		"gpu:2(IDX:99999999999)":               nil,
		"gpu:2(IDX:-)":                         nil,
		"gpu:2(IDX:0-1),gpu:b:1(IDX:1)":        {0, 1},
	} {
		assert.Equal(t, want, parseNodeGPUs(text), text)
	}
}

func FuzzNodeGPUs(f *testing.F) {
	f.Add("gpu:a:1(IDX:5),gpu:b:2(IDX:0-2)")
	f.Fuzz(func(t *testing.T, text string) {
		all := parseNodeGPUs(text)
		require.LessOrEqual(t, len(all), maxDevices)
		require.True(t, slices.IsSorted(all))
	})
}

func TestDevicesSetsWhatSlurmSets(t *testing.T) {
	env := []string{"SLURM_STEP_GPUS=1", "ROCR_VISIBLE_DEVICES=1", "GPU_DEVICE_ORDINAL=1", "ZE_AFFINITY_MASK=1", "CUDA_VISIBLE_DEVICES=0,1"}
	typed := Job{Step: "3", GRES: []GRES{{"gpu", "a", 1}, {"gpu", "b", 1}}}
	assert.Equal(t, [][]string{{"ROCR_VISIBLE_DEVICES=1", "GPU_DEVICE_ORDINAL=1", "ZE_AFFINITY_MASK=1"}}, typed.Devices([][]string{env}))
	typed.Step = "batch"
	assert.Equal(t, [][]string{nil}, typed.Devices([][]string{env}), "a batch script has all")
}

func FuzzDevices(f *testing.F) {
	f.Add("0", "1,2", "0", uint16(2))
	f.Add("9,8", "", "GPU-a,MIG-b", uint16(3))
	f.Fuzz(func(t *testing.T, a, b, visible string, count uint16) {
		j := Job{Step: "0", GRES: []GRES{{"gpu", "", int64(count)}}}
		for _, settings := range j.Devices([][]string{slurmSets(a, visible), slurmSets(b, visible), nil}) {
			for _, setting := range settings {
				_, value, _ := strings.Cut(setting, "=")
				require.Less(t, strings.Count(value, ","), int(count)-1, setting)
				for _, place := range strings.Split(value, ",") {
					n, err := strconv.Atoi(place)
					require.NoError(t, err)
					require.True(t, n >= 0 && n < int(count), setting)
				}
			}
		}
	})
}

func BenchmarkDevicesOf128Tasks(b *testing.B) {
	tasks := make([][]string, 128)
	for i := range tasks {
		for n := range 200 {
			tasks[i] = append(tasks[i], fmt.Sprintf("VARIABLE_%d=value", n))
		}
		tasks[i] = append(tasks[i], slurmSets(strconv.Itoa(i%8), strconv.Itoa(i%8))...)
	}
	j := Job{Step: "0", GRES: []GRES{{"gpu", "", 8}}}
	for b.Loop() {
		j.Devices(tasks)
	}
}
