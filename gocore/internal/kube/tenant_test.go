// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
)

const (
	tenantPath   = "/api/v1/namespaces/user-alice"
	bindingsPath = "/apis/rbac.authorization.k8s.io/v1/namespaces/user-alice/rolebindings"
)

func aliceTenant(t *testing.T) tenant.Objects {
	t.Helper()
	config := site.Default()
	config.Namespace = "user-%u"
	place, err := config.NamespaceOf(site.Owner{User: "alice", Cluster: "lab", UID: 1001, GID: 1001})
	require.NoError(t, err)
	return tenant.Build(config, place)
}

func TestMakeTenant(t *testing.T) {
	made := object(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	exists := status(409, metav1.StatusReasonAlreadyExists, "it exists")
	denied := status(403, metav1.StatusReasonForbidden, "forbidden")
	there := func(change func(*corev1.Namespace)) answer {
		namespace := aliceTenant(t).Namespace
		change(namespace)
		return object(namespace)
	}
	ours := there(func(*corev1.Namespace) {})
	const all = "namespaces resourcequotas limitranges rolebindings rolebindings"
	for name, test := range map[string]struct {
		namespace, get, quota, binding answer
		made                           string
		class                          podstatus.Class
		words                          string
	}{
		"it is new":                    {made, nil, made, made, all, podstatus.ClassNone, ""},
		"another node was faster":      {exists, ours, exists, exists, all, podstatus.ClassNone, ""},
		"another node did one half":    {exists, ours, exists, made, all, podstatus.ClassNone, ""},
		"another's":                    {exists, there(func(n *corev1.Namespace) { n.Labels = nil }), nil, nil, "namespaces", podstatus.ClassFinal, "is there and is not this one"},
		"another's of the name":        {exists, there(func(n *corev1.Namespace) { n.Annotations["slurm-k8s/namespace"] = "user-Alice" }), nil, nil, "namespaces", podstatus.ClassFinal, `is "user-Alice"`},
		"it is being deleted":          {exists, there(func(n *corev1.Namespace) { n.DeletionTimestamp = new(metav1.Now()) }), nil, nil, "namespaces", podstatus.ClassRetry, "being deleted"},
		"a policy refuses it":          {denied, nil, nil, nil, "namespaces", podstatus.ClassFinal, "forbidden"},
		"the rights stay out":          {made, nil, denied, nil, "namespaces resourcequotas limitranges", podstatus.ClassFinal, "forbidden"},
		"the binding cannot be made":   {made, nil, made, denied, "namespaces resourcequotas limitranges rolebindings", podstatus.ClassFinal, "forbidden"},
		"the server goes in the midst": {made, nil, status(503, metav1.StatusReasonServiceUnavailable, "away"), nil, "namespaces resourcequotas limitranges", podstatus.ClassRetry, "away"},
	} {
		t.Run(name, func(t *testing.T) {
			a := (&api{}).on("POST /api/v1/namespaces", test.namespace).on("POST "+tenantPath+"/limitranges", made)
			for path, answer := range map[string]answer{
				"GET " + tenantPath: test.get, "POST " + tenantPath + "/resourcequotas": test.quota, "POST " + bindingsPath: test.binding,
			} {
				if answer != nil {
					a.on(path, answer)
				}
			}
			err := served(t, a).MakeTenant(t.Context(), aliceTenant(t))
			assert.Equal(t, test.class, podstatus.ClassifyError(err), err)
			assert.Equal(t, name == "it is being deleted", podstatus.NamespaceEnds(err))
			if test.words != "" {
				assert.ErrorContains(t, err, test.words)
			}
			assert.Equal(t, test.made, a.posted())
		})
	}
}

// posted are the resources of which something was made, in order.
func (a *api) posted() string {
	var all []string
	for _, r := range a.seen {
		if r.method == http.MethodPost {
			parts := strings.Split(r.path, "/")
			all = append(all, parts[len(parts)-1])
		}
	}
	return strings.Join(all, " ")
}

func TestRenewTenant(t *testing.T) {
	fine := object(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	a := (&api{}).on("PUT "+tenantPath+"/resourcequotas/slurm-k8s", fine).
		on("PUT "+tenantPath+"/limitranges/slurm-k8s", status(404, metav1.StatusReasonNotFound, "none")).
		on("POST "+tenantPath+"/limitranges", fine).
		on("POST "+bindingsPath, status(409, metav1.StatusReasonAlreadyExists, "it exists")).
		on("PUT "+tenantPath, fine)
	require.NoError(t, served(t, a).RenewTenant(t.Context(), aliceTenant(t)))
	assert.Equal(t, "limitranges rolebindings rolebindings", a.posted())
	last := a.seen[len(a.seen)-1]
	assert.Equal(t, tenantPath, last.path, "what says that the rest is up to date comes last")

	a = (&api{}).on("PUT "+tenantPath+"/resourcequotas/slurm-k8s", status(403, metav1.StatusReasonForbidden, "forbidden"))
	require.ErrorContains(t, served(t, a).RenewTenant(t.Context(), aliceTenant(t)), "forbidden")
	assert.False(t, slices.ContainsFunc(a.seen, func(r request) bool { return r.path == tenantPath }))
}
