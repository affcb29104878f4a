// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startVector is a good request, with some keys set anew ("key=value") or left out ("key").
func startVector(changes ...string) []string {
	vector := []string{
		"config=/etc/slurm/k8s.yaml", "option.image=debian:12", "job_id=7", "step_id=batch", "uid=1001", "gid=1001",
		"groups=1001,2000,1500,2000", "user=alice", "home=/home/alice", "cluster=lab", "node=n1", "cpus=2", "memory_mb=512",
		"nnodes=1", "node_id=0", "tasks=1", "batch_argv0=/var/spool/slurm/job00007/slurm_script", "newer=thing",
	}
	for _, change := range changes {
		key, _, set := strings.Cut(change, "=")
		for i, entry := range vector {
			if strings.HasPrefix(entry, key+"=") {
				vector = append(vector[:i:i], vector[i+1:]...)
				break
			}
		}
		if set {
			vector = append(vector, change)
		}
	}
	return vector
}

func TestFromFields(t *testing.T) {
	j, err := FromFields(startVector())
	require.NoError(t, err)
	want := Job{
		ID: 7, Step: "batch", Cluster: "lab", Node: "n1", UID: 1001, GID: 1001, Groups: []uint32{1001, 1500, 2000}, User: "alice",
		Home: "/home/alice", CPUs: 2, MemoryMiB: 512, Nodes: 1, Tasks: 1, Requeue: true,
		BatchArgv0: "/var/spool/slurm/job00007/slurm_script", Options: Options{Image: "debian:12"},
	}
	assert.Empty(t, cmp.Diff(want, j))

	j, err = FromFields(startVector("step_id=3", "legacy=1", "legacy_script=run.sh", "option.workdir=/data", "groups=", "tasks=4", "cpu_bind=1"))
	require.NoError(t, err)
	assert.Equal(t, "3", j.Step)
	assert.Equal(t, Options{Image: "debian:12", Workdir: "/data", Legacy: true, Script: "run.sh"}, j.Options)
	assert.Empty(t, j.Groups)
	assert.True(t, j.CPUBind)
}

func TestFromFieldsRefuses(t *testing.T) {
	for change, want := range map[string]string{
		"uid=0":              "root's jobs do not run in a Pod",
		"gid=0":              "root's group",
		"groups=1001,0":      "supplementary gid 0",
		"uid=4294967294":     "Kubernetes takes 1 to 2147483647",
		"groups=3000000000":  "supplementary gid 3000000000",
		"groups=a":           `"a" is not a group's number`,
		"uid=-1":             `uid: "-1" is not a number`,
		"uid=99999999999":    "is not a number from 0 to 4294967295",
		"uid":                "uid is missing",
		"node":               "node is missing",
		"job_id=0":           "0 is not a job",
		"step_id=4294967291": "neither batch nor a step's number",
		"step_id=+1":         "neither batch nor a step's number",
		"step_id=extern":     "neither batch nor a step's number",
		"tasks=0":            "0 tasks",
		"tasks=5000":         "tasks:",
		"legacy=yes":         `"yes" is neither 0 nor 1`,
		"option.image":       "--k8s-image: a value is missing",
		"option.image=A":     "no capital letters",
		"option.workdir=x":   "--k8s-workdir: not an absolute path",
		"legacy_script=-c":   "#K8S_SCRIPT",
		"user=a\x00b":        "NUL byte",
	} {
		_, err := FromFields(startVector(change))
		assert.ErrorContains(t, err, want, change)
	}
	_, err := FromFields(append(startVector(), "uid=1002"))
	assert.ErrorContains(t, err, "given twice")
	_, err = FromFields(append(startVector(), "nonsense"))
	assert.ErrorContains(t, err, "not key=value")
}

func TestMerge(t *testing.T) {
	j, err := FromFields(startVector())
	require.NoError(t, err)
	require.NoError(t, j.Merge([]string{
		"user_id=1001", "group_id=1001", "user_name=alice", "account=physics", "partition=gpu", "qos=normal", "name=train", "restart_count=3",
		"requeue=0", "time_limit=90", "exclusive=1", "nodes=1", "array_job_id=5", "array_task_id=2", "gres=gpu:a100:2(IDX:0-1)", "cpus=4",
		"memory_mb=1024", "admin_comment=hello=world", "state=RUNNING", "later=x",
	}))
	assert.Equal(t, int64(4), j.CPUs)
	assert.Equal(t, int64(1024), j.MemoryMiB)
	assert.Equal(t, 90*time.Minute, j.TimeLimit)
	assert.Equal(t, []GRES{{"gpu", "a100", 2}}, j.GRES)
	assert.Equal(t, "hello=world", j.AdminComment)
	assert.Equal(t, uint32(3), j.Restarts)
	assert.False(t, j.Requeue)
	assert.True(t, j.WholeNode())
	assert.True(t, j.HasGPU())
}

func TestFromFieldsComponent(t *testing.T) {
	for _, component := range []string{"0", "127"} {
		j, err := FromFields(startVector("step_id=0", "component="+component))
		require.NoError(t, err)
		assert.Equal(t, component, j.Component)
	}
	for _, component := range []string{"128", "-1", "01", "x", "1.0", "4294967297"} {
		_, err := FromFields(startVector("step_id=0", "component="+component))
		assert.ErrorContains(t, err, "is not the number of a step's component", component)
	}
	_, err := FromFields(startVector("component=0"))
	assert.ErrorContains(t, err, "component", "a batch script is none")
}

func TestMergeRefuses(t *testing.T) {
	for facts, want := range map[string]string{
		"user_id=1002":                     "the start request says uid 1001",
		"group_id=100":                     "the start request says gid 1001",
		"user_id=0":                        "uid 0",
		"time_limit=soon":                  `"soon" is neither minutes nor UNLIMITED`,
		"gres=gpu:x:y":                     `gres: "gpu:x:y"`,
		"cpus=many":                        "cpus:",
		"memory_mb=1e9":                    "memory_mb:",
		"restart_count=-1":                 "restart_count:",
		"array_task_id=0x10":               "array_task_id:",
		"memory_mb=9999999999999999999999": "memory_mb:",
	} {
		j, err := FromFields(startVector())
		require.NoError(t, err)
		before := j
		assert.ErrorContains(t, j.Merge([]string{facts}), want)
		assert.Empty(t, cmp.Diff(before, j), "unchanged where it fails")
	}
	j, err := FromFields(startVector("cpus=0"))
	require.NoError(t, err)
	assert.ErrorContains(t, j.Merge(nil), "no cpus of the job on this node")
}

func TestMergeShares(t *testing.T) {
	for _, c := range []struct {
		step                 string
		cpus, memory         string
		wantCPUs, wantMemory int64
	}{
		{"batch", "8", "4096", 8, 4096},
		{"batch", "0", "0", 2, 512},
		{"0", "8", "4096", 2, 512}, // a step smaller than the allocation
		{"0", "1", "256", 1, 256},  // never larger
	} {
		j, err := FromFields(startVector("step_id=" + c.step))
		require.NoError(t, err)
		require.NoError(t, j.Merge([]string{"cpus=" + c.cpus, "memory_mb=" + c.memory}))
		assert.Equal(t, c.wantCPUs, j.CPUs, c)
		assert.Equal(t, c.wantMemory, j.MemoryMiB, c)
	}
}

func TestTimeLimit(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"UNLIMITED": 0, "unlimited": 0, "0": 0, "4294967295": 0, "4294967294": 0, "1": time.Minute, "525600": 365 * 24 * time.Hour,
	} {
		j, err := FromFields(startVector())
		require.NoError(t, err)
		require.NoError(t, j.Merge([]string{"time_limit=" + value}))
		assert.Equal(t, want, j.TimeLimit, value)
	}
}

func TestParseGRES(t *testing.T) {
	for text, want := range map[string][]GRES{
		"":                                    nil,
		"(null)":                              nil,
		"N/A":                                 nil,
		"gpu":                                 {{"gpu", "", 1}},
		"gpu:2":                               {{"gpu", "", 2}},
		"gpu:a100":                            {{"gpu", "a100", 1}},
		"gres:gpu:2":                          {{"gpu", "", 2}},
		"gres/gpu:2":                          {{"gpu", "", 2}},
		"gpu:2,shard:a:1,gpu:a100:1(IDX:0)":   {{"gpu", "", 2}, {"shard", "a", 1}, {"gpu", "a100", 1}},
		"gpu:tesla:2(IDX:0-1,3),nic:1(IDX:0)": {{"gpu", "tesla", 2}, {"nic", "", 1}},
		"gpu:1(S:0),gpu:1(S:1)":               {{"gpu", "", 2}},
		"craynetwork:0,gpu:1":                 {{"gpu", "", 1}},
		"bandwidth:lustre:4G":                 {{"bandwidth", "lustre", 4 << 30}},
		"mem:2k":                              {{"mem", "", 2048}},
		"gpu:1g.10gb:2":                       {{"gpu", "1g.10gb", 2}},
		",gpu:1,,":                            {{"gpu", "", 1}},
	} {
		got, err := ParseGRES(text)
		require.NoError(t, err, text)
		assert.Empty(t, cmp.Diff(want, got), text)
	}
	for _, text := range []string{":2", "gpu:a:b:c", "gpu:a:b", "gpu:", "g p:1", "gpu:a:-1", "a:9223372036854775807,a:1", "gpu::1"} {
		_, err := ParseGRES(text)
		assert.Error(t, err, text)
	}
}

func FuzzParseGRES(f *testing.F) {
	for _, seed := range []string{"gpu:2,shard:a:1,gpu:a100:1(IDX:0)", "gpu:tesla:2(IDX:0-1,3)", "a:8E", "x:1P,x:1p", "((((,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseGRES(text)
		if err != nil {
			return
		}
		seen := map[[2]string]bool{}
		for _, g := range all {
			require.Positive(t, g.Count)
			require.NotEmpty(t, g.Name)
			require.False(t, seen[[2]string{g.Name, g.Type}], "each once")
			seen[[2]string{g.Name, g.Type}] = true
		}
	})
}

func FuzzFromFields(f *testing.F) {
	f.Add(strings.Join(startVector(), "\n"), "user_id=1001\ncpus=4\ngres=gpu:1\ntime_limit=5")
	f.Fuzz(func(t *testing.T, start, facts string) {
		j, err := FromFields(strings.Split(start, "\n"))
		if err != nil {
			return
		}
		uid := j.UID
		_ = j.Merge(strings.Split(facts, "\n"))
		require.Equal(t, uid, j.UID)
		require.NoError(t, j.checkIdentity())
		require.GreaterOrEqual(t, j.TimeLimit, time.Duration(0))
		require.GreaterOrEqual(t, j.MemoryMiB, int64(0))
	})
}
