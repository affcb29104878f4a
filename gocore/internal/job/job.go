// SPDX-License-Identifier: Apache-2.0

// Package job knows what a Slurm job is: the facts that Slurm's host process
// hands over, and the job file with its directives. Pure: no network, no
// processes; every text in it is untrusted until checked here.
package job

import (
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Job is one step of one incarnation of a job on one Slurm node, as Slurm says.
type Job struct {
	ID   uint32
	Step string // wellknown.StepBatch, or the step's number
	// Component is this one's number in a heterogeneous step, whose components have nodes and
	// tasks each for itself; empty: the step has one.
	Component string
	Cluster   string // Slurm's ClusterName
	Node      string // Slurm's NodeName

	UID, GID  uint32
	Groups    []uint32
	User      string // name on the Slurm node; may be empty
	Home      string // home directory on the Slurm node; may be empty
	Account   string
	Partition string
	QOS       string
	Name      string

	CPUs      int64 // of this step on this node
	MemoryMiB int64 // of this step on this node; 0: Slurm has not limited it
	GRES      []GRES
	// NodeGPUs are the numbers on this Slurm node of the job's GPUs there; empty: Slurm only counts them.
	NodeGPUs  []int
	Exclusive bool // whole node
	// Overlap: a numbered step that shares cpus and GRES with other steps of the job.
	Overlap bool
	// CPUBind: srun was told how to bind tasks to cpus (--cpu-bind, --hint, the site's default);
	// else Slurm has chosen.
	CPUBind bool

	Nodes     int           // of the step; of a batch script's whole allocation
	NodeID    int           // this node's number among them
	Tasks     int           // local tasks
	TimeLimit time.Duration // 0: unlimited

	// WholeMemory: the job asked for --mem=0, all of the node's memory.
	WholeMemory bool
	// State is Slurm's name for it ("RUNNING"), as it was at Merge; may be empty.
	State string
	// BatchArgv0 is the path of the batch script on the Slurm node; may be empty.
	BatchArgv0 string

	Restarts     uint32 // Slurm's restart count: incarnations before this one
	Requeue      bool   // false: --no-requeue
	AdminComment string
	// Namespace of the job's Pods; its name is empty until NamespaceOf was asked.
	Namespace site.Namespace
	// BatchHost is the Slurm node of the job's script; empty: it has none, as salloc's.
	BatchHost string
	// TRES is all that the job has, in Slurm's text ("cpu=4,gres/gpu=2"); empty: not known.
	TRES string

	ArrayJobID  uint32 // 0: no array
	ArrayTaskID uint32

	Options Options
}

// GRES is one generic resource of the step on this node.
type GRES struct {
	Name, Type string
	Count      int64
}

// Options are the plugin's own options of the job.
type Options struct {
	Image   string
	Workdir string
	Legacy  bool // the options stood in comment lines of the job file
	// Script is K8S_SCRIPT, set where the job file has no command of its own.
	Script string
	// Rendezvous names the variables that tasks find each other by; empty: the site's choice.
	Rendezvous string
	// NodeSelector is KEY=VALUE,... of labels that the Pod's node must have; may be empty.
	NodeSelector string
	// PullSecret is the path of the user's Docker configuration; may be empty.
	PullSecret string
	// Mounts are the site's volumes that the job asks for, Claim a volume made for it.
	Mounts []option.VolumeMount
	Claim  *option.Claimed
	// Join is whose container the step runs in, instead of one of its own: wellknown.StepBatch
	// or a step's number; empty: its own.
	Join string
	// Cluster is the Kubernetes cluster's name by the site, or auto; empty: the site's default.
	Cluster string
}

// IsBatch tells a batch script from a step of srun's.
func (j Job) IsBatch() bool { return j.Step == wellknown.StepBatch }

// Joins tells a step that runs in another's container.
func (j Job) Joins() bool { return j.Options.Join != "" }

// BesideScript tells a step on the Slurm node of its job's script.
func (j Job) BesideScript() bool { return !j.IsBatch() && j.BatchHost != "" && j.BatchHost == j.Node }

// HasGPU tells whether a GRES of the step is one of Slurm's that stand for GPUs.
func (j Job) HasGPU() bool {
	for _, g := range j.GRES {
		if g.Count > 0 && (g.Name == "mps" || g.Name == "shard" || strings.Contains(g.Name, "gpu")) {
			return true
		}
	}
	return false
}

// WholeNode tells whether Slurm gave the job all of a node whatever its size, so that the
// site's resources.whole_node rule applies.
func (j Job) WholeNode() bool { return j.Exclusive || j.WholeMemory }

// Arguments are those of a batch script: what follows its own path.
func Arguments(argv []string) []string {
	if len(argv) < 2 {
		return nil
	}
	return argv[1:]
}
