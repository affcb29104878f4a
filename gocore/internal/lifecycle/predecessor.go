// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// fenceSlack is added to the fence for clocks that differ and tasks that take their
// time between TERM and KILL.
const fenceSlack = time.Minute

// predecessorPause between two looks at a Pod that has not ended.
const predecessorPause = 500 * time.Millisecond

// adopt answers a Create that found the name taken: the Pod is ours when it carries
// our session (the answer to an earlier create was lost); else nil, nil for a Pod of an
// earlier incarnation, or of an earlier attempt, and an error for a foreign one.
func (s *Step) adopt(pod *corev1.Pod) (*corev1.Pod, error) {
	old, err := s.Cluster.GetPod(s.ctx, pod.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case (old.DeletionTimestamp == nil || s.attempts == 0) &&
		old.Annotations[wellknown.AnnotationSession] == pod.Annotations[wellknown.AnnotationSession]:
		return old, nil
	}
	return nil, foreign(old, pod)
}

// foreign is an error for a Pod that no incarnation of the job has made.
func foreign(old, pod *corev1.Pod) error {
	for _, label := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelCluster} {
		if old.Labels[label] != pod.Labels[label] {
			return podstatus.Foreign(fmt.Errorf("a Pod %q is there that is not this job's (label %s is %q, not %q)",
				pod.Name, label, old.Labels[label], pod.Labels[label]))
		}
	}
	return nil
}

// endPredecessor waits until the Pod of an earlier incarnation is known to have ended:
// its container reads terminated, it is gone without force, or the fence has passed,
// after which podinit has ended its tasks by itself. nil: the name, or another one, is free.
func (s *Step) endPredecessor(pod *corev1.Pod, limit time.Time) *outcome {
	told := false
	for {
		old, err := s.Cluster.GetPod(s.ctx, pod.Name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = s.retire(old, pod)
			if err == nil && pod.Name != old.Name {
				return nil
			}
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			if verdict := s.refused(err, limit); verdict != nil {
				return verdict
			}
		}
		if !told {
			told = true
			s.Log.Infof("Pod %s of an earlier run of the job has not ended; this run waits for it", pod.Name)
		}
		if s.Clock.Now().After(limit) {
			return &outcome{kind: putBack, reason: report.PredecessorAlive(pod.Name), stays: true}
		}
		if !s.wait(predecessorPause) {
			return s.interrupted()
		}
	}
}

// retire asks for the old Pod's end. Past the fence it gives the new one another name:
// an object whose node does not answer is never deleted by force.
func (s *Step) retire(old, pod *corev1.Pod) error {
	if err := foreign(old, pod); err != nil { // it took the name meanwhile
		return err
	}
	if old.DeletionTimestamp == nil {
		return s.Cluster.DeletePod(s.ctx, old.Name, old.UID, 1)
	}
	fence := old.DeletionTimestamp.Add(s.Site.OrphanTimeout.Duration + fenceSlack)
	if podstatus.Ended(old) || s.Clock.Now().After(fence) {
		name := wellknown.PodName(s.Job.ID, s.Job.Step, s.Job.Component, s.Job.NodeID) + "-" + strconv.FormatUint(uint64(s.Job.Restarts), 10)
		if name == old.Name { // there is no third
			return nil
		}
		pod.Name = name
		s.Log.Infof("Pod %s of an earlier run has ended but its object stays; this run's Pod is %s", old.Name, pod.Name)
	}
	return nil
}
