// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

var update = flag.Bool("update", false, "write the golden files")

const base = "tenants:\n  labels: {team: lab}\n  annotations: {example.com/contact: hpc}\n  quota: {requests.cpu: 32, requests.memory: 128Gi, requests.nvidia.com/gpu: 4}\n" +
	"  limits: [{type: Container, max: {memory: 64Gi}}]\n"

func configOf(t *testing.T, text string) *site.Config {
	t.Helper()
	config, err := site.Parse([]byte(text))
	require.NoError(t, err)
	return config
}

func placeOf(t *testing.T, config *site.Config, user string) site.Namespace {
	t.Helper()
	place, err := config.NamespaceOf(site.Owner{User: user, Account: "physics", Cluster: "lab", UID: 1001, GID: 2001})
	require.NoError(t, err)
	return place
}

func TestGolden(t *testing.T) {
	for name, test := range map[string]struct{ text, user string }{
		"user":     {"namespace: user-%u\n" + base, "alice"},
		"odd-name": {"namespace: user-%u\nsystem_namespace: hpc\n", "Alice.B@EXAMPLE.ORG"},
		"account":  {"namespace: account-%a\nvolumes: {home: {host_path: /srv/home, mount: /home}}\n", "alice"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configOf(t, test.text)
			objects := Build(config, placeOf(t, config, test.user))
			var texts []string
			for _, object := range []any{objects.Namespace, objects.Quota, objects.Limits, objects.Bindings[0], objects.Bindings[1]} {
				text, err := yaml.Marshal(object)
				require.NoError(t, err)
				texts = append(texts, string(text))
			}
			got := strings.Join(texts, "---\n")
			file := "testdata/" + name + ".yaml"
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestForeign(t *testing.T) {
	config := configOf(t, "namespace: user-%u\n")
	want := Build(config, placeOf(t, config, "alice")).Namespace
	there := want.DeepCopy()
	there.Labels["somebody"], there.Annotations["else"] = "x", "y"
	require.NoError(t, Foreign(there, want))
	for what, words := range map[string]string{
		wellknown.LabelManaged: "managed-by", wellknown.LabelTenantOf: "tenant-of", wellknown.LabelCluster: `slurm-k8s/cluster is "", not "lab"`,
		wellknown.AnnotationNamespace: `slurm-k8s/namespace is "", not "user-alice"`, wellknown.AnnotationUID: `slurm-k8s/uid is "", not "1001"`,
	} {
		there := want.DeepCopy()
		delete(there.Labels, what)
		delete(there.Annotations, what)
		assert.ErrorContains(t, Foreign(there, want), words)
	}
}

func TestRenew(t *testing.T) {
	before := configOf(t, "namespace: user-%u\n"+base)
	made := Build(before, placeOf(t, before, "alice")).Namespace
	made.Labels["somebody"], made.ResourceVersion = "x", "7"
	_, changed := Renew(before, made)
	require.False(t, changed)
	for name, text := range map[string]string{
		"quota":      strings.Replace(base, "32", "64", 1),
		"limits":     strings.Replace(base, "64Gi", "32Gi", 1),
		"label":      strings.Replace(base, "team: lab", "team: other", 1),
		"annotation": strings.Replace(base, "contact: hpc", "contact: other", 1),
		"allow":      base + "registries: {pull_secrets: [mirror]}\n",
		"level":      base + "volumes: {home: {host_path: /srv/home, mount: /home}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			after := configOf(t, "namespace: user-%u\n"+text)
			objects, changed := Renew(after, made)
			require.True(t, changed)
			assert.Equal(t, "7", objects.Namespace.ResourceVersion, "a change meanwhile is not undone")
			assert.Equal(t, "x", objects.Namespace.Labels["somebody"])
			require.NoError(t, Foreign(objects.Namespace, made))
			want := Build(after, placeOf(t, after, "alice"))
			want.Namespace.Labels["somebody"], want.Namespace.ResourceVersion = "x", "7"
			assert.Equal(t, want, objects)
			_, changed = Renew(after, objects.Namespace)
			assert.False(t, changed)
		})
	}
}
