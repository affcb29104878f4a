// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// A step on the Slurm node of its job's script, of the same image, runs in the script's Pod: that
// has what Slurm allocated on this node, and a second Pod beside it might never find room. What
// the step's other nodes do is as ever; they know of this one by its seat.

// host is the Pod of the job's script that the step's tasks on this node run in; nil: none, they
// have a Pod of their own.
func (s *Step) host(limit time.Time) (*corev1.Pod, *outcome) {
	if !s.Job.BesideScript() || len(s.choices) > 0 { // the script's Pod would be in the record's cluster
		return nil, nil
	}
	pods, verdict := s.podsOf(wellknown.StepBatch, limit)
	if verdict != nil {
		if verdict.kind == faulty { // Kubernetes was not there
			verdict.kind = putBack
		}
		return nil, verdict
	}
	pod := scriptOn(pods, wellknown.LabelValue(s.Job.Node))
	if pod == nil || !s.owns(pod) {
		return nil, nil
	}
	image, err := option.Resolve(s.Job.Options.Image, s.Site.Registries)
	if theirs, _ := imageOf(&corev1.Pod{Spec: pod.Spec}); err != nil || theirs != image {
		return nil, nil
	}
	if !podspec.HasStorage(pod, podspec.Input{Job: s.Job, Site: s.Site, Directory: s.Directory}) {
		return nil, nil
	}
	return pod, nil
}

// placeInside takes the step's seat, where it has other nodes, and waits until the script's
// container runs; nil: it does.
func (s *Step) placeInside(host *corev1.Pod, limit time.Time) *outcome {
	if s.Job.Nodes > 1 {
		pod, verdict := s.manifest(limit)
		if verdict == nil {
			pod = podspec.Seat(pod)
			verdict = s.watchPeers(pod, limit)
		}
		if verdict == nil {
			verdict = s.create(pod, limit)
		}
		if verdict != nil {
			return verdict
		}
		s.seat, s.pod = s.pod, nil
	}
	s.visit(host)
	news := newNews(s)
	defer news.stop()
	for {
		r := s.pod.reading()
		news.tell(r)
		switch {
		case r.Deleting || r.State >= podstatus.Terminated:
			return returned(report.ScriptWent(s.pod.last.Name))
		case r.State == podstatus.Running:
			return nil
		}
		select {
		case pod := <-s.pod.states:
			s.pod.saw(pod)
		case <-news.due():
			news.ready = true
		case <-s.ctx.Done():
			return s.interrupted()
		}
	}
}

// leave ends a visit. What the step itself has made, if anything, is its seat.
func (s *Step) leave() {
	if s.pod != nil && s.pod.guest {
		s.forget()
		s.pod, s.seat = s.seat, nil
	}
}
