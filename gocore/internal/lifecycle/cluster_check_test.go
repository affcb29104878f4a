// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

func containerRuns(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Running != nil
}

func ours(pod *corev1.Pod) bool {
	return pod.Annotations[wellknown.AnnotationSession] == podspec.Session(testSession)
}

// runs tells whether a container of ours runs.
func (c *fakeCluster) runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pod := range c.pods {
		if (ours(pod) || c.joined[pod.UID]) && containerRuns(pod) {
			return true
		}
	}
	return false
}

// podinitEnds is podinit's own end.
func (c *fakeCluster) podinitEnds(uid string, code int32) {
	if c.joined[types.UID(uid)] { // one beside it has ended
		return
	}
	time.AfterFunc(50*time.Millisecond, func() {
		c.alter(types.UID(uid), func(p *corev1.Pod) {
			if containerRuns(p) {
				ends(code, "Completed", "")(p)
			}
		})
	})
}

// disrupts tells whether Kubernetes ends the Pod, or its node has lost the container.
func disrupts(pod *corev1.Pod) bool {
	ends := func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget }
	lost := func(c corev1.ContainerStatus) bool {
		return c.State.Terminated != nil && c.State.Terminated.Reason == "ContainerStatusUnknown"
	}
	return pod.Status.Reason == "Evicted" || slices.ContainsFunc(pod.Status.Conditions, ends) || slices.ContainsFunc(pod.Status.ContainerStatuses, lost)
}

func (c *fakeCluster) wasDisrupted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.disrupted
}

// own names a Pod of ours whose deletion nobody has asked for; "" for none.
func (c *fakeCluster) own() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pod := range c.pods {
		if ours(pod) && pod.DeletionTimestamp == nil {
			return pod.Name
		}
	}
	return ""
}

// checkLeft: a Pod of ours that is there when the process ends is named. One whose
// deletion Kubernetes has taken may be there for its grace, unless the job is to run again.
func (c *fakeCluster) checkLeft(left string) {
	// Of several clusters one that was left for another never got a START.
	again := c.w.slurm.requeued() > 0 && (c.w.other == nil || slices.Contains(c.w.placed, c.name))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pod := range c.pods {
		if ours(pod) && (pod.DeletionTimestamp == nil || again && !podstatus.Ended(pod)) && !strings.Contains(left, pod.Name) {
			c.w.breaks("Pod %s is left (deleting %v), and Finish says %q", pod.Name, pod.DeletionTimestamp != nil, left)
		}
	}
}

// checkAlone: when START is sent no Pod of an earlier incarnation may still run.
func (c *fakeCluster) checkAlone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	fence := c.w.site.OrphanTimeout.Duration
	for _, pod := range c.pods {
		if ours(pod) || c.joined[pod.UID] || podstatus.Ended(pod) || pod.Labels[wellknown.LabelJobID] != "7" {
			continue
		}
		if pod.DeletionTimestamp == nil || time.Since(pod.DeletionTimestamp.Time) < fence {
			c.w.breaks("START while the Pod %s of an earlier run is not known to have ended", pod.UID)
		}
	}
}

func (c *fakeCluster) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := []string{}
	for name := range c.pods {
		names = append(names, name)
	}
	return names
}
