// SPDX-License-Identifier: Apache-2.0

// Package wellknown holds every name that slurm-k8s writes into Kubernetes:
// objects, labels, annotations, paths in the container.
package wellknown

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// Labels of a Pod. App, JobID and User are what users select by
// (kubectl get pods -l app=slurm-job); the others are ours.
const (
	LabelApp         = "app"
	LabelJobID       = "job-id"
	LabelUser        = "user"
	LabelCluster     = "slurm-k8s/cluster"
	LabelStep        = "slurm-k8s/step"
	LabelNode        = "slurm-k8s/node"
	LabelIncarnation = "slurm-k8s/incarnation"
	// LabelNodeID is on the Pods of numbered steps alone: the Slurm node's number in the step.
	LabelNodeID = "slurm-k8s/node-id"
	// LabelComponent is on the Pods of steps with several components: the component's number.
	LabelComponent = "slurm-k8s/component"

	AppJob = "slurm-job"
)

// Annotations hold the exact text where a label's form would change it.
const (
	AnnotationUser    = "slurm-k8s/user"
	AnnotationSession = "slurm-k8s/session"
	// AnnotationKeepUntil is on a kept claim that nobody uses: when the collector removes it, in RFC 3339.
	AnnotationKeepUntil = "slurm-k8s/keep-until"
	// AnnotationGPUs is on the Pods of numbered steps alone: the numbers of its GPUs on the Slurm node.
	AnnotationGPUs = "slurm-k8s/gpus"
)

const (
	// ContainerName is the one container of every Pod.
	ContainerName = "job"
	// PodinitDirectory is where the ConfigMap with podinit is mounted.
	PodinitDirectory = "/.slurm-k8s/bin"
	// PodinitPath is process 1 of the container (frames.h, K8S_PODINIT_PATH).
	PodinitPath = PodinitDirectory + "/podinit"
	// PodinitKey is podinit's key in its ConfigMap.
	PodinitKey = "podinit"
	// RunDirectory is an emptyDir in memory (frames.h, K8S_RUN_DIRECTORY).
	RunDirectory = "/.slurm-k8s/run"
	// NodesConfigMap publishes the shapes of the cluster's nodes.
	NodesConfigMap = "slurm-k8s-nodes"
	// NodesKey is the key of the JSON in it.
	NodesKey = "shapes.json"
)

// GateSeat keeps the Pod off every Kubernetes node that only says: this node's tasks of the step
// run in the Pod of the job's script.
const GateSeat = "slurm-k8s/runs-beside-script"

// StepBatch is the step name of a batch script.
const StepBatch = "batch"

// PodName is the deterministic name of a step's Pod on one Slurm node: slurm-job-7 of a batch
// script, slurm-job-7-step-0-1 of step 0 on its node number 1, slurm-job-7-step-0-het-2-1 of
// its component 2 where component is not empty: components have nodes of their own, and may
// have one job.
func PodName(jobID uint32, step, component string, nodeID int) string {
	name := "slurm-job-" + strconv.FormatUint(uint64(jobID), 10)
	if step == StepBatch {
		return name
	}
	if component != "" {
		step += "-het-" + component
	}
	return fmt.Sprintf("%s-step-%s-%d", name, step, nodeID)
}

// ClaimName is the name of the volume claim that a user's job keeps. The uid is in it so that a policy
// can hold a Pod to the claims of its own user.
func ClaimName(uid, jobID uint32) string { return fmt.Sprintf("slurm-claim-%d-%d", uid, jobID) }

// PullSecretName is the name of the Secret that one Pod pulls with, its user's own: each
// Pod that is made has another number.
func PullSecretName(pod string, number uint64) string {
	return fmt.Sprintf("%s-pull-%016x", pod, number)
}

// PodinitConfigMap names the immutable ConfigMap that carries this podinit:
// the name holds the hash of its bytes.
func PodinitConfigMap(podinit []byte) string {
	sum := sha256.Sum256(podinit)
	return "slurm-k8s-podinit-" + hex.EncodeToString(sum[:8])
}

// PodinitLimits are podinit's own limits as its command line has them, in whole seconds. It keeps output
// that nobody has acknowledged for as long as its tasks would wait for a core: Kubernetes' API may be away as
// they end, and their last output is nowhere else. With nothing left it goes after a minute of its own.
func PodinitLimits(orphan, start time.Duration) []string {
	seconds := func(name string, d time.Duration) string {
		return fmt.Sprintf("--%s=%d", name, (d+time.Second-1)/time.Second)
	}
	return []string{seconds("orphan-timeout", orphan), seconds("start-timeout", start), seconds("linger", orphan)}
}

// JoinCommand is the command line by which a step joins a container; it and the pump's are the
// only ones that the node's credential may exec.
func JoinCommand(session uint64, orphan, start time.Duration) []string {
	return append([]string{PodinitPath, "join", fmt.Sprintf("--session=%016x", session)}, PodinitLimits(orphan, start)...)
}

// PumpCommand is the command line of podinit's pump.
func PumpCommand(session uint64) []string {
	return []string{PodinitPath, "pump", fmt.Sprintf("--session=%016x", session)}
}
