// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cpus is a bitmap of these.
func cpus(numbers ...int) []byte {
	bitmap := []byte{0}
	for _, n := range numbers {
		bitmap = union(bitmap, make([]byte, n/8+1))
		bitmap[n/8] |= 1 << (n % 8)
	}
	return bitmap
}

func numbers(bitmap []byte) []int {
	list := []int{}
	for i := range 8 * len(bitmap) {
		if bit(bitmap, i) {
			list = append(list, i)
		}
	}
	return list
}

func TestAffinity(t *testing.T) {
	many := make([]int, 256)
	for i := range many {
		many[i] = i
	}
	for name, c := range map[string]struct {
		cpus     int64
		confined []int
		tasks    [][]int // nil: the relay did not say
		want     [][]int // nil: not bound
	}{
		"each its own":                    {2, []int{0, 1}, [][]int{{0}, {1}}, [][]int{{0}, {1}}},
		"the step's are not the first":    {4, []int{2, 3, 10, 70}, [][]int{{2, 10}, {3, 70}}, [][]int{{0, 2}, {1, 3}}},
		"all the same one":                {4, []int{4, 5, 6, 7}, [][]int{{5}, {5}}, [][]int{{1}, {1}}},
		"one task, to a part":             {4, []int{4, 5, 6, 7}, [][]int{{6}}, [][]int{{2}}},
		"one of them":                     {2, []int{0, 1}, [][]int{{0, 1}, {1}}, [][]int{nil, {1}}},
		"nothing is bound":                {2, []int{0, 1}, [][]int{{0, 1}, {0, 1}}, [][]int{nil, nil}},
		"nothing is confined: together":   {4, many, [][]int{{8, 9}, {20, 21}}, [][]int{{0, 1}, {2, 3}}},
		"nothing is confined, one task":   {4, many, [][]int{{8, 9, 20, 21}}, [][]int{nil}},
		"nothing is confined, to a part":  {4, many, [][]int{{8}, {9}}, [][]int{{8}, {9}}},
		"cores of two threads, by core":   {2, []int{0, 1, 64, 65}, [][]int{{0, 64}, {1, 65}}, [][]int{{0, 2}, {1, 3}}},
		"cores of two threads, by thread": {2, []int{0, 1, 64, 65}, [][]int{{0}, {1}}, [][]int{{0}, {1}}},
		"some say nothing":                {2, []int{0, 1}, [][]int{nil, {1}}, [][]int{nil, {1}}},
		"cpus that the step has not":      {2, []int{0, 1}, [][]int{{7}, {1, 900}}, [][]int{nil, {1}}},
		"no cpus":                         {2, []int{}, [][]int{{}, {}}, [][]int{nil, nil}},
		"no tasks":                        {2, nil, [][]int{}, [][]int{}},
		"nobody says anything":            {2, nil, [][]int{nil}, [][]int{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			tasks := make([]*CPUs, len(c.tasks))
			for i, task := range c.tasks {
				if task != nil {
					tasks[i] = &CPUs{cpus(task...), cpus(c.confined...)}
				}
			}
			got := Job{CPUs: c.cpus, CPUBind: true}.Affinity(tasks)
			require.Len(t, got, len(c.want))
			for i, want := range c.want {
				if want == nil {
					assert.Nil(t, got[i], "task %d", i)
				} else if assert.NotNil(t, got[i], "task %d", i) {
					assert.Equal(t, want, numbers(got[i].Task), "task %d", i)
				}
			}
			assert.Equal(t, make([]*CPUs, len(tasks)), Job{CPUs: c.cpus, CPUBind: true, Overlap: true}.Affinity(tasks), "without cpus of its own")
		})
	}
}

// Where nobody has told srun how to bind, Slurm shares the step's cpus out among its tasks. What does
// not add up to them are numbers of a node that pretends to be larger than its machine.
func TestAffinityThatSlurmChose(t *testing.T) {
	for name, c := range map[string]struct {
		cpus     int64
		confined []int
		tasks    [][]int
		want     bool
	}{
		"each its own":                     {2, []int{4, 5}, [][]int{{4}, {5}}, true},
		"by cores of two threads":          {2, []int{0, 1, 64, 65}, [][]int{{0, 64}, {1, 65}}, true},
		"nothing is confined: together":    {4, []int{0, 1, 2, 3, 4, 5, 6, 7}, [][]int{{2, 3}, {6, 7}}, true},
		"all on one cpu":                   {2, []int{0, 1}, [][]int{{0}, {0}}, false},
		"some on one cpu":                  {3, []int{0, 1, 2, 3}, [][]int{{0}, {1}, {0}}, false},
		"two cpus each, the same two":      {4, []int{0, 1, 2, 3}, [][]int{{0, 1}, {0, 1}}, false},
		"one task, on one of its two cpus": {2, []int{0, 1}, [][]int{{0}}, false},
		"a machine of two cpus, and four":  {4, []int{0, 1}, [][]int{{0}, {1}, {0}, {1}}, false},
		"some say nothing":                 {2, []int{0, 1}, [][]int{nil, {1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tasks := make([]*CPUs, len(c.tasks))
			for i, task := range c.tasks {
				if task != nil {
					tasks[i] = &CPUs{cpus(task...), cpus(c.confined...)}
				}
			}
			for i, got := range (Job{CPUs: c.cpus}).Affinity(tasks) {
				assert.Equal(t, c.want, got != nil, "task %d", i)
			}
		})
	}
}

func TestAffinityCountsTheStep(t *testing.T) {
	got := Job{CPUs: 3, CPUBind: true}.Affinity([]*CPUs{{cpus(9), cpus(1, 9, 40)}})
	assert.Equal(t, []int{1}, numbers(got[0].Task))
	assert.Equal(t, []int{0, 1, 2}, numbers(got[0].Step))
	got = Job{CPUs: 2, CPUBind: true}.Affinity([]*CPUs{{cpus(8), cpus(8, 9, 40, 41)}})
	assert.Equal(t, []int{0, 1}, numbers(got[0].Step), "Slurm gives cores, the kernel their threads")
}

// Whatever the relays say, what goes to podinit is of one length and bounded by the step's.
func FuzzAffinity(f *testing.F) {
	f.Add([]byte{1}, []byte{2}, []byte{3}, int64(2))
	f.Add([]byte{}, []byte{0, 255}, []byte{1, 1, 1}, int64(0))
	f.Fuzz(func(t *testing.T, a, b, step []byte, count int64) {
		for _, got := range (Job{CPUs: count, CPUBind: true}).Affinity([]*CPUs{{a, step}, nil, {b, step}}) {
			if got == nil {
				continue
			}
			require.Len(t, got.Task, len(got.Step))
			require.LessOrEqual(t, len(got.Step), max(len(a), len(b), len(step)))
			places, all := numbers(got.Task), numbers(got.Step)
			require.NotEmpty(t, places)
			require.LessOrEqual(t, len(all), max(0, int(min(count, 1<<30))))
			if len(all) > 0 {
				require.Equal(t, len(all)-1, all[len(all)-1])
			}
		}
	})
}
