// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
)

// tenants are those of alice, as the site's file has it, and of bob, as it had it before.
func tenants(t *testing.T, renewed *[]string) *Tenants {
	t.Helper()
	config := site.Default()
	config.Namespace = "user-%u"
	old := *config
	old.Tenants.Quota = map[string]string{"pods": "1"}
	var there []corev1.Namespace
	for user, config := range map[string]*site.Config{"alice": config, "bob": &old} {
		place, err := config.NamespaceOf(site.Owner{User: user, Cluster: "lab", UID: 1, GID: 1})
		require.NoError(t, err)
		there = append(there, *tenant.Build(config, place).Namespace)
	}
	return &Tenants{
		Site: config,
		List: func(_ context.Context, selector string) ([]corev1.Namespace, error) {
			assert.Equal(t, "app.kubernetes.io/managed-by=slurm-k8s,slurm-k8s/tenant-of=slurm,slurm-k8s/cluster=lab", selector)
			return there, nil
		},
		Renew: func(_ context.Context, objects tenant.Objects) error {
			*renewed = append(*renewed, objects.Namespace.Name)
			assert.Empty(t, objects.Quota.Spec.Hard)
			return nil
		},
	}
}

func TestTenants(t *testing.T) {
	in := func(namespace string) corev1.Pod {
		return pod("9", func(p *corev1.Pod) { p.Namespace, p.Name = namespace, "slurm-job-9" })
	}
	f := &fake{pods: []corev1.Pod{in("user-alice"), in("user-bob"), in("slurm"), in("user-carol")}, jobs: map[uint32]Job{}}
	var renewed []string
	out, err := f.run(t, func(c *Collector) { c.Tenants = tenants(t, &renewed) })
	require.NoError(t, err)
	assert.Len(t, f.deleted, 3)
	assert.NotContains(t, out, "user-carol", "what lies in another's namespace is left alone, whatever its labels say")
	assert.Equal(t, []string{"user-bob"}, renewed)
	assert.Contains(t, out, "updated namespace user-bob: the site's file has changed")

	renewed = nil
	out, err = f.run(t, func(c *Collector) { c.Tenants, c.DryRun = tenants(t, &renewed), true })
	require.NoError(t, err)
	assert.Empty(t, renewed)
	assert.Contains(t, out, "would update namespace user-bob")

	_, err = f.run(t, func(c *Collector) {
		c.Tenants = tenants(t, &renewed)
		c.Tenants.Renew = nil
	})
	require.NoError(t, err)

	_, err = f.run(t, func(c *Collector) {
		c.Tenants = &Tenants{List: func(context.Context, string) ([]corev1.Namespace, error) { return nil, errors.New("no") }, Site: site.Default()}
	})
	assert.ErrorContains(t, err, "cannot list the jobs' namespaces: no")
}

// All have their turn, and none run has many.
func TestTurn(t *testing.T) {
	var names []string
	for i := range 95 {
		names = append(names, fmt.Sprint(i))
	}
	seen := map[string]bool{}
	for i := range 5 {
		some := turn(names, now.Add(time.Duration(i)*turnPeriod))
		assert.LessOrEqual(t, len(some), podinitTurn)
		for _, name := range some {
			seen[name] = true
		}
	}
	assert.Len(t, seen, 95)
	assert.Len(t, turn(names[:3], now), 3)
}
