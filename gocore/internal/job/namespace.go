// SPDX-License-Identifier: Apache-2.0

package job

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// NamespaceOf is the namespace of the job's Pods. One that the job's record names stays, whatever
// has become of the job's account or the site's file since: there its earlier Pods are. Without
// one it is as the site says.
func (j Job) NamespaceOf(config *site.Config) (site.Namespace, error) {
	owner := site.Owner{User: j.User, Account: j.Account, Cluster: j.Cluster, UID: j.UID, GID: j.GID}
	if config.Cluster != "" {
		owner.Cluster = config.Cluster
	}
	place, err := config.NamespaceOf(owner)
	record, _ := ParseAdminComment(j.AdminComment)
	if config.Kubernetes != record.Cluster && config.Kubernetes != "" { // the one of another cluster, or none
		return place, err
	}
	// Operators may write there, too.
	if wellknown.IsNamespace(record.Namespace) && (err != nil || record.Namespace != place.Name) {
		return site.Namespace{Name: record.Namespace, Owner: owner}, nil
	}
	return place, err
}
