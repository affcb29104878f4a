// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// checkClusterName wants what may be a cluster's name; auto is one, too.
func checkClusterName(value string) error {
	flag := Flag(Cluster)
	if err := common(flag, value); err != nil {
		return err
	}
	if len(validation.IsDNS1123Label(value)) > 0 {
		return fault(flag, value, "not the name of a cluster")
	}
	return nil
}

// CheckCluster also asks whether the site names such a cluster.
func CheckCluster(value string, config *site.Config) error {
	if err := common(Flag(Cluster), value); err != nil {
		return err
	}
	names := config.ClusterNames()
	if len(names) == 0 {
		return fault(Flag(Cluster), value, "this site has one cluster and names none (leave the option out)")
	}
	if value == site.ClusterAuto {
		return nil
	}
	if _, err := config.In(value); err != nil {
		return fault(Flag(Cluster), value, "no cluster of this site (there are: %s, or %s)", strings.Join(names, ", "), site.ClusterAuto)
	}
	return nil
}
