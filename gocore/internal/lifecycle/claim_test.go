// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func withClaim(t *testing.T, w *world, value string) {
	asked, err := option.ParseClaim(value)
	require.NoError(t, err)
	w.options.Claim = &asked
	w.site.Claims = site.Claims{Allowed: true, MaxSize: "100Gi", Path: "/scratch", Keep: site.Duration{Duration: 168 * time.Hour}}
}

// kept is a claim of an earlier job, or of an earlier run.
func kept(job string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = "slurm-claim-1000-" + job
	claim.Labels = map[string]string{"app": "slurm-job", "job-id": job, "slurm-k8s/cluster": "lab"}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	return claim
}

func TestKeptClaim(t *testing.T) {
	t.Run("is made before the Pod", func(t *testing.T) {
		bubble(t, func(w *world) { withClaim(t, w, "10Gi:keep") }, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			require.Len(t, w.cluster.claims, 1)
			claim := w.cluster.claims["slurm-claim-1000-7"]
			require.NotNil(t, claim)
			assert.Empty(t, claim.OwnerReferences)
			assert.Contains(t, w.notices(), "--k8s-pvc=job:7 gives it to another job of yours, until 168h after")
		})
	})
	t.Run("is there from an earlier run", func(t *testing.T) {
		bubble(t, func(w *world) {
			withClaim(t, w, "10Gi:keep")
			w.cluster.claims["slurm-claim-1000-7"] = kept("7")
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.NotContains(t, w.notices(), "job:7")
		})
	})
	t.Run("of an earlier job", func(t *testing.T) {
		bubble(t, func(w *world) {
			withClaim(t, w, "job:3")
			w.cluster.claims["slurm-claim-1000-3"] = kept("3")
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Len(t, w.cluster.claims, 1)
		})
	})
	t.Run("of a job that kept none", func(t *testing.T) {
		bubble(t, func(w *world) { withClaim(t, w, "job:3") }, func(t *testing.T, w *world) {
			assert.Zero(t, w.cluster.made)
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), `--k8s-pvc: job 3 of yours has kept no volume in namespace slurm, or its time is over: "job:3"`)
		})
	})
	t.Run("somebody else's under its name", func(t *testing.T) {
		bubble(t, func(w *world) {
			withClaim(t, w, "10Gi:keep")
			foreign := kept("7")
			foreign.Labels = nil
			w.cluster.claims["slurm-claim-1000-7"] = foreign
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.cluster.made)
			assert.Contains(t, w.notices(), "the volume claim slurm-claim-1000-7 cannot be used: it was not made by slurm-k8s")
		})
	})
	t.Run("the answer is lost", func(t *testing.T) {
		bubble(t, func(w *world) {
			withClaim(t, w, "10Gi:keep")
			w.fail("CreateClaim", apiFaults["lost answer"])
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			assert.Len(t, w.cluster.claims, 1)
		})
	})
	t.Run("over quota", func(t *testing.T) {
		bubble(t, func(w *world) {
			withClaim(t, w, "10Gi:keep")
			w.fail("CreateClaim", apiFaults["quota"])
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.cluster.made)
			assert.Equal(t, 1, w.slurm.requeued())
		})
	})
}
