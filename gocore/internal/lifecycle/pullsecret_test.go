// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func withPullSecret(w *world, docker string) {
	w.options.PullSecret, w.docker = "/home/alice/docker.json", docker
}

const goodDocker = `{"auths":{"registry.lab":{"auth":"YTpi"},"other.lab":{"auth":"Yzpk"}}}`

var deniedPull = waits("ErrImagePull", "401 unauthorized: authentication required")

func TestPullSecret(t *testing.T) {
	t.Run("the first pull misses it", func(t *testing.T) {
		bubble(t, func(w *world) {
			withPullSecret(w, goodDocker)
			w.script(event{0, scheduled}, event{time.Second, deniedPull}, event{10 * time.Second, runs})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, 1, w.starts)
			require.Len(t, w.cluster.secrets, 1)
			secret := w.cluster.secrets[0]
			assert.Regexp(t, `^slurm-job-\d+-pull-[0-9a-f]{16}$`, secret.Name)
			assert.Equal(t, "Pod", secret.OwnerReferences[0].Kind)
			assert.Equal(t, "made-1", string(secret.OwnerReferences[0].UID))
			assert.Equal(t, corev1.SecretTypeDockerConfigJson, secret.Type)
			assert.JSONEq(t, `{"auths":{"registry.lab":{"auth":"YTpi"}}}`, string(secret.Data[corev1.DockerConfigJsonKey]))
			made := w.cluster.history["made-1"][0]
			assert.Equal(t, []corev1.LocalObjectReference{{Name: secret.Name}}, made.Spec.ImagePullSecrets)
		})
	})
	t.Run("a wrong password", func(t *testing.T) {
		bubble(t, func(w *world) {
			withPullSecret(w, goodDocker)
			w.script(event{0, scheduled}, event{time.Second, deniedPull})
		}, func(t *testing.T, w *world) {
			assert.Zero(t, w.starts)
			assert.Zero(t, w.slurm.requeued())
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "the registry does not give the image")
		})
	})
	t.Run("none for this registry", func(t *testing.T) {
		bubble(t, func(w *world) { withPullSecret(w, `{"auths":{"other.lab":{"auth":"Yzpk"}}}`) }, func(t *testing.T, w *world) {
			assert.Zero(t, w.cluster.made)
			assert.Equal(t, failedStatus, w.exit().Status)
			assert.Contains(t, w.notices(), "the file has no password for registry.lab")
		})
	})
}
