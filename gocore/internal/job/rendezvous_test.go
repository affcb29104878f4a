// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRendezvous(t *testing.T) {
	task := []string{"A=1", "SLURM_PROCID=3", "SLURM_LOCALID=1", "SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=4"}
	two := []string{"10.0.0.1", "10.0.0.2"}
	addresses := "SLURM_K8S_NODE_ADDRESSES=10.0.0.1,10.0.0.2"
	torch := []string{"MASTER_ADDR=10.0.0.1", "MASTER_PORT=20680", "RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4"}
	alone := slices.Concat([]string{"MASTER_ADDR=127.0.0.1"}, torch[1:])
	for name, c := range map[string]struct {
		option, site string
		addresses    []string
		more, want   []string
	}{
		"addresses alone":     {"", "none", two, nil, []string{addresses}},
		"not known":           {"", "none", nil, nil, nil},
		"the site wants it":   {"", "pytorch", two, nil, append([]string{addresses}, torch...)},
		"the option wins":     {"pytorch", "none", two, nil, append([]string{addresses}, torch...)},
		"the option does not": {"none", "pytorch", two, nil, []string{addresses}},
		"no addresses":        {"", "pytorch", nil, nil, alone},
		"an empty address":    {"", "pytorch", []string{""}, nil, append([]string{"SLURM_K8S_NODE_ADDRESSES="}, alone...)},
		"the user's own stay": {"", "pytorch", two, []string{"MASTER_PORT=29500", "RANK="},
			append([]string{addresses}, "MASTER_ADDR=10.0.0.1", "LOCAL_RANK=1", "WORLD_SIZE=4")},
	} {
		t.Run(name, func(t *testing.T) {
			j := Job{ID: 7, Step: "1", Options: Options{Rendezvous: c.option}}
			env := append(slices.Clone(task), c.more...)
			want := append(slices.Clone(env), c.want...)
			assert.Equal(t, want, j.Rendezvous(append(env, "SLURM_K8S_NODE_ADDRESSES=10.9.9.9"), c.addresses, c.site))
			batch := Job{ID: 7, Step: "batch", Options: Options{Rendezvous: c.option}}
			assert.Equal(t, env, batch.Rendezvous(env, c.addresses, c.site), "a script is one process")
		})
	}
}

func TestRendezvousOfAComponent(t *testing.T) {
	j := Job{ID: 7, Step: "0", Component: "1", Options: Options{Rendezvous: "pytorch"}}
	env := []string{"SLURM_PROCID=3", "SLURM_NTASKS=4"}
	assert.Equal(t, append(slices.Clone(env), "SLURM_K8S_NODE_ADDRESSES=10.0.0.1"), j.Rendezvous(env, []string{"10.0.0.1"}, "pytorch"))
}

func TestRendezvousWithoutSlurmsVariables(t *testing.T) {
	j := Job{ID: 1, Step: "0"}
	assert.Equal(t, []string{"MASTER_ADDR=127.0.0.1", "MASTER_PORT=20097"}, j.Rendezvous(nil, nil, "pytorch"))
	preserved := []string{"SLURM_NTASKS=9", "SLURM_STEP_NUM_TASKS=2"}
	assert.Contains(t, j.Rendezvous(preserved, nil, "pytorch"), "WORLD_SIZE=2", "--preserve-env")
	assert.Contains(t, j.Rendezvous(preserved[:1], nil, "pytorch"), "WORLD_SIZE=9")
}

func TestMasterPort(t *testing.T) {
	seen := map[uint64]bool{}
	for _, step := range []string{"0", "1", "4294967279"} {
		for _, id := range []uint32{1, 2, 4294967295} {
			port := Job{ID: id, Step: step}.masterPort()
			assert.GreaterOrEqual(t, port, uint64(20000))
			assert.Less(t, port, uint64(40000))
			seen[port] = true
		}
	}
	assert.Len(t, seen, 9)
}

func TestRendezvousOption(t *testing.T) {
	for _, value := range []string{"none", "pytorch"} {
		j, err := FromFields(startVector("option.rendezvous=" + value))
		require.NoError(t, err)
		assert.Equal(t, value, j.Options.Rendezvous)
	}
	_, err := FromFields(startVector("option.rendezvous=mpi"))
	assert.EqualError(t, err, `--k8s-rendezvous: must be none or pytorch: "mpi"`)
}

func FuzzRendezvous(f *testing.F) {
	f.Add("RANK=1\nSLURM_PROCID=0\nSLURM_NTASKS=2", "10.0.0.1,10.0.0.2", true)
	f.Add("\n=\nMASTER_ADDR", "", false)
	f.Fuzz(func(t *testing.T, env, addresses string, torch bool) {
		before := FilterEnvironment(strings.Split(env, "\n"))
		choice := map[bool]string{false: "none", true: "pytorch"}[torch]
		after := Job{ID: 7, Step: "0"}.Rendezvous(before, strings.Split(addresses, ","), choice)
		count := func(env []string, name string) int {
			return len(slices.DeleteFunc(slices.Clone(env), func(e string) bool { return !strings.HasPrefix(e, name+"=") }))
		}
		require.Equal(t, 1, count(after, nodeAddresses))
		for _, name := range []string{"MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE"} {
			had, has := count(before, name), count(after, name)
			require.True(t, has == had || had == 0 && has == 1, name)
		}
	})
}
