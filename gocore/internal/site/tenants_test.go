// SPDX-License-Identifier: Apache-2.0

package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tenantsFile = `namespace: user-%u
system_namespace: hpc
tenants:
  create: yes
  labels: {team: lab}
  annotations: {example.com/contact: "hpc@example.com"}
  quota: {requests.cpu: 32, requests.memory: 128Gi, requests.nvidia.com/gpu: 4, count/jobs.batch: 0}
  limits: [{type: Container, max: {memory: 64Gi}, defaultRequest: {cpu: 100m}}]
`

func TestTenants(t *testing.T) {
	config, err := Parse([]byte(tenantsFile))
	require.NoError(t, err)
	assert.True(t, config.ByPattern() && config.ByUser() && !config.ByAccount())
	assert.Equal(t, "hpc", config.SystemNamespace())
	assert.Equal(t, "32", config.Tenants.Quota["requests.cpu"])
	assert.Equal(t, "64Gi", config.Tenants.Limits[0].Max["memory"])
	assert.Equal(t, "/etc/slurm/k8s/tenants.kubeconfig", config.TenantsKubeconfig())
	config.Tenants.Kubeconfig = "/root/t"
	assert.Equal(t, "/root/t", config.TenantsKubeconfig())
}

func TestTenantsOfClusters(t *testing.T) {
	config, err := Parse([]byte("clusters:\n- {name: one, kubeconfig: /k/one, namespace: user-%u}\n- {name: two, kubeconfig: in-cluster, namespace: \"a-%a\", system_namespace: hpc}\n- {name: three, kubeconfig: /k/three}\ntenants: {create: yes}\n"))
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"one":   {"user-alice", "slurm", "/k/one-tenants.kubeconfig"},
		"two":   {"a-physics", "hpc", "/etc/slurm/k8s/two-tenants.kubeconfig"},
		"three": {"slurm", "slurm", "/k/three-tenants.kubeconfig"},
	} {
		here, err := config.In(name)
		require.NoError(t, err)
		place, err := here.NamespaceOf(Owner{User: "alice", Account: "physics"})
		require.NoError(t, err)
		assert.Equal(t, want, []string{place.Name, here.SystemNamespace(), here.TenantsKubeconfig()}, name)
	}
}

func TestTenantFaults(t *testing.T) {
	for text, want := range map[string]string{
		"gate: {}\nnamespace: User-%u":                                     `line 2: namespace: "User-%u": beside %u, %a and %c there may be lower case`,
		"namespace: u-%q":                                                  `namespace: "u-%q": % must be followed by`,
		"system_namespace: hpc":                                            "only where namespace is a pattern",
		"namespace: u-%u\nsystem_namespace: H":                             `line 2: system_namespace: "H": a lowercase`,
		"tenants: {create: yes}":                                           "tenants.create: the namespace is fixed",
		"namespace: u-%u\ntenants:\n  kubeconfig: x":                       `line 3: tenants.kubeconfig: "x" is not an absolute path`,
		"namespace: u-%u\ntenants: {kubeconfig: /k}\nkubeconfig: /k":       "is also kubeconfig, which must not make namespaces",
		"tenants: {kubeconfig: /k}\nreader_kubeconfig: /k":                 "is also reader_kubeconfig",
		"tenants: {kubeconfig: /t}\nclusters: [{name: a, kubeconfig: /k}]": "not beside clusters: each has its own, NAME-tenants.kubeconfig",
		"namespace: u-%u\nclusters: [{name: a, kubeconfig: /k}]":           "namespace: not beside clusters",
		"clusters: [{name: a, kubeconfig: /k, namespace: u%u}]":            `clusters[0].namespace: "u%u": before %u there must be text`,
		"tenants: {labels: {slurm-k8s/jobs: x}}":                           "names of slurm-k8s are not the site's",
		"tenants: {labels: {a: \"b c\"}}":                                  "tenants.labels.a",
		"tenants: {annotations: {slurm-k8s/uid: \"0\"}}":                   "names of slurm-k8s are not the site's",
		"tenants: {annotations: {\"a b\": x}}":                             "tenants.annotations.a b",
		"tenants:\n  quota:\n    cpu: lots":                                `line 3: tenants.quota.cpu: "lots" is not a Kubernetes quantity`,
		"tenants: {quota: {cpu: -1}}":                                      "is not a Kubernetes quantity",
		"tenants: {limits: [{max: {cpu: 1}}]}":                             `tenants.limits[0].type: "", must be one of Container, Pod`,
		"tenants: {limits: [{type: Pod, min: {cpu: x}}]}":                  "tenants.limits[0].min.cpu",
		"tenants: {creat: yes}":                                            `did you mean "create"?`,
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}
