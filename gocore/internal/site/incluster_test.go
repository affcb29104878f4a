// SPDX-License-Identifier: Apache-2.0

package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInCluster(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "namespace"), []byte("hpc\n"), 0o644))
	me := uint32(os.Getuid())
	for text, want := range map[string][2]string{
		"kubeconfig: in-cluster:" + folder + "\n":                   {"hpc", folder + "/token"},
		"kubeconfig: in-cluster:" + folder + "\nnamespace: slurm\n": {"slurm", folder + "/token"},
		"kubeconfig: in-cluster:" + folder + "/none\n":              {"slurm", folder + "/none/token"},
		"kubeconfig: in-cluster\n":                                  {"slurm", "/var/run/secrets/kubernetes.io/serviceaccount/token"},
		"kubeconfig: /etc/k\n":                                      {"slurm", "/etc/k"},
	} {
		config, err := load(write(t, text, 0o644), me)
		require.NoError(t, err, text)
		assert.Equal(t, want, [2]string{config.Namespace, config.CredentialFile()}, text)
	}
	for _, text := range []string{"kubeconfig: in-cluster:account", "kubeconfig: 'in-cluster:'", "kubeconfig: in_cluster"} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, "is not an absolute path", text)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "namespace"), []byte("No Name"), 0o644))
	_, err := load(write(t, "kubeconfig: in-cluster:"+folder+"\n", 0o644), me)
	assert.ErrorContains(t, err, "namespace")
}
