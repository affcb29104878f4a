// SPDX-License-Identifier: Apache-2.0

// Package wellknown holds every name that slurm-k8s writes into Kubernetes:
// objects, labels, annotations, paths in the container.
package wellknown

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
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

// PumpCommand is the command line of podinit's pump, the only one that the node's
// credential may exec.
func PumpCommand(session uint64) []string {
	return []string{PodinitPath, "pump", fmt.Sprintf("--session=%016x", session)}
}
