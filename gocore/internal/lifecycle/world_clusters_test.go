// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Names of the site's clusters, where it has two.
const first, second = "a", "b"

// twoClusters makes the site name two; the default is the first, or what it says.
func (w *world) twoClusters(byDefault string) {
	w.site.Clusters = []site.Cluster{{Name: first, Kubeconfig: "/a", Namespace: "slurm"}, {Name: second, Kubeconfig: "/b", Namespace: "batch"}}
	w.site.DefaultCluster = byDefault
	w.cluster.name = first
	w.other = newFakeCluster(w)
	w.other.name = second
}

func (w *world) open(config *site.Config) (Cluster, error) {
	at := slices.IndexFunc(w.clusters(), func(c *fakeCluster) bool { return c.name == config.Kubernetes })
	if err := w.unopened[config.Kubernetes]; at < 0 || err != nil {
		return nil, fmt.Errorf("cluster %q: %w", config.Kubernetes, err)
	}
	return w.clusters()[at], nil
}

func (w *world) clusters() []*fakeCluster {
	if w.other == nil {
		return []*fakeCluster{w.cluster}
	}
	return []*fakeCluster{w.cluster, w.other}
}

// runs tells whether a container of ours runs, wherever.
func (w *world) runs() bool {
	return slices.ContainsFunc(w.clusters(), (*fakeCluster).runs)
}

func (w *world) startedIn(cluster string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.placed = append(w.placed, cluster)
}
