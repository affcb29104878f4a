// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// namespaces are those that jobs' Pods may be in, the first that of the accounts; those of a pattern
// are brought up to date on the way.
func (c *Collector) namespaces(ctx context.Context) ([]string, error) {
	names := []string{c.Namespace}
	if c.Tenants == nil {
		return names, nil
	}
	there, err := c.Tenants.List(ctx, tenant.Selector(c.Tenants.Site, c.Cluster))
	if err != nil {
		return names, fmt.Errorf("cannot list the jobs' namespaces: %w", err)
	}
	var faults []error
	old := 0
	for i := range there {
		if there[i].DeletionTimestamp != nil {
			continue
		}
		names = append(names, there[i].Name)
		objects, changed := tenant.Renew(c.Tenants.Site, &there[i])
		if !changed {
			continue
		}
		old++
		if c.Tenants.Renew == nil {
			continue
		}
		faults = append(faults, c.do(c.Log, "update", "namespace "+there[i].Name, "the site's file has changed", func() error {
			return c.Tenants.Renew(ctx, objects)
		}))
	}
	if old > 0 && c.Tenants.Renew == nil {
		c.Log.Warnf("%d of %d namespaces are not as the site's file has them now, and there is no credential here to change them", old, len(there))
	}
	return names, errors.Join(faults...)
}

// listPods asks once, however many namespaces there are. What lies elsewhere is none of ours,
// whatever its labels say.
func (c *Collector) listPods(ctx context.Context, namespaces []string) ([]corev1.Pod, error) {
	pods, err := c.Kubernetes.ListPods(ctx, c.scope(), selectorAll)
	ours := sets.New(namespaces...)
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return !ours.Has(pod.Namespace) }), err
}

// listClaims is listPods for the volume claims that jobs of this Slurm cluster have kept.
func (c *Collector) listClaims(ctx context.Context, namespaces []string) ([]metav1.ObjectMeta, error) {
	claims, err := c.Kubernetes.ListClaims(ctx, c.scope(), selectorAll+","+wellknown.LabelCluster+"="+c.Cluster)
	ours := sets.New(namespaces...)
	return slices.DeleteFunc(claims, func(claim metav1.ObjectMeta) bool { return !ours.Has(claim.Namespace) }), err
}

// scope of a list: one namespace, or all (empty).
func (c *Collector) scope() string {
	if c.Tenants == nil {
		return c.Namespace
	}
	return ""
}

func (c *Collector) where() string {
	if c.Tenants == nil {
		return "namespace " + c.Namespace
	}
	return "the jobs' namespaces"
}

const (
	// podinitTurn is how many namespaces one run looks through for old podinits, a request each.
	podinitTurn = 20
	// turnPeriod is about the time between two runs.
	turnPeriod = 5 * time.Minute
)

// turn are the namespaces whose turn it is, by the clock: all have theirs in time.
func turn(namespaces []string, now time.Time) []string {
	if len(namespaces) <= podinitTurn {
		return namespaces
	}
	turns := (len(namespaces) + podinitTurn - 1) / podinitTurn
	at := int(now.Unix()/int64(turnPeriod/time.Second)) % turns * podinitTurn
	return namespaces[at:min(at+podinitTurn, len(namespaces))]
}
