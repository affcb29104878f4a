// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// judge is Kubernetes' own verdict on a Pod at a Pod Security level.
func judge(t *testing.T, level string, pod *corev1.Pod) policy.AggregateCheckResult {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	return policy.AggregateCheckResults(evaluator.EvaluatePod(api.LevelVersion{Level: api.Level(level), Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec))
}

// TestGoldenPodsAreRestricted: all of them, but for what the site's own volumes need.
func TestGoldenPodsAreRestricted(t *testing.T) {
	var all []string
	for _, pattern := range []string{"testdata/*.yaml", "testdata/volumes/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 15)
	for _, path := range all {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var pod corev1.Pod
		require.NoError(t, yaml.UnmarshalStrict(text, &pod))
		require.Equal(t, "Pod", pod.Kind, path)
		// The site's volumes that need more than restricted go, nothing else.
		pod.Spec.Volumes = without(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil || v.NFS != nil })
		result := judge(t, site.LevelRestricted, &pod)
		assert.True(t, result.Allowed, "%s: %s", path, result.ForbiddenDetail())
	}
}

func without(list []corev1.Volume, drop func(corev1.Volume) bool) []corev1.Volume {
	var kept []corev1.Volume
	for _, v := range list {
		if !drop(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// TestLevelIsKubernetes: for each volume of a site check-config names the level that Kubernetes'
// library wants, and none that is laxer than needed.
func TestLevelIsKubernetes(t *testing.T) {
	config, err := site.Parse([]byte(offered))
	require.NoError(t, err)
	levels := []string{site.LevelRestricted, site.LevelBaseline, site.LevelPrivileged}
	seen := map[string]bool{}
	for _, name := range config.VolumeNames() {
		v := config.Volumes[name]
		seen[v.Kind()] = true
		in := input(nil)
		v.Default, v.Users, v.Groups, v.Partitions = true, nil, nil, nil
		in.Site.Volumes = map[string]site.Volume{name: v}
		pod, err := Build(in)
		require.NoError(t, err)
		least := ""
		for _, level := range levels {
			if judge(t, level, pod).Allowed {
				least = level
				break
			}
		}
		got, _ := in.Site.Level()
		assert.Equal(t, least, got, name)
	}
	assert.Len(t, seen, 6, "every kind of volume is among them")

	in := withVolumes(t, "", "1Gi", func(in *Input) { in.Site.Volumes = nil })
	pod, err := Build(in)
	require.NoError(t, err)
	assert.True(t, judge(t, site.LevelRestricted, pod).Allowed, "a claim of the job's own needs no other level")
}
