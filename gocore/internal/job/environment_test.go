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
		"HOSTNAME=login", "WANDB_API_KEY=mine", "OMP_NUM_THREADS=4", "KUBE=1",
	}
	dropped := []string{
		"PATH=/usr/bin", "HOME=/home/alice", "TMPDIR=/tmp", "LD_PRELOAD=/lib/x.so", "LD_LIBRARY_PATH=/opt", "GLIBC_TUNABLES=x", "SHELL=/bin/zsh",
		"PWD=/x", "OLDPWD=/y", "CUDA_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=0", "ZE_AFFINITY_MASK=0", "GPU_DEVICE_ORDINAL=0",
		"NVIDIA_VISIBLE_DEVICES=all", "KUBECONFIG=/root/x", "KUBERNETES_SERVICE_HOST=1.2.3.4", "SLURM_K8S_RELAY_FD=9", "SLURM_K8S_ARGV0=x",
		"SLURM_K8S_BATCH=1", "_SLURM_SPANK_OPTION_k8s_image=x", "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_image=x", "SSH_AUTH_SOCK=/tmp/a",
		"SSH_CLIENT=x", "DISPLAY=:0", "XAUTHORITY=/x", "DBUS_SESSION_BUS_ADDRESS=x", "XDG_RUNTIME_DIR=/run/user/1", "SLURM_CONF=/etc/slurm.conf",
		"SLURM_JWT=secret", "NOTIFY_SOCKET=x", "LISTEN_FDS=1", "nonsense", "=x", "A\x00=b", "A=b\x00", "",
	}
	assert.Empty(t, cmp.Diff(kept, FilterEnvironment(append(slices.Clone(dropped), kept...))))
	for _, entry := range dropped {
		assert.Empty(t, FilterEnvironment([]string{entry}), entry)
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
	gpu := Job{GRES: []GRES{{"gpu", "", 1}}, Restarts: 3}
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old", "SLURM_RESTART_COUNT=1"}, gpu.Environment(env, Record{Gated: 2}))
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old"}, gpu.Environment(env, Record{Gated: 3}), "absent at 0, as in Slurm")
	assert.Equal(t, []string{"A=1", "SLURM_K8S_SCRIPT=old"}, gpu.Environment(env, Record{Gated: 4}), "more than Slurm knows of")
	cpu := Job{Options: Options{Script: "/data/run.sh"}}
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
		for _, entry := range (Job{Restarts: restarts}).Environment(env, Record{Gated: gated}) {
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
