// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCarriedEnvironment(t *testing.T) {
	env := []string{
		"PATH=/node/bin", "HOME=/home/alice", "SLURM_JOB_ID=7", "FOO=node",
		"SLURM_K8S_ENV_PATH=/image/bin", "SLURM_K8S_ENV_FOO=pod", "SLURM_K8S_ENV_BAR=a=b", "SLURM_K8S_ENV_HOSTNAME=pod-1",
		"SLURM_K8S_ENV_PWD=/x", "SLURM_K8S_ENV_SLURM_PROCID=5", "SLURM_K8S_ENV_SLURMD_NODENAME=n1", "SLURM_K8S_ENV_NVIDIA_VISIBLE_DEVICES=3",
		"SLURM_K8S_ENV_KUBERNETES_PORT=1", "SLURM_K8S_ENV_=x", "SLURM_K8S_ENV_LD_PRELOAD=lib.so", "SLURM_K8S_ENV_X",
		"SLURM_K8S_INSIDE_DIRECTORY=/work", "SLURM_K8S_ENV_SLURM_K8S_ENV_Y=1",
	}
	for name, c := range map[string]struct {
		image, export string
		want          []string
	}{
		"same image":  {"debian", "", []string{"SLURM_JOB_ID=7", "FOO=pod", "PATH=/image/bin", "BAR=a=b", "LD_PRELOAD=lib.so"}},
		"other image": {"alpine", "", []string{"SLURM_JOB_ID=7", "FOO=pod", "BAR=a=b"}},
		"none":        {"debian", "NONE", []string{"SLURM_JOB_ID=7", "FOO=node"}},
		"a value":     {"debian", "ALL,FOO=mine", []string{"SLURM_JOB_ID=7", "FOO=node", "PATH=/image/bin", "BAR=a=b", "LD_PRELOAD=lib.so"}},
		"names":       {"debian", "BAR,FOO=mine", []string{"SLURM_JOB_ID=7", "FOO=node", "BAR=a=b"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := append(slices.Clone(env), "SLURM_K8S_INSIDE_IMAGE=debian")
			if c.export != "" {
				all = append(all, "SLURM_K8S_INSIDE_EXPORT="+c.export)
			}
			j := Job{Step: "0", Options: Options{Image: c.image}}
			assert.ElementsMatch(t, c.want, slices.DeleteFunc(j.Environment(all, Record{}), func(e string) bool {
				return strings.HasPrefix(e, "NVIDIA_")
			}))
		})
	}
}

func TestInside(t *testing.T) {
	assert.Equal(t, []string{"SLURM_K8S_INSIDE_IMAGE=debian:12"}, Job{Options: Options{Image: "debian:12"}}.Inside())
	assert.Equal(t, "/a b", InsideDirectory([]string{"X=1", "SLURM_K8S_INSIDE_DIRECTORY=/a b"}))
	for _, bad := range []string{"", "relative", "/a\x01", "-/x", "/" + strings.Repeat("x", 5000)} {
		assert.Empty(t, InsideDirectory([]string{"SLURM_K8S_INSIDE_DIRECTORY=" + bad}))
	}
}

func FuzzCarried(f *testing.F) {
	f.Add("SLURM_K8S_ENV_A=1", "ALL,B=2", "debian")
	f.Fuzz(func(t *testing.T, entry, export, image string) {
		env := []string{entry, "SLURM_K8S_INSIDE_EXPORT=" + export, "SLURM_K8S_INSIDE_IMAGE=" + image}
		for _, e := range (Job{Options: Options{Image: "debian"}}).Environment(env, Record{}) {
			name, _, found := strings.Cut(e, "=")
			if !found || name == "" || strings.IndexByte(e, 0) >= 0 || strings.HasPrefix(e, carriedPrefix) || strings.HasPrefix(e, insidePrefix) {
				t.Errorf("%q", e)
			}
		}
	})
}
