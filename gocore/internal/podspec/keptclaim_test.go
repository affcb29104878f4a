// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestGoldenKeptClaims(t *testing.T) {
	for name, c := range map[string]struct {
		claim  string
		change func(*Input)
	}{
		"kept":          {"10Gi:keep", nil},
		"kept-by-nodes": {"500Mi:slow:/big:keep", func(in *Input) { in.Job.Nodes = 2 }},
		"kept-default":  {"1Gi:keep", func(in *Input) { in.Site.Claims.Classes = nil }},
	} {
		in := withVolumes(t, "", c.claim, c.change)
		claim := KeptClaim(in.Job, in.Site)
		pod, err := Build(in)
		require.NoError(t, err)
		assert.True(t, has(pod, claim.Name), "the Pod mounts what is made for its job")
		got, err := yaml.Marshal(claim)
		require.NoError(t, err)
		path := filepath.Join("testdata", "claims", name+".yaml")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "go test -update writes it")
		assert.Empty(t, cmp.Diff(string(want), string(got)), name)
	}
}

func has(pod *corev1.Pod, claim string) bool {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim {
			return true
		}
	}
	return false
}

func TestKeptClaimFault(t *testing.T) {
	in := withVolumes(t, "", "10Gi:keep", nil)
	mine := KeptClaim(in.Job, in.Site)
	assert.Empty(t, KeptClaimFault(mine, in.Job, in.Site))
	for want, change := range map[string]func(*corev1.PersistentVolumeClaim){
		"it was not made by slurm-k8s":   func(c *corev1.PersistentVolumeClaim) { delete(c.Labels, "app") },
		`it is of Slurm cluster "other"`: func(c *corev1.PersistentVolumeClaim) { c.Labels["slurm-k8s/cluster"] = "other" },
		"it is being removed":            func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} },
		"its size is 1Gi": func(c *corev1.PersistentVolumeClaim) {
			c.Spec = KeptClaim(withVolumes(t, "", "1Gi:keep", nil).Job, in.Site).Spec
		},
	} {
		changed := mine.DeepCopy()
		change(changed)
		assert.Equal(t, want, KeptClaimFault(changed, in.Job, in.Site))
	}
	of := withVolumes(t, "", "job:3", nil)
	assert.NotEmpty(t, KeptClaimFault(mine, of.Job, of.Site), "it is another job's")
	other := mine.DeepCopy()
	other.Labels["job-id"] = "3"
	assert.Empty(t, KeptClaimFault(other, of.Job, of.Site))
}

// A step runs in its script's Pod where that has the volume that the step asks for.
func TestHasKeptStorage(t *testing.T) {
	script := withVolumes(t, "", "10Gi:keep", nil)
	pod, err := Build(script)
	require.NoError(t, err)
	assert.True(t, HasStorage(pod, script))
	assert.False(t, HasStorage(pod, withVolumes(t, "", "job:3", nil)))
	assert.False(t, HasStorage(pod, withVolumes(t, "", "10Gi", nil)))
}
