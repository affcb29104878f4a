// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// verdictOf submits a job and gives the seconds from its Pod's creation to kube-scheduler's word on it, as a watch sees
// both; fits is the word that is expected. The job runs on, or waits.
func (r *row) verdictOf(fits bool) (id string, seconds float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	pods := &corev1.PodList{}
	jobs := metav1.ListOptions{LabelSelector: "app=slurm-job"}
	get := func() *rest.Request { return r.Client.Get().Namespace(testcluster.Namespace).Resource("pods") }
	if err := get().VersionedParams(&jobs, scheme.ParameterCodec).Do(ctx).Into(pods); err != nil {
		return "", 0, err
	}
	jobs.ResourceVersion, jobs.Watch = pods.ResourceVersion, true
	events, err := get().VersionedParams(&jobs, scheme.ParameterCodec).Watch(ctx)
	if err != nil {
		return "", 0, err
	}
	defer events.Stop()
	if id, err = r.Sbatch(append(r.InPod(), "--wrap", "true")...); err != nil {
		return "", 0, err
	}
	var created time.Time
	for event := range events.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || pod.Name != "slurm-job-"+id {
			continue
		}
		if event.Type == watch.Added {
			created = time.Now()
		}
		if word := scheduled(pod); word != nil && !created.IsZero() {
			if *word != fits {
				return id, 0, fmt.Errorf("kube-scheduler says of job %s that it fits: %t", id, *word)
			}
			return id, time.Since(created).Seconds(), nil
		}
	}
	return id, 0, fmt.Errorf("no word of kube-scheduler's on job %s in two minutes", id)
}

// scheduled is kube-scheduler's word; nil: none yet.
func scheduled(pod *corev1.Pod) *bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return new(c.Status == corev1.ConditionTrue)
		}
	}
	return nil
}
