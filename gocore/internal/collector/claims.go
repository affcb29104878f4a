// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// claimPrefix begins the name of every claim that a job keeps (wellknown.ClaimName).
const claimPrefix = "slurm-claim-"

// removeClaims deletes the volume claims that jobs have kept and whose time is over. The time runs
// from the first look at which nobody uses them: no job that may still run, and no Pod. Without
// Slurm's word nothing is done.
func (c *Collector) removeClaims(ctx context.Context, namespaces []string, pods []corev1.Pod, jobs func() (map[uint32]Job, error)) error {
	all, err := c.listClaims(ctx, namespaces)
	if err != nil {
		return fmt.Errorf("cannot list the volume claims of %s: %w", c.where(), err)
	}
	if len(all) == 0 {
		return nil
	}
	known, err := jobs()
	if err != nil {
		return fmt.Errorf("Slurm cannot be asked, no volume claim is removed: %w", err)
	}
	mounted := mountedClaims(pods)
	var faults []error
	for _, claim := range all {
		job, err := strconv.ParseUint(claim.Labels[wellknown.LabelJobID], 10, 32)
		if err != nil || !strings.HasPrefix(claim.Name, claimPrefix) {
			c.Log.Warnf("volume claim %s/%s has our labels but is not ours: left alone", claim.Namespace, claim.Name)
			continue
		}
		if claim.DeletionTimestamp != nil {
			continue
		}
		faults = append(faults, c.judgeClaim(ctx, claim, uint32(job), mounted[claim.Namespace+"/"+claim.Name] || mayUse(known, uint32(job))))
	}
	return errors.Join(faults...)
}

// judgeClaim does what is due with one claim.
func (c *Collector) judgeClaim(ctx context.Context, claim metav1.ObjectMeta, job uint32, used bool) error {
	log := c.Log.WithFields(logrus.Fields{"job": job, "claim": claim.Name})
	what := "volume claim " + claim.Namespace + "/" + claim.Name
	until, marked := claim.Annotations[wellknown.AnnotationKeepUntil]
	over, err := time.Parse(time.RFC3339, until)
	switch {
	case used && marked:
		return c.do(log, "change", what, "it is used again", func() error {
			return c.Kubernetes.KeepClaim(ctx, claim, "")
		})
	case used:
		return nil
	case !marked || err != nil:
		until := c.Now().Add(c.KeepClaims).UTC().Format(time.RFC3339)
		return c.do(log, "change", what, "nobody uses it, it is kept until "+until, func() error {
			return c.Kubernetes.KeepClaim(ctx, claim, until)
		})
	case c.Now().After(over):
		return c.do(log, "delete", what, "kept by job "+strconv.FormatUint(uint64(job), 10)+" until "+until, func() error {
			return c.Kubernetes.DeleteClaim(ctx, claim.Namespace, claim.Name, claim.UID)
		})
	}
	return nil
}

// mayUse tells whether a job may still come to use its claim.
func mayUse(known map[uint32]Job, job uint32) bool {
	k, ok := known[job]
	return ok && classOf(k.State) != stateEnded
}

// mountedClaims are those that the Pods name, as NAMESPACE/NAME.
func mountedClaims(pods []corev1.Pod) map[string]bool {
	mounted := map[string]bool{}
	for i := range pods {
		for _, volume := range pods[i].Spec.Volumes {
			if volume.PersistentVolumeClaim != nil {
				mounted[pods[i].Namespace+"/"+volume.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	return mounted
}
