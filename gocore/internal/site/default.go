// SPDX-License-Identifier: Apache-2.0

package site

import "time"

// What resources.whole_node, submission.unreachable_registry, pod.pull_policy and rendezvous may be.
const (
	WholeNodeClamp  = "clamp"
	WholeNodeRefuse = "refuse"

	RegistryWarn   = "warn"
	RegistryRefuse = "refuse"

	PullIfNotPresent = "IfNotPresent"
	PullAlways       = "Always"
	PullNever        = "Never"

	RendezvousNone    = "none"
	RendezvousPyTorch = "pytorch"
)

// Default is the configuration of an empty file.
func Default() *Config {
	return &Config{
		Namespace:  "slurm",
		Kubeconfig: "/etc/slurm/k8s/node.kubeconfig",

		Gate: Gate{
			// Most Pods are scheduled within 10 ms; half a minute lets a small task end
			// and keeps the place in kube-scheduler's queue meanwhile.
			Wait: after(30 * time.Second),
			// Long enough for an autoscaler's node, and for a large job to collect room.
			WaitMax: after(10 * time.Minute),
			// A finished task's room is free only up to 2 s later; below 5 s verdicts would be wrong.
			Grace: after(5 * time.Second),
			// A large job would never start under a stream of small ones.
			Turns: true,
		},
		Requeue: Requeue{
			Backoff:    after(10 * time.Second),
			BackoffMax: after(5 * time.Minute),
			// Twenty jobs put back at once must not come again at once.
			Jitter: 0.2,
		},
		// What the users had: a Pod that does not run after 5 minutes is put back.
		StartLimit: after(5 * time.Minute),
		// Longer than the API outages that jobs should survive.
		OrphanTimeout: after(30 * time.Minute),

		Rendezvous: RendezvousNone,

		Pod: Pod{
			// activeDeadlineSeconds can never be raised, Slurm's limits can: a month beyond them.
			DeadlineMargin:   after(720 * time.Hour),
			PullPolicy:       PullIfNotPresent,
			TerminationGrace: after(30 * time.Second), // KillWait's default in Slurm
		},
		Resources: Resources{
			GRES:      defaultGRES(),
			WholeNode: WholeNodeClamp,
			// What the agents of a usual cluster request on every node (network, logs, metrics).
			Reserve: Reserve{CPU: "500m", Memory: "1Gi"},
		},
		Placement: Placement{
			Mode: PlaceCluster,
			// kubelet sets it, to the node's name by default.
			NodeLabel: "kubernetes.io/hostname",
		},
		Submission: Submission{
			// A registry that is away for a minute must not refuse jobs that run tomorrow.
			UnreachableRegistry: RegistryWarn,
		},
		// A user may do on the Slurm node what he asks for from his Pod, and scripts with srun run unchanged.
		Commands: Commands{Allow: CommandsAll, Path: defaultPath()},
		// No path that an image has by itself.
		Claims: Claims{Path: "/scratch"},
	}
}

// defaultPath is replaced as a whole by the file's own list.
func defaultPath() []string { return []string{"/usr/bin", "/usr/local/bin"} }

func after(d time.Duration) Duration { return Duration{d} }
