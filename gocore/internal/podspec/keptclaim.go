// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// keptName is the name of the claim that the job keeps, or has from an earlier one of its user's.
func keptName(j job.Job) string { return wellknown.ClaimName(j.UID, keptBy(j)) }

// keptBy is the number of the job whose claim it is.
func keptBy(j job.Job) uint32 {
	if of := j.Options.Claim.Of; of != 0 {
		return of
	}
	return j.ID
}

// forJob names what is the job's own; at submission a job has no number yet.
func (s Storage) forJob(j job.Job) Storage {
	if s.claim != nil && s.claim.PersistentVolumeClaim != nil {
		s.claim.PersistentVolumeClaim.ClaimName = keptName(j)
	}
	return s
}

// KeptClaim is the volume claim of a job that keeps it: the job's, not the Pod's, so that its later
// runs and its steps have the same. Nothing of ours owns it: the collector removes it
// (site.Claims.Keep). It may be on several nodes at once where the job is.
func KeptClaim(j job.Job, config *site.Config) *corev1.PersistentVolumeClaim {
	spec := claimSpec(*j.Options.Claim, config.Claims)
	if j.Nodes > 1 {
		spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	}
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace.Name, Name: keptName(j), Labels: map[string]string{}},
		Spec:       spec,
	}
	labels := Labels(j, config)
	for _, key := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelUser, wellknown.LabelCluster} {
		claim.Labels[key] = labels[key]
	}
	return claim
}

// KeptClaimFault says why a claim that is there is not what the step may use; "" where it is. The
// claim's name has the user's uid in it, which nobody else's has.
func KeptClaimFault(found *corev1.PersistentVolumeClaim, j job.Job, config *site.Config) string {
	labels := Labels(j, config)
	switch {
	case found.Labels[wellknown.LabelApp] != wellknown.AppJob, found.Labels[wellknown.LabelJobID] != strconv.FormatUint(uint64(keptBy(j)), 10):
		return "it was not made by slurm-k8s"
	case found.Labels[wellknown.LabelCluster] != labels[wellknown.LabelCluster]:
		return fmt.Sprintf("it is of Slurm cluster %q", found.Labels[wellknown.LabelCluster])
	case found.DeletionTimestamp != nil:
		return "it is being removed"
	}
	if has := found.Spec.Resources.Requests.Storage(); has.Cmp(j.Options.Claim.Size) < 0 {
		return "its size is " + has.String()
	}
	return ""
}
