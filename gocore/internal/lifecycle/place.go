// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// Pause between two attempts to create, doubling.
const (
	retryPause    = time.Second
	retryPauseMax = 15 * time.Second
)

// place makes the Pod and waits until its container runs; nil: it does.
func (s *Step) place() *outcome {
	limit := s.Clock.Now().Add(s.Site.StartLimit.Duration)
	pod, verdict := s.manifest(s.reach(limit))
	if verdict != nil {
		return verdict
	}
	asked := s.Clock.Now()
	if verdict := s.letFirst(pod); verdict != nil {
		return verdict
	}
	limit = limit.Add(s.Clock.Since(asked))
	if verdict := s.keptClaim(s.reach(limit)); verdict != nil {
		return verdict
	}
	if verdict := s.watchPeers(pod, limit); verdict != nil {
		return verdict
	}
	pause := retryPause
	for {
		if verdict := s.create(pod, s.reach(limit)); verdict != nil {
			return verdict
		}
		again, verdict := s.await(limit)
		if verdict != nil {
			return verdict
		}
		if again == "" {
			return nil
		}
		if s.othersStarted() {
			return failed(again)
		}
		// Nothing of the user's has run: try again, without counting.
		s.Log.Infof("the Pod is made again: %s", again)
		if !s.remove() {
			return returned(report.StillThere(pod.Name))
		}
		if s.Clock.Now().After(limit) {
			return returned(again)
		}
		if !s.wait(pause) {
			return s.interrupted()
		}
		pause = min(2*pause, retryPauseMax)
	}
}

// manifest makes sure of podinit and builds the Pod.
func (s *Step) manifest(limit time.Time) (*corev1.Pod, *outcome) {
	name, verdict := s.ensurePodinit(limit)
	if verdict != nil {
		return nil, verdict
	}
	pod, err := podspec.Build(podspec.Input{
		Job: s.Job, Site: s.Site, Session: s.session, PodinitConfigMap: name, Shapes: s.shapes,
		PullSecret: s.Job.Options.PullSecret != "", Directory: s.Directory, GPUs: s.Job.StepGPUs(s.environments()),
	})
	if err != nil {
		return nil, failed(report.Refused(err))
	}
	if err := s.takePullSecret(pod.Spec.Containers[0].Image); err != nil {
		return nil, wrongPullSecret(err)
	}
	return pod, nil
}

// ensurePodinit is the first request in the job's namespace, and finds out whether that is there.
func (s *Step) ensurePodinit(limit time.Time) (name string, verdict *outcome) {
	pause := retryPause
	for {
		ctx, cancel := s.asking()
		name, err := s.Cluster.EnsurePodinit(ctx, s.Podinit)
		cancel()
		if err == nil {
			s.namespace = tried{}
			return name, nil
		}
		if verdict := s.refused(err, limit); verdict != nil {
			return "", verdict
		}
		if !s.wait(pause) {
			return "", s.interrupted()
		}
		pause = min(2*pause, s.pauseMax())
	}
}

// shapes are asked for only where a whole-node job must be clamped.
func (s *Step) shapes() (podspec.Shapes, error) { return s.Cluster.Shapes(s.ctx) }

// refused classes an error of a request before the start; nil: try again.
func (s *Step) refused(err error, limit time.Time) *outcome {
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	if podstatus.NoNamespace(err) && s.Site.ByPattern() {
		return s.noNamespace(err, limit)
	}
	switch podstatus.ClassifyError(err) {
	case podstatus.ClassFinal:
		return failed(report.APIRefused(err))
	case podstatus.ClassCapacity:
		return s.overQuota(err)
	}
	s.Log.WithError(err).Info("Kubernetes did not answer as it should; trying again")
	next := s.Clock.Now()
	if s.seeking { // not beyond it
		next = next.Add(retryPause)
	}
	if next.After(limit) {
		away := s.Site.StartLimit.Duration
		if s.seeking {
			away = seekLimit
		}
		return returned(report.APIUnreachable(away, err))
	}
	return nil
}

// overQuota: quota is capacity, and keeps no place to wait in.
func (s *Step) overQuota(err error) *outcome { return returned(report.NoRoom(err.Error())) }

// create makes the Pod and follows it. A Pod of an earlier incarnation must have ended first.
func (s *Step) create(pod *corev1.Pod, limit time.Time) *outcome {
	pause := retryPause
	freed := false
	number := s.SessionID()
	for {
		s.namePullSecret(pod, number)
		ctx, cancel := s.asking()
		made, err := s.Cluster.CreatePod(ctx, pod)
		cancel()
		switch podstatus.ClassifyError(err) {
		case podstatus.ClassRetry:
			s.doubt = pod.Name
			s.left.set("Pod " + pod.Name + " may have been made")
		case podstatus.ClassExists:
			taken := err
			made, err = s.adopt(pod)
			if made == nil && err == nil {
				s.doubt = "" // what has the name is not ours
				s.left.set("")
				if verdict := s.endPredecessor(pod, limit); verdict != nil {
					return verdict
				}
				if !freed {
					freed = true
					continue
				}
				err = taken // again: slower
			}
		}
		if err == nil {
			s.follow(made)
			return s.makePullSecret(made, limit)
		}
		if verdict := s.refused(err, limit); verdict != nil {
			return verdict
		}
		if !s.wait(pause) {
			return s.interrupted()
		}
		pause = min(2*pause, s.pauseMax())
		if podstatus.NoNamespace(err) { // the next one has no podinit yet
			if _, verdict := s.ensurePodinit(limit); verdict != nil {
				return verdict
			}
		}
	}
}
