// SPDX-License-Identifier: Apache-2.0

package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Cluster is one of several Kubernetes clusters. All else of the file counts in each of them.
type Cluster struct {
	// Name by which jobs ask for it.
	Name string `json:"name"`
	// Kubeconfig, Namespace, System and ReaderKubeconfig are what the file's own keys of these
	// names are for a single cluster.
	Kubeconfig       string `json:"kubeconfig"`
	Namespace        string `json:"namespace,omitempty"`
	System           string `json:"system_namespace,omitempty"`
	ReaderKubeconfig string `json:"reader_kubeconfig,omitempty"`
}

// ClusterAuto, in place of a name: the first whose scheduler places the Pod.
const ClusterAuto = "auto"

// maxClusters bounds what auto tries and the collector goes through.
const maxClusters = 32

// ClusterNames are the clusters' in the site's order; none where it names none.
func (c *Config) ClusterNames() []string {
	names := make([]string, len(c.Clusters))
	for i := range c.Clusters {
		names[i] = c.Clusters[i].Name
	}
	return names
}

// ClusterFor is the cluster, or auto, of a job that asks for this one, or for none (empty).
// Empty where the site names none.
func (c *Config) ClusterFor(asked string) string {
	if len(c.Clusters) == 0 {
		return ""
	}
	return cmp.Or(asked, c.DefaultCluster, c.Clusters[0].Name)
}

// In is the configuration with kubeconfig, namespace and reader of one of its clusters.
func (c *Config) In(name string) (*Config, error) {
	for i := range c.Clusters {
		if c.Clusters[i].Name == name {
			here := *c
			here.enter(&c.Clusters[i])
			return &here, nil
		}
	}
	return nil, fmt.Errorf("no cluster of this site: %q (there are: %s)", name, strings.Join(c.ClusterNames(), ", "))
}

// Each is the configuration of each cluster, in the site's order; of a site that names none itself.
func (c *Config) Each() []*Config {
	if len(c.Clusters) == 0 {
		return []*Config{c}
	}
	all := make([]*Config, len(c.Clusters))
	for i := range c.Clusters {
		here := *c
		here.enter(&c.Clusters[i])
		all[i] = &here
	}
	return all
}

func (c *Config) enter(cluster *Cluster) {
	c.Kubernetes, c.Kubeconfig, c.ReaderKubeconfig = cluster.Name, cluster.Kubeconfig, cluster.ReaderKubeconfig
	c.Namespace, c.System = cluster.Namespace, cluster.System
}

// settleClusters fills in what the list leaves out, and enters the default cluster: the first, for auto.
func (c *Config) settleClusters() {
	if len(c.Clusters) == 0 {
		return
	}
	for i := range c.Clusters {
		c.Clusters[i].Namespace = cmp.Or(c.Clusters[i].Namespace, Default().Namespace)
	}
	at := slices.Index(c.ClusterNames(), c.DefaultCluster)
	c.enter(&c.Clusters[max(at, 0)])
}

// besideClusters finds keys of a single cluster beside a list of several.
func (c *checker) besideClusters(top map[string]any) {
	if list, _ := top["clusters"].([]any); len(list) == 0 {
		return
	}
	for _, key := range []string{"namespace", "system_namespace", "kubeconfig", "reader_kubeconfig"} {
		if top[key] != nil {
			c.add(key, "not beside clusters, where each has its own")
		}
	}
}

func (c *Config) validateClusters(f *faults) {
	if len(c.Clusters) == 0 {
		validateCluster(f, "", Cluster{Kubeconfig: c.Kubeconfig, Namespace: c.Namespace, System: c.System, ReaderKubeconfig: c.ReaderKubeconfig})
		if c.DefaultCluster != "" {
			f.add("default_cluster", "%q: the file has no clusters", c.DefaultCluster)
		}
		return
	}
	if len(c.Clusters) > maxClusters {
		f.add("clusters", "%d, at most %d are possible", len(c.Clusters), maxClusters)
	}
	for i, one := range c.Clusters {
		key := fmt.Sprintf("clusters[%d].", i)
		for _, problem := range validation.IsDNS1123Label(one.Name) {
			f.add(key+"name", "%q: %s", one.Name, problem)
		}
		if one.Name == ClusterAuto {
			f.add(key+"name", "%q is the word for the first with room", one.Name)
		}
		validateCluster(f, key, one)
		for _, other := range c.Clusters[:i] {
			switch {
			case one.Name != "" && one.Name == other.Name:
				f.add(key+"name", "%q is named twice", one.Name)
			case one.Kubeconfig != "" && one.Kubeconfig == other.Kubeconfig && one.Namespace == other.Namespace:
				f.add(key+"kubeconfig", "%q with namespace %q is cluster %q", one.Kubeconfig, one.Namespace, other.Name)
			case one.ReaderKubeconfig != "" && one.ReaderKubeconfig == other.Kubeconfig:
				f.add(key+"reader_kubeconfig", "%q is also the kubeconfig of cluster %q, which users must not read", one.ReaderKubeconfig, other.Name)
			case one.Kubeconfig != "" && one.Kubeconfig == other.ReaderKubeconfig:
				f.add(key+"kubeconfig", "%q is also the reader_kubeconfig of cluster %q, which users read", one.Kubeconfig, other.Name)
			}
		}
	}
	if may := append(c.ClusterNames(), ClusterAuto); c.DefaultCluster != "" && !slices.Contains(may, c.DefaultCluster) {
		f.add("default_cluster", "%q, must be one of %s", c.DefaultCluster, strings.Join(may, ", "))
	}
}

// validateCluster checks what belongs to one cluster; prefix is of its keys.
func validateCluster(f *faults, prefix string, one Cluster) {
	validateNamespace(f, prefix, one.Namespace, one.System)
	if one.Kubeconfig == "" && prefix != "" {
		f.add(prefix+"kubeconfig", "is missing")
	} else {
		validateKubeconfig(f, prefix+"kubeconfig", one.Kubeconfig)
	}
	if one.ReaderKubeconfig == "" {
		return
	}
	f.absolute(prefix+"reader_kubeconfig", one.ReaderKubeconfig)
	if one.ReaderKubeconfig == one.Kubeconfig {
		f.add(prefix+"reader_kubeconfig", "%q is also kubeconfig, which users must not read", one.ReaderKubeconfig)
	}
}
