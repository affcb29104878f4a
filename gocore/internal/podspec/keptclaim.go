// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// keptName is the name of the claim that the job keeps, or has from an earlier one of its user's;
// at submission, where the job has no number, that of none.
func keptName(asked option.Claimed, who site.Who) string {
	number := who.Job
	if asked.Of != 0 {
		number = asked.Of
	}
	var uid uint32
	if who.UID != nil {
		uid = *who.UID
	}
	return wellknown.ClaimName(uid, number)
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
		ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace.Name, Name: keptName(*j.Options.Claim, whoIs(j)), Labels: map[string]string{}},
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
	of := j.ID
	if j.Options.Claim.Of != 0 {
		of = j.Options.Claim.Of
	}
	switch {
	case found.Labels[wellknown.LabelApp] != wellknown.AppJob, found.Labels[wellknown.LabelJobID] != strconv.FormatUint(uint64(of), 10):
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
