// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// pullPatience: the Pod is there before its Secret, which it owns, so that kubelet's first pull
// may miss it. kubelet tries again after 10 s.
const pullPatience = 20 * time.Second

// takePullSecret reads what the first task's relay brought. The relay is the user's, so its
// bytes are the user's whatever they are.
func (s *Step) takePullSecret(image string) error {
	if s.Job.Options.PullSecret == "" || s.pullSecret != nil {
		return nil
	}
	data, err := option.ReadPullSecret(s.Job.Options.PullSecret, s.launches[0].PullSecret, image)
	s.pullSecret, s.launches[0].PullSecret = data, nil
	return err
}

// namePullSecret gives a Pod that is about to be made a Secret that no other has.
func (s *Step) namePullSecret(pod *corev1.Pod, number uint64) {
	if s.pullSecret != nil {
		podspec.NamePullSecret(pod, number)
	}
}

// makePullSecret makes the Secret of a Pod that is there.
func (s *Step) makePullSecret(pod *corev1.Pod, limit time.Time) *outcome {
	if s.pullSecret == nil {
		return nil
	}
	secret, pause := podspec.PullSecret(pod, s.pullSecret), retryPause
	for {
		err := s.Cluster.CreateSecret(s.ctx, secret)
		// The name is this Pod's alone: one that is there came of a request that was not answered.
		if err == nil || podstatus.ClassifyError(err) == podstatus.ClassExists {
			s.pullsUntil = s.Clock.Now().Add(pullPatience)
			return nil
		}
		if verdict := s.refused(err, limit); verdict != nil {
			return verdict
		}
		if !s.wait(pause) {
			return s.interrupted()
		}
		pause = min(2*pause, retryPauseMax)
	}
}

// pullsAgain tells a pull that was denied while kubelet may not have seen the Secret.
func (s *Step) pullsAgain(fault *podstatus.StartFault) bool {
	return s.pullSecret != nil && fault.Kind == podstatus.KindImageDenied && s.Clock.Now().Before(s.pullsUntil)
}

// wrongPullSecret is the end of a job whose Docker configuration does not do.
func wrongPullSecret(err error) *outcome { return failed(report.Refused(err)) }
