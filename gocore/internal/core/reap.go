// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// reapPause between two attempts to reach the API.
const reapPause = 500 * time.Millisecond

// Reap removes what the job left from this Slurm node, within the bound: the Pod of its
// batch step, if it carries this node's label; another node's may still run. Once
// Kubernetes has taken the deletion nothing is left for Slurm. What is left, or "".
func Reap(host Host, fields []string, bound time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	request := request(fields)
	config, err := site.Load(request.get("config"))
	if err != nil {
		return err.Error()
	}
	id, err := strconv.ParseUint(request.get("job_id"), 10, 32)
	if err != nil {
		return fmt.Sprintf("job_id=%q is no job", request.get("job_id"))
	}
	cluster, err := openCluster(config)
	if err != nil {
		return err.Error()
	}
	j := job.Job{ID: uint32(id), Node: request.get("node"), Cluster: request.get("cluster")}
	log := newLogger(host).WithField("job", j.ID)
	for {
		removed, err := reapPod(ctx, cluster, j, config)
		if err == nil {
			if removed != "" {
				log.Infof("epilog: Pod %s was left behind and is removed", removed)
			}
			return ""
		}
		select {
		case <-time.After(reapPause):
		case <-ctx.Done():
			return fmt.Sprintf("Pod %s: %v", wellknown.PodName(j.ID), err)
		}
	}
}

// reapPod asks once; the name of the Pod that it deleted, or "".
func reapPod(ctx context.Context, cluster *cluster, j job.Job, config *site.Config) (string, error) {
	pod, err := cluster.GetPod(ctx, wellknown.PodName(j.ID))
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil || pod.DeletionTimestamp != nil || !ofNode(pod, podspec.Labels(j, config)) {
		return "", err
	}
	err = cluster.DeletePod(ctx, pod.Name, pod.UID, 1)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return "", nil
	}
	return pod.Name, err
}

// ofNode tells whether the Pod is the job's on this Slurm node; by any incarnation, since
// Slurm raises the restart count before the epilog runs.
func ofNode(pod *corev1.Pod, want map[string]string) bool {
	for _, key := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelCluster, wellknown.LabelNode} {
		if pod.Labels[key] != want[key] {
			return false
		}
	}
	return true
}
