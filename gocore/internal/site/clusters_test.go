// SPDX-License-Identifier: Apache-2.0

package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const twoClusters = `
clusters:
- {name: lab, kubeconfig: /etc/slurm/k8s/lab.kubeconfig, reader_kubeconfig: /etc/slurm/k8s/lab-reader.kubeconfig}
- name: cloud
  kubeconfig: /etc/slurm/k8s/cloud.kubeconfig
  namespace: batch
`

func TestClusters(t *testing.T) {
	for text, test := range map[string]struct{ enters, none, asked string }{
		"":                         {"lab", "lab", "cloud"},
		"default_cluster: cloud\n": {"cloud", "cloud", "cloud"},
		"default_cluster: auto\n":  {"lab", ClusterAuto, "cloud"},
	} {
		config, err := Parse([]byte(twoClusters + text))
		require.NoError(t, err, text)
		assert.Equal(t, []string{"lab", "cloud"}, config.ClusterNames(), text)
		assert.Equal(t, test.enters, config.Kubernetes, text)
		assert.Equal(t, test.none, config.ClusterFor(""), text)
		assert.Equal(t, test.asked, config.ClusterFor("cloud"), text)
	}
	config, err := Parse([]byte(twoClusters))
	require.NoError(t, err)
	assert.Equal(t, []string{"slurm", "/etc/slurm/k8s/lab.kubeconfig", "/etc/slurm/k8s/lab-reader.kubeconfig"}, []string{config.Namespace, config.Kubeconfig, config.ReaderKubeconfig})
	cloud, err := config.In("cloud")
	require.NoError(t, err)
	assert.Equal(t, []string{"cloud", "batch", "/etc/slurm/k8s/cloud.kubeconfig", ""}, []string{cloud.Kubernetes, cloud.Namespace, cloud.Kubeconfig, cloud.ReaderKubeconfig})
	assert.Equal(t, "lab", config.Kubernetes, "it is as it was")
	back, err := cloud.In("lab")
	require.NoError(t, err)
	assert.Equal(t, config, back)
	_, err = config.In("moon")
	assert.EqualError(t, err, `no cluster of this site: "moon" (there are: lab, cloud)`)
	assert.Equal(t, []*Config{back, cloud}, config.Each())
}

func TestNoClusters(t *testing.T) {
	config := Default()
	assert.Empty(t, config.ClusterNames())
	assert.Empty(t, config.ClusterFor("lab"))
	assert.Equal(t, []*Config{config}, config.Each())
	_, err := config.In("")
	assert.Error(t, err)
}

func TestClustersFaults(t *testing.T) {
	for text, want := range map[string]string{
		"kubeconfig: /a\n" + twoClusters[1:]:                                                           "line 1: kubeconfig: not beside clusters, where each has its own",
		"namespace: a\n" + twoClusters[1:]:                                                             "line 1: namespace: not beside clusters, where each has its own",
		"reader_kubeconfig: /a\n" + twoClusters[1:]:                                                    "line 1: reader_kubeconfig: not beside clusters, where each has its own",
		"default_cluster: lab\n":                                                                       `line 1: default_cluster: "lab": the file has no clusters`,
		twoClusters[1:] + "default_cluster: moon\n":                                                    `line 6: default_cluster: "moon", must be one of lab, cloud, auto`,
		"clusters: [{name: a}]\n":                                                                      "line 1: clusters[0].kubeconfig: is missing",
		"clusters: [{kubeconfig: /a}]\n":                                                               "line 1: clusters[0].name: \"\": a lowercase RFC 1123 label must consist of",
		"clusters: [{name: A, kubeconfig: /a}]\n":                                                      "line 1: clusters[0].name: \"A\": a lowercase RFC 1123 label must consist of",
		"clusters: [{name: auto, kubeconfig: /a}]\n":                                                   `line 1: clusters[0].name: "auto" is the word for the first with room`,
		"clusters: [{name: a, kubeconfig: a}]\n":                                                       `line 1: clusters[0].kubeconfig: "a" is not an absolute path`,
		"clusters: [{name: a, kubeconfigs: /a}]\n":                                                     `line 1: clusters[0].kubeconfigs: unknown key, did you mean "kubeconfig"?`,
		"clusters: {a: /a}\n":                                                                          `line 1: clusters: {"a":"/a"} is not a list`,
		"clusters:\n- {name: a, kubeconfig: /a}\n- {name: a, kubeconfig: /b}\n":                        `line 3: clusters[1].name: "a" is named twice`,
		"clusters:\n- {name: a, kubeconfig: /a}\n- {name: b, kubeconfig: /a}\n":                        `line 3: clusters[1].kubeconfig: "/a" with namespace "slurm" is cluster "a"`,
		"clusters:\n- {name: a, kubeconfig: /a}\n- {name: b, kubeconfig: /b, reader_kubeconfig: /a}\n": `line 3: clusters[1].reader_kubeconfig: "/a" is also the kubeconfig of cluster "a"`,
		"clusters:\n- {name: a, kubeconfig: /a, reader_kubeconfig: /r}\n- {name: b, kubeconfig: /r}\n": `line 3: clusters[1].kubeconfig: "/r" is also the reader_kubeconfig of cluster "a"`,
		"clusters: [{name: a, kubeconfig: /a, reader_kubeconfig: /a}]\n":                               `clusters[0].reader_kubeconfig: "/a" is also kubeconfig`,
		"clusters: [{name: a, kubeconfig: /a, namespace: N_o}]\n":                                      `clusters[0].namespace: "N_o"`,
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	_, err := Parse([]byte("clusters: [{name: a, kubeconfig: /a}, {name: b, kubeconfig: /a, namespace: other}]\n"))
	assert.NoError(t, err, "two namespaces of one cluster")
}

func TestClustersNamespaceOfThePod(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "namespace"), []byte("here\n"), 0o600))
	path := filepath.Join(folder, "k8s.yaml")
	text := "clusters:\n- {name: a, kubeconfig: /a}\n- {name: own, kubeconfig: \"in-cluster:" + folder + "\"}\ndefault_cluster: own\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	config, err := load(path, uint32(os.Getuid()))
	require.NoError(t, err)
	assert.Equal(t, "here", config.Namespace)
	a, err := config.In("a")
	require.NoError(t, err)
	assert.Equal(t, "slurm", a.Namespace)
}
