// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// keptBy is the claim of alice's job; until may be "".
func keptBy(job, until string) metav1.ObjectMeta {
	claim := metav1.ObjectMeta{
		Namespace: "slurm", Name: "slurm-claim-1001-" + job, UID: "uid", ResourceVersion: "5",
		Labels: map[string]string{wellknown.LabelApp: wellknown.AppJob, wellknown.LabelJobID: job, wellknown.LabelCluster: "lab"},
	}
	if until != "" {
		claim.Annotations = map[string]string{wellknown.AnnotationKeepUntil: until}
	}
	return claim
}

func TestClaimsThatJobsKept(t *testing.T) {
	past, future := now.Add(-time.Minute).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339)
	week := now.Add(168 * time.Hour).Format(time.RFC3339)
	mounts := pod("9", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "claim", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "slurm-claim-1001-7"},
		}}}
	})
	for name, c := range map[string]struct {
		claim   metav1.ObjectMeta
		state   string // of job 7
		mounted bool
		kept    map[string]string
		deleted []string
	}{
		"its job runs":              {keptBy("7", ""), "RUNNING", false, map[string]string{}, nil},
		"its job will run again":    {keptBy("7", past), "PENDING", false, map[string]string{"slurm-claim-1001-7": ""}, nil},
		"its job has ended":         {keptBy("7", ""), "COMPLETED", false, map[string]string{"slurm-claim-1001-7": week}, nil},
		"its job is forgotten":      {keptBy("7", ""), "", false, map[string]string{"slurm-claim-1001-7": week}, nil},
		"another job uses it":       {keptBy("7", ""), "", true, map[string]string{}, nil},
		"another job uses it again": {keptBy("7", past), "", true, map[string]string{"slurm-claim-1001-7": ""}, nil},
		"its time is not over":      {keptBy("7", future), "", false, map[string]string{}, nil},
		"its time is over":          {keptBy("7", past), "COMPLETED", false, map[string]string{}, []string{"slurm-claim-1001-7/uid"}},
		"its time is not readable":  {keptBy("7", "soon"), "", false, map[string]string{"slurm-claim-1001-7": week}, nil},
		"it goes already":           {func() metav1.ObjectMeta { c := keptBy("7", past); c.DeletionTimestamp = &metav1.Time{}; return c }(), "", false, map[string]string{}, nil},
		"it is not ours":            {func() metav1.ObjectMeta { c := keptBy("7", past); c.Name = "database"; return c }(), "", false, map[string]string{}, nil},
	} {
		f := &fake{claims: []metav1.ObjectMeta{c.claim}, kept: map[string]string{}, jobs: map[uint32]Job{9: {State: "RUNNING", Restarts: 1}}}
		if c.state != "" {
			f.jobs[7] = Job{State: c.state}
		}
		if c.mounted {
			f.pods = []corev1.Pod{mounts}
		}
		_, err := f.run(t, nil)
		require.NoError(t, err, name)
		assert.Equal(t, c.kept, f.kept, name)
		assert.Equal(t, c.deleted, f.deleted, name)
		assert.Equal(t, 1, f.asked, name)
	}
}

func TestClaimsWithoutSlurmsWord(t *testing.T) {
	f := &fake{claims: []metav1.ObjectMeta{keptBy("7", now.Add(-time.Minute).Format(time.RFC3339))}, kept: map[string]string{}, jobsErr: errors.New("slurmctld is away")}
	_, err := f.run(t, nil)
	require.ErrorContains(t, err, "Slurm cannot be asked, no volume claim is removed")
	assert.Empty(t, f.deleted)
	assert.Empty(t, f.kept)
}

func TestKeepClaimPatchesWhatWasListed(t *testing.T) {
	for until, want := range map[string]string{
		"2026-01-01T00:00:00Z": `{"metadata":{"uid":"uid","resourceVersion":"5","annotations":{"slurm-k8s/keep-until":"2026-01-01T00:00:00Z"}}}`,
		"":                     `{"metadata":{"uid":"uid","resourceVersion":"5","annotations":{"slurm-k8s/keep-until":null}}}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.JSONEq(t, want, string(body))
			assert.Equal(t, "PATCH /api/v1/namespaces/slurm/persistentvolumeclaims/slurm-claim-1001-7", r.Method+" "+r.URL.Path)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"PersistentVolumeClaim","apiVersion":"v1"}`))
		}))
		client, err := kube.New(&rest.Config{Host: server.URL})
		require.NoError(t, err)
		assert.NoError(t, RESTCluster{REST: client.REST}.KeepClaim(t.Context(), keptBy("7", ""), until))
		server.Close()
	}
}
