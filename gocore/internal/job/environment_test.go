// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilterEnvironment(t *testing.T) {
	kept := []string{
		"SLURM_JOB_ID=7", "SLURM_GPUS_ON_NODE=2", "SLURMD_NODENAME=n1", "SLURM_K8S_IMAGE=debian", "USER=alice", "LOGNAME=alice", "LANG=C.UTF-8",
		"MODULEPATH=/opt/modules", "BASH_FUNC_f%%=() {  echo\n}", "EMPTY=", "A=b=c", "MY_PATH=x", "HOMEPAGE=x", "PATHS=1", "LDFLAGS=-O2",
		"HOSTNAME=login", "WANDB_API_KEY=mine", "OMP_NUM_THREADS=4", "KUBE=1", "PMIX_MCA_gds=hash",
	}
	dropped := []string{
		"PATH=/usr/bin", "HOME=/home/alice", "TMPDIR=/tmp", "LD_PRELOAD=/lib/x.so", "LD_LIBRARY_PATH=/opt", "GLIBC_TUNABLES=x", "SHELL=/bin/zsh",
		"PWD=/x", "OLDPWD=/y", "CUDA_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=0", "ZE_AFFINITY_MASK=0", "GPU_DEVICE_ORDINAL=0",
		"NVIDIA_VISIBLE_DEVICES=all", "KUBECONFIG=/root/x", "KUBERNETES_SERVICE_HOST=1.2.3.4", "SLURM_K8S_RELAY_FD=9", "SLURM_K8S_ARGV0=x",
		"SLURM_K8S_BATCH=1", "SLURM_K8S_STEP=own", "_SLURM_SPANK_OPTION_k8s_image=x", "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_image=x", "SSH_AUTH_SOCK=/tmp/a",
		"SSH_CLIENT=x", "DISPLAY=:0", "XAUTHORITY=/x", "DBUS_SESSION_BUS_ADDRESS=x", "XDG_RUNTIME_DIR=/run/user/1", "SLURM_CONF=/etc/slurm.conf",
		"SLURM_JWT=secret", "NOTIFY_SOCKET=x", "LISTEN_FDS=1", "PMI_FD=9", "PMI_RANK=0",
		"PMIX_SERVER_URI2=pmix-server;tcp4://127.0.0.1:1", "PMIX_RANK=0", "PMIX_SERVER_TMPDIR=/var/spool/x", "PALS_SPOOL_DIR=/var/spool/x",
		"SLINGSHOT_DEVICES=cxi0", "SLURM_STEP_NICS=0", "SLURM_STEP_GPUS=0", "nonsense", "=x", "A\x00=b", "A=b\x00", "",
	}
	assert.Empty(t, cmp.Diff(kept, FilterEnvironment(append(slices.Clone(dropped), kept...))))
	for _, entry := range dropped {
		assert.Empty(t, FilterEnvironment([]string{entry}), entry)
	}
}

// TestStepVariablesPass: what slurmstepd of 22.05 to 25.11 gives to each task of a step.
func TestStepVariablesPass(t *testing.T) {
	for _, name := range []string{
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_TASK_PID", "SLURM_GTIDS", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NNODES",
		"SLURM_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND", "SLURM_CPU_BIND_LIST",
		"SLURM_STEPID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_NODES", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
		"SLURM_STEP_LAUNCHER_PORT", "SLURM_STEP_RESV_PORTS", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT",
		"SLURM_DISTRIBUTION", "SLURM_UMASK", "SLURM_TOPOLOGY_ADDR", "SLURM_PTY_PORT", "SLURM_PTY_WIN_COL", "SLURM_PTY_WIN_ROW", "SLURM_LABELIO",
		"SLURM_HET_SIZE", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_JOB_CPUS_PER_NODE", "SLURM_MEM_PER_NODE", "SLURM_GPUS_ON_NODE",
		"SLURM_SHARDS_ON_NODE", "SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST", "SLURM_SCRIPT_CONTEXT", "SLURM_RESTART_COUNT", "SLURMD_NODENAME",
		"SLURM_MPI_TYPE", "SLURM_PRIO_PROCESS", "SLURM_WORKING_CLUSTER", "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME",
	} {
		assert.Empty(t, Dropped(name), name)
	}
}

func TestEveryRuleHasAReason(t *testing.T) {
	for _, r := range rules {
		assert.NotEmpty(t, r.reason)
		assert.NotEmpty(t, slices.Concat(r.names, r.prefixes, r.contains))
		for _, name := range r.names {
			assert.Equal(t, r.reason, Dropped(name), "%s stands in two rules", name)
		}
	}
	assert.Empty(t, Dropped("SLURM_JOB_ID"))
}

func TestEnvironment(t *testing.T) {
	env := []string{"A=1", "SLURM_RESTART_COUNT=9", "NVIDIA_VISIBLE_DEVICES=3", "SLURM_K8S_SCRIPT=old"}
	gpu := Job{Step: "batch", GRES: []GRES{{"gpu", "", 1}}, Restarts: 3}
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old", "SLURM_RESTART_COUNT=1"}, gpu.Environment(env, Record{Gated: 2}))
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old"}, gpu.Environment(env, Record{Gated: 3}), "absent at 0, as in Slurm")
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old"}, gpu.Environment(env, Record{Gated: 4}), "more than Slurm knows of")
	gpu.Step = "0"
	assert.Equal(t, []string{"A=1", "SLURM_RESTART_COUNT=9", "SLURM_K8S_SCRIPT=old"}, gpu.Environment(env, Record{Gated: 2}), "a step's is its job's")
	cpu := Job{Step: "batch", Options: Options{Script: "/data/run.sh"}}
	assert.Equal(t, []string{"A=1", "NVIDIA_VISIBLE_DEVICES=void", "SLURM_K8S_SCRIPT=/data/run.sh"}, cpu.Environment(env, Record{}))
	assert.True(t, Job{GRES: []GRES{{"shard", "", 4}}}.HasGPU())
	assert.False(t, Job{GRES: []GRES{{"nvme", "", 1}}}.HasGPU())
}

func TestArguments(t *testing.T) {
	assert.Nil(t, Arguments(nil))
	assert.Nil(t, Arguments([]string{"script"}))
	assert.Equal(t, []string{"a", "b"}, Arguments([]string{"script", "a", "b"}))
}

func FuzzFilterEnvironment(f *testing.F) {
	f.Add("PATH=/x\nA=b\nSLURM_SPANK_x=1\n=\nLD_=", uint32(1), uint32(2))
	f.Fuzz(func(t *testing.T, text string, gated, restarts uint32) {
		env := strings.Split(text, "\n")
		kept := FilterEnvironment(env)
		require.Equal(t, kept, FilterEnvironment(kept), "idempotent")
		count := 0
		for _, entry := range (Job{Step: "batch", Restarts: restarts}).Environment(env, Record{Gated: gated}) {
			name, _, found := strings.Cut(entry, "=")
			require.True(t, found && name != "")
			require.NotContains(t, entry, "\x00")
			require.False(t, strings.HasPrefix(name, "LD_") || name == "PATH" || name == "KUBECONFIG" || strings.Contains(name, "_SLURM_SPANK_OPTION_"))
			if name == restartCount {
				count++
			}
		}
		require.LessOrEqual(t, count, 1)
	})
}
