// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// keptClaim makes sure of the volume that the job keeps, or has from an earlier job, before the Pod
// that names it is made: a Pod without it would wait for room that is there. nil: it is there.
func (s *Step) keptClaim(limit time.Time) *outcome {
	asked := s.Job.Options.Claim
	if asked == nil || !asked.Kept() {
		return nil
	}
	claim, pause := podspec.KeptClaim(s.Job, s.Site), retryPause
	for {
		verdict, err := s.findClaim(claim, asked.Keep)
		if verdict != nil || err == nil {
			return verdict
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

// findClaim asks once, and makes it where the job does; an error asks for another try.
func (s *Step) findClaim(claim *corev1.PersistentVolumeClaim, makes bool) (*outcome, error) {
	ctx, cancel := s.asking()
	defer cancel()
	if makes {
		err := s.Cluster.CreateClaim(ctx, claim)
		if podstatus.ClassifyError(err) != podstatus.ClassExists {
			if err == nil {
				s.tell(report.ClaimKept(s.Job.ID, s.Site.Claims.Keep.Duration))
			}
			return nil, err
		}
	}
	found, err := s.Cluster.GetClaim(ctx, claim.Name)
	if apierrors.IsNotFound(err) && !makes {
		return failed(report.NoClaim(s.Job.Options.Claim.Of, claim.Namespace)), nil
	}
	if err != nil {
		return nil, err
	}
	if fault := podspec.KeptClaimFault(found, s.Job, s.Site); fault != "" {
		return failed(report.ForeignClaim(claim.Name, fault)), nil
	}
	return nil, nil
}
