// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const selectorAll = wellknown.LabelApp + "=" + wellknown.AppJob

// podPrefix begins the name of every Pod of ours; the admission policy asks for it as well.
const podPrefix = "slurm-job-"

// endingLimit is how long after its grace a Pod may take to end without a word about it.
const endingLimit = 10 * time.Minute

// candidate is a Pod of this Slurm cluster that is old enough to be an orphan.
type candidate struct {
	pod         *corev1.Pod
	job         uint32
	incarnation uint32
}

// candidates picks those of the Pods that are of this Slurm cluster, older than the grace and
// not being deleted already. What has our labels but not our form is told, and left alone.
func (c *Collector) candidates(pods []corev1.Pod) []candidate {
	var list []candidate
	now := c.Now()
	for i := range pods {
		pod := &pods[i]
		if pod.Labels[wellknown.LabelCluster] != c.Cluster {
			continue
		}
		log := c.Log.WithField("pod", pod.Name)
		job, errJob := strconv.ParseUint(pod.Labels[wellknown.LabelJobID], 10, 32)
		incarnation, errIncarnation := strconv.ParseUint(pod.Labels[wellknown.LabelIncarnation], 10, 32)
		if errJob != nil || errIncarnation != nil || job == 0 || !strings.HasPrefix(pod.Name, podPrefix) {
			log.Warnf("Pod %s/%s has our labels but is not ours: left alone", pod.Namespace, pod.Name)
			continue
		}
		log = log.WithField("job", job)
		if pod.DeletionTimestamp != nil {
			if now.Sub(pod.DeletionTimestamp.Time) > endingLimit {
				log.Warnf("Pod %s/%s does not end since %s: its node %q may be lost (it is not deleted by force, the task might still run)",
					pod.Namespace, pod.Name, pod.DeletionTimestamp.UTC().Format(time.RFC3339), pod.Spec.NodeName)
			}
			continue
		}
		if now.Sub(pod.CreationTimestamp.Time) < c.Grace {
			continue
		}
		list = append(list, candidate{pod: pod, job: uint32(job), incarnation: uint32(incarnation)})
	}
	return list
}

// orphaned says why a Pod has no job behind it; "" where it may have one.
func orphaned(c candidate, known Job, ok bool) string {
	if !ok {
		return fmt.Sprintf("job %d is unknown to Slurm", c.job)
	}
	switch classOf(known.State) {
	case stateEnded:
		return fmt.Sprintf("job %d is %s", c.job, known.State)
	case stateWaiting:
		return fmt.Sprintf("job %d is %s again", c.job, known.State)
	case stateRunning:
		if c.incarnation < known.Restarts {
			return fmt.Sprintf("job %d was requeued: the Pod is of run %d, the job in its run %d", c.job, c.incarnation, known.Restarts)
		}
	}
	return ""
}

// graceOf is the Pod's own grace, but never the 0 that would be a deletion by force.
func graceOf(pod *corev1.Pod) int64 {
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil {
		return max(*own, 1)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}
