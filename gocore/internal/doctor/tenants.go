// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// NamespaceCreator makes namespaces that nobody keeps (dryRun=All).
type NamespaceCreator interface {
	DryRunTenant(ctx context.Context, namespace *corev1.Namespace) error
}

// badNamespaces are those that no policy of ours lets through: of each the one change.
var badNamespaces = map[string]func(*corev1.Namespace){
	"a namespace that is not a tenant's":    func(n *corev1.Namespace) { delete(n.Labels, wellknown.LabelTenantOf) },
	"a namespace of one of Kubernetes' own": func(n *corev1.Namespace) { n.Name = "kube-doctor" },
	"a namespace that allows more than the accounts' own": func(n *corev1.Namespace) {
		n.Annotations[site.AllowAnnotation] = "hostPath:/slurm-k8s-doctor"
	},
}

// Making checks that Kubernetes takes a tenant's namespace from the credential for it, and no others.
// It makes none.
func Making(config *site.Config, cluster string, open func() (NamespaceCreator, error)) Check {
	return func(ctx context.Context) []Finding {
		const about = "namespaces"
		creator, err := open()
		if err != nil {
			return []Finding{skipped(about, "", "%s", err)}
		}
		sample, err := sampleNamespace(config, cluster)
		if err != nil {
			return []Finding{fault(about, "", "no namespace can be named for a job: %s", err)}
		}
		if err := creator.DryRunTenant(ctx, sample); err != nil {
			return []Finding{fault(about, "kubectl apply -k deploy/tenants; label and annotate namespace "+config.SystemNamespace()+" as slurm-k8s check-config says", "Kubernetes refuses a namespace for jobs: %s", podstatus.Rule(err))}
		}
		var found []Finding
		for what, change := range badNamespaces {
			bad := sample.DeepCopy()
			change(bad)
			if err := creator.DryRunTenant(ctx, bad); err == nil {
				found = append(found, fault(about, "kubectl apply -k deploy/tenants: its policies are not there", "Kubernetes would take %s from a Slurm node", what))
			} else if class := podstatus.ClassifyError(err); class != podstatus.ClassFinal {
				found = append(found, skipped(about, "", "whether Kubernetes would take %s is not known: %s", what, podstatus.Rule(err)))
			}
		}
		if len(found) == 0 {
			found = append(found, good(about, "Kubernetes takes a namespace as %s, and refuses what must be refused", config.Namespace))
		}
		return found
	}
}

// sampleNamespace is that of a user that nobody is.
func sampleNamespace(config *site.Config, cluster string) (*corev1.Namespace, error) {
	const nobody = 65534
	place, err := config.NamespaceOf(site.Owner{User: "Slurm-K8s.doctor", Account: "Slurm-K8s.doctor", Cluster: cluster, UID: nobody, GID: nobody})
	if err != nil {
		return nil, err
	}
	return tenant.Build(config, place).Namespace, nil
}

// NamespaceLister is what the collector's credential may do.
type NamespaceLister interface {
	ListNamespaces(ctx context.Context, selector string) ([]corev1.Namespace, error)
}

// Made looks at the tenants' namespaces that are there.
func Made(config *site.Config, cluster string, open func() (NamespaceLister, error)) Check {
	return func(ctx context.Context) []Finding {
		const about = "tenants"
		lister, err := open()
		if err != nil {
			return []Finding{skipped(about, "run it where the collector runs", "%s", err)}
		}
		there, err := lister.ListNamespaces(ctx, tenant.Selector(config, wellknown.LabelValue(cluster)))
		if err != nil {
			return []Finding{fault(about, "kubectl apply -k deploy/tenants", "the namespaces cannot be listed: %s", podstatus.Rule(err))}
		}
		old := 0
		for i := range there {
			if _, changed := tenant.Renew(config, &there[i]); changed {
				old++
			}
		}
		if old > 0 {
			return []Finding{warning(about, "slurm-k8s gc, with "+config.TenantsKubeconfig()+" on its host", "%d of %d namespaces are not as the site's file has them now", old, len(there))}
		}
		return []Finding{good(about, "%d namespaces, all as the site's file has them", len(there))}
	}
}
