// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// reapPause between two attempts to reach the API.
const reapPause = 500 * time.Millisecond

// Reap removes what the job left from this Slurm node, within the bound: the Pods of the
// steps that the request names, those of them that carry this node's label; another node's
// may still run. Once Kubernetes has taken the deletion nothing is left for Slurm. What is
// left, or "".
func Reap(host Host, fields []string, bound time.Duration) string {
	if host == nil {
		return errNoHost.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	request := request(fields)
	config, err := site.Load(request.get("config"))
	if err != nil {
		return err.Error()
	}
	left, err := stepsOf(request)
	if err != nil {
		return err.Error()
	}
	if len(left) == 0 {
		return ""
	}
	log := newLogger(host).WithField("job", left[0].ID)
	// Of several clusters each: what is looked for may be in one that the job has left for another.
	places := config.Each()
	found := make([]string, len(places))
	var reaping sync.WaitGroup
	for i, place := range places {
		reaping.Go(func() {
			defer recovered(log, "epilog")
			found[i] = reapIn(ctx, host, place, left, log)
			if found[i] != "" && place.Kubernetes != "" {
				found[i] = "cluster " + place.Kubernetes + ": " + found[i]
			}
		})
	}
	reaping.Wait()
	return strings.Join(slices.DeleteFunc(found, func(text string) bool { return text == "" }), "; ")
}

// reapIn removes them from one cluster, and tries again until ctx ends. What is left, or "".
func reapIn(ctx context.Context, host Host, config *site.Config, left []job.Job, log logrus.FieldLogger) string {
	cluster, err := openCluster(config)
	if err != nil {
		return err.Error()
	}
	var place site.Namespace
	for {
		if place.Name == "" {
			place, err = namespaceOf(host, left[0], config)
		}
		if place.Name != "" {
			left, err = reapPods(ctx, cluster.in(place), left, config, log)
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-time.After(reapPause):
		case <-ctx.Done():
			names := make([]string, len(left))
			for i, j := range left {
				names[i] = podName(j)
			}
			return fmt.Sprintf("Pod %s: %v", strings.Join(names, ", "), err)
		}
	}
}

// stepsOf reads which of the job's steps may have a Pod: batch=1, and for each numbered one
// on this node step=STEP.NODEID, or of a component step=STEP.NODEID.COMPONENT.
func stepsOf(r request) ([]job.Job, error) {
	id, err := strconv.ParseUint(r.get("job_id"), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("job_id=%q is no job", r.get("job_id"))
	}
	j := job.Job{ID: uint32(id), Step: wellknown.StepBatch, Node: r.get("node"), Cluster: r.get("cluster")}
	var steps []job.Job
	if r.get("batch") == "1" {
		steps = append(steps, j)
	}
	for _, value := range r.all("step") {
		step, nodeID, _ := strings.Cut(value, ".")
		nodeID, component, isComponent := strings.Cut(nodeID, ".")
		number, errStep := strconv.ParseUint(step, 10, 32)
		node, errNode := strconv.ParseUint(nodeID, 10, 31)
		_, errComponent := strconv.ParseUint(component, 10, 16)
		if errStep != nil || errNode != nil || isComponent && errComponent != nil {
			return nil, fmt.Errorf("step=%q is no step on a node", value)
		}
		j.Component = component
		j.Step, j.NodeID = strconv.FormatUint(number, 10), int(node)
		steps = append(steps, j)
	}
	return steps, nil
}

// namespaceOf asks slurmctld whose job it is, where the site's namespaces go by that.
func namespaceOf(host Host, j job.Job, config *site.Config) (site.Namespace, error) {
	if config.ByPattern() {
		facts, err := host.Facts(j.ID)
		if err == nil {
			err = j.MergeOwner(facts)
		}
		if err != nil {
			return site.Namespace{}, err
		}
	}
	return j.NamespaceOf(config)
}

func podName(j job.Job) string { return wellknown.PodName(j.ID, j.Step, j.Component, j.NodeID) }

// reapPods tries each once; those that are left, and the last one's fault.
func reapPods(ctx context.Context, cluster *cluster, steps []job.Job, config *site.Config, log logrus.FieldLogger) (left []job.Job, fault error) {
	for _, j := range steps {
		removed, err := reapPod(ctx, cluster, j, config)
		switch {
		case err != nil:
			left, fault = append(left, j), err
		case removed != "":
			log.Infof("epilog: Pod %s was left behind and is removed", removed)
		}
	}
	return left, fault
}

// reapPod asks once; the name of the Pod that it deleted, or "".
func reapPod(ctx context.Context, cluster *cluster, j job.Job, config *site.Config) (string, error) {
	pod, err := cluster.GetPod(ctx, podName(j))
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
