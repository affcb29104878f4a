// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

func TestPullSecretGolden(t *testing.T) {
	pod, err := Build(input(func(in *Input) { in.PullSecret = true }))
	require.NoError(t, err)
	pod.UID = "00000000-0000-0000-0000-000000000001"
	secret := PullSecret(pod, []byte(`{"auths":{"r.io":{"auth":"YTpi"}}}`))
	assert.Equal(t, pod.Spec.ImagePullSecrets[0].Name, secret.Name)
	assert.Empty(t, validation.IsDNS1123Subdomain(secret.Name))
	got, err := yaml.Marshal(secret)
	require.NoError(t, err)
	const path = "testdata/secrets/pull-secret.yaml"
	if *update {
		require.NoError(t, os.MkdirAll("testdata/secrets", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	assert.Empty(t, cmp.Diff(string(want), string(got)))
}
