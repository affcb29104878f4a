// SPDX-License-Identifier: Apache-2.0

// Package site is the site's configuration, /etc/slurm/k8s.yaml: read strictly, so
// that a key with a typing error is a fault and not a default in disguise.
package site

import (
	"encoding/json"
	"fmt"
	"time"
)

// Config is the whole file. Every key is documented in examples/k8s.yaml.
type Config struct {
	// Cluster names the Slurm cluster in labels; default: Slurm's ClusterName.
	Cluster string `json:"cluster,omitempty"`
	// Namespace of the Pods and of what the plugin publishes, or a pattern of the Pods' namespaces:
	// "user-%u", "account-%a".
	Namespace string `json:"namespace"`
	// System is the namespace of the accounts and of what the plugin publishes, beside a pattern.
	System string `json:"system_namespace,omitempty"`
	// Tenants: what the namespaces of a pattern have, and who makes them.
	Tenants Tenants `json:"tenants"`
	// Kubeconfig of the node's credential: root's alone, mode 0600 or less. Or in-cluster.
	Kubeconfig string `json:"kubeconfig"`
	// ReaderKubeconfig may be read by users; it can read one ConfigMap. Empty: no shape check.
	ReaderKubeconfig string `json:"reader_kubeconfig,omitempty"`

	// Clusters are several Kubernetes clusters in place of the keys above, which then are
	// those of the default one. In the order in which auto tries them.
	Clusters []Cluster `json:"clusters,omitempty"`
	// DefaultCluster is a name of them, or auto, for jobs that name none; empty: the first.
	DefaultCluster string `json:"default_cluster,omitempty"`
	// Kubernetes is the name of the cluster that these keys are of; empty: the site names none.
	Kubernetes string `json:"-"`

	LegacyComments bool `json:"legacy_comments"`

	Gate    Gate    `json:"gate"`
	Requeue Requeue `json:"requeue"`
	// StartLimit bounds create to running: pulls and mounts too.
	StartLimit Duration `json:"start_limit"`
	// OrphanTimeout is the fence: podinit ends its tasks when no core spoke to it for so long.
	OrphanTimeout Duration `json:"orphan_timeout"`

	// Rendezvous: none, or pytorch: the variables by which the tasks of a step find each other.
	Rendezvous string `json:"rendezvous"`

	Pod        Pod        `json:"pod"`
	Resources  Resources  `json:"resources"`
	Placement  Placement  `json:"placement"`
	Registries Registries `json:"registries"`
	Submission Submission `json:"submission"`
	Output     Output     `json:"output"`
	Commands   Commands   `json:"commands"`

	// Volumes that jobs may have, by name.
	Volumes map[string]Volume `json:"volumes,omitempty"`
	// Claims: volumes that are made for one job.
	Claims Claims `json:"claims"`
}

// Gate says how long a Pod that does not fit keeps its place.
type Gate struct {
	// Wait in place before the job goes back to PENDING.
	Wait Duration `json:"wait"`
	// WaitMax: a job that was put back before waits twice as long each time, at most this.
	WaitMax Duration `json:"wait_max"`
	// Grace before any verdict, at least 5 s: a finished task's room is free only up to 2 s later.
	Grace Duration `json:"grace"`
	// Turns: while a job that was put back waits for room, later ones of its Slurm node that want of the same wait, too.
	Turns bool `json:"turns"`
	// Autoscaler declared: "can never fit" is never said.
	Autoscaler bool `json:"autoscaler"`
}

// Requeue is the backoff of a job put back before it started.
type Requeue struct {
	Backoff    Duration `json:"backoff"`     // first; doubles
	BackoffMax Duration `json:"backoff_max"` // at most
	Jitter     float64  `json:"jitter"`      // 0 to 1, part of the backoff that is random
}

// Pod is what the site adds to every Pod.
type Pod struct {
	// DeadlineMargin: activeDeadlineSeconds is the job's time limit and this. 0: none.
	DeadlineMargin Duration `json:"deadline_margin"`
	// PullPolicy: IfNotPresent, Always or Never.
	PullPolicy string `json:"pull_policy"`
	// TerminationGrace: between TERM and KILL when Kubernetes itself ends the Pod.
	TerminationGrace Duration `json:"termination_grace"`
	// ShmSize of /dev/shm: a Kubernetes quantity, or "50%" of the job's memory. Empty: what the container runtime gives.
	ShmSize string `json:"shm_size,omitempty"`
}

// Resources maps Slurm's resources to Kubernetes'.
type Resources struct {
	// GRES by name, or name:type.
	GRES map[string]GRES `json:"gres"`
	// WholeNode: clamp or refuse an --exclusive or --mem=0 job on a node larger than any Kubernetes node.
	WholeNode string `json:"whole_node"`
	// Reserve is left free on the largest node where a whole-node job is clamped.
	Reserve Reserve `json:"reserve"`
}

// Reserve is an amount of cpu and memory, as Kubernetes quantities.
type Reserve struct {
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
}

// Submission is what sbatch checks.
type Submission struct {
	// RequiredDirectives: long options (time, account) that a job must be given, in the file or beside it.
	RequiredDirectives []string `json:"required_directives,omitempty"`
	// UnreachableRegistry: warn or refuse.
	UnreachableRegistry string `json:"unreachable_registry"`
	// InsecureRegistries (HOST:PORT) are asked over plain HTTP.
	InsecureRegistries []string `json:"insecure_registries,omitempty"`
}

// Output of the tasks.
type Output struct {
	// Rate in bytes per second of all of a Pod's output together, since it passes the API
	// server. 0: no limit.
	Rate int64 `json:"rate"`
}

// Commands are Slurm's, as tasks in Pods may call them.
type Commands struct {
	// Allow: none, queries or all.
	Allow string `json:"allow"`
	// Path: directories of the Slurm node in which they are looked up, in order.
	Path []string `json:"path"`
}

// Duration is a time.Duration written as Go does ("30s", "5m").
type Duration struct{ time.Duration }

// UnmarshalJSON takes a string alone: a bare number would leave its unit to guesses.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is not a duration such as \"30s\" or \"5m\"", data)
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"30s\" or \"5m\"", text)
	}
	d.Duration = value
	return nil
}

// MarshalJSON is the form that UnmarshalJSON takes.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }
