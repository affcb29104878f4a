// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
)

// ClusterVerdict is why a cluster does not place the Pod, as another report says it.
type ClusterVerdict struct{ Cluster, Reason string }

// ClusterLeft: the next cluster is tried.
func ClusterLeft(cluster, reason string) string {
	sentence, words := split(reason)
	return line(words, "cluster %s does not place the Pod: %s", cluster, sentence)
}

// NoCluster: none of the site's clusters places the Pod now.
func NoCluster(verdicts []ClusterVerdict) string {
	var parts, words []string
	for _, v := range verdicts {
		sentence, word := split(v.Reason)
		parts = append(parts, v.Cluster+": "+sentence)
		if word != "" {
			words = append(words, v.Cluster+": "+word)
		}
	}
	return line(strings.Join(words, "; "), "%s", "none of the site's clusters places the Pod now: "+strings.Join(parts, "; "))
}

// ClusterOfAll: a step of several Slurm nodes does not choose.
func ClusterOfAll(cluster string) string {
	return line("", "--k8s-cluster=auto: only a job's script, and steps of a job with one node, choose by room; this step is in the site's first cluster, %s", cluster)
}

// NotRecorded: Slurm does not keep where the job is.
func NotRecorded(cluster string, err error) string {
	return line("", "the job was not started in cluster %s: Slurm does not record that: %s", cluster, faults(err))
}
