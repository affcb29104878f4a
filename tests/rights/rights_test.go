// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGranted(t *testing.T) {
	all, err := granted("../../deploy", "../../deploy/tenants")
	require.NoError(t, err)
	for _, want := range []right{
		{"slurm-k8s-node", "create", "pods/exec", ""},
		{"slurm-k8s-collector", "list", "namespaces", ""},
		{"slurm-k8s-reader", "get", "configmaps", "slurm-k8s-nodes"},
		{"slurm-k8s-tenants", "bind", "clusterroles.rbac.authorization.k8s.io", "slurm-k8s-tenant-node"},
	} {
		assert.True(t, all[want], want)
	}
	_, err = granted("../../deploy/testdata")
	assert.ErrorContains(t, err, "no role in")
}

func TestUsed(t *testing.T) {
	const start, end = `{"user":{"username":"system:serviceaccount:slurm:slurm-k8s-`, `},"annotations":{"authorization.k8s.io/decision":"allow"}}`
	log := strings.Join([]string{
		start + `node"},"verb":"get","objectRef":{"resource":"pods","subresource":"exec","name":"slurm-job-1"},"responseStatus":{"code":101` + end,
		start + `node"},"verb":"delete","objectRef":{"resource":"pods","name":"slurm-job-1"},"responseStatus":{"code":403` + end,
		start + `node"},"verb":"list","objectRef":{"resource":"events"},"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"forbid"}}`,
		start + `tenants"},"verb":"create","objectRef":{"apiGroup":"rbac.authorization.k8s.io","resource":"rolebindings","name":"slurm-k8s-node"},"responseStatus":{"code":201` + end,
		start + `reader"},"verb":"get","objectRef":{"resource":"configmaps","name":"slurm-k8s-nodes"},"responseStatus":{"code":200` + end,
		`{"user":{"username":"admin"},"impersonatedUser":{"username":"system:serviceaccount:slurm:slurm-k8s-node"},"verb":"create","objectRef":{"resource":"secrets"},"responseStatus":{"code":201` + end,
		`{"user":`,
	}, "\n")
	all := map[right]bool{}
	require.NoError(t, read(strings.NewReader(log), "slurm", all))
	var got []string
	for r := range all {
		got = append(got, strings.Join(strings.Fields(r.String()), " "))
	}
	assert.ElementsMatch(t, []string{
		"slurm-k8s-node get pods/exec", "slurm-k8s-node get pods/exec slurm-job-1", "slurm-k8s-node create pods/exec",
		"slurm-k8s-tenants create rolebindings.rbac.authorization.k8s.io", "slurm-k8s-tenants create rolebindings.rbac.authorization.k8s.io slurm-k8s-node",
		"slurm-k8s-tenants bind clusterroles.rbac.authorization.k8s.io slurm-k8s-tenant-node",
		"slurm-k8s-reader get configmaps", "slurm-k8s-reader get configmaps slurm-k8s-nodes",
	}, got)
}
