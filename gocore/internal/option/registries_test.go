// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestResolve(t *testing.T) {
	mirrors := site.Registries{Rewrite: map[string]string{
		"docker.io": "hub.lab:5000/docker", "docker.io/library": "hub.lab:5000/base/", "quay.io/team/": "hub.lab:5000",
	}}
	only := mirrors
	only.Allow = []string{"hub.lab:5000", "ghcr.io/lab/", "nvcr.io/nvidia/cuda:12", "x.io/a@" + digest, digest}
	for _, c := range []struct {
		registries  site.Registries
		image, want string
	}{
		{site.Registries{}, "debian:12", "debian:12"},
		{mirrors, "debian:12", "hub.lab:5000/base/debian:12"},
		{mirrors, "debian", "hub.lab:5000/base/debian"},
		{mirrors, "index.docker.io/debian@" + digest, "hub.lab:5000/base/debian@" + digest},
		{mirrors, "user/app:1@" + digest, "hub.lab:5000/docker/user/app:1@" + digest},
		{mirrors, "quay.io/team/x:2", "hub.lab:5000/x:2"},
		{mirrors, "quay.io/teams/x:2", "quay.io/teams/x:2"},
		{mirrors, "localhost/x", "localhost/x"},
		{only, "debian:12", "hub.lab:5000/base/debian:12"},
		{only, "ghcr.io/lab/a/b:1", "ghcr.io/lab/a/b:1"},
		{only, "nvcr.io/nvidia/cuda:12", "nvcr.io/nvidia/cuda:12"},
		{only, "x.io/a:9@" + digest, "x.io/a:9@" + digest},
		{only, "any.io/thing@" + digest, "any.io/thing@" + digest},
		{site.Registries{RequireDigest: true}, "a@" + digest, "a@" + digest},
	} {
		got, err := Resolve(c.image, c.registries)
		if assert.NoError(t, err, c.image) {
			assert.Equal(t, c.want, got)
		}
	}
	other := "@sha256:" + strings.Repeat("0", 64)
	for image, want := range map[string]string{
		"ghcr.io/labs/a":           `--k8s-image: this site does not take images of that name (registries.allow in k8s.yaml: hub.lab:5000, ghcr.io/lab/, `,
		"hub.lab/x":                "does not take images of that name",
		"nvcr.io/nvidia/cuda:13":   "does not take images of that name",
		"nvcr.io/nvidia/cuda":      "does not take images of that name",
		"nvcr.io/nvidia/cuda/x:12": "does not take images of that name",
		"x.io/a":                   "does not take images of that name",
		"x.io/a" + other:           "does not take images of that name",
		"nvcr.io/nvidia/cuda:12/x": "not an image reference",
		"a//b":                     "not an image reference",
	} {
		_, err := Resolve(image, only)
		assert.ErrorContains(t, err, want, image)
	}
	_, err := Resolve("debian:12", site.Registries{RequireDigest: true})
	assert.EqualError(t, err, `--k8s-image: this site takes images by their digest alone (NAME@sha256:DIGEST): "debian:12"`)
	_, err = Resolve("debian:12", site.Registries{Rewrite: map[string]string{"docker.io": "hub.lab:5000"}, Allow: []string{"x.io"}})
	assert.ErrorContains(t, err, "of that name, which it would pull as hub.lab:5000/library/debian (registries.allow")
	_, err = Resolve("debian:12", site.Registries{Rewrite: map[string]string{"docker.io": "hub.lab/" + strings.Repeat("x", 250)}})
	assert.ErrorContains(t, err, "registries.rewrite in k8s.yaml")
	// "d.e" alone would be docker.io/library/d.e.
	_, err = Resolve("a.b/c@"+digest, site.Registries{Rewrite: map[string]string{"a.b/c": "d.e"}, Allow: []string{"d.e"}})
	assert.ErrorContains(t, err, `this site would pull it as "d.e@`)
}

// An allow-list lets through what it names and nothing that only looks like it.
func FuzzResolve(f *testing.F) {
	f.Add("debian:12", "docker.io", "hub.lab:5000/d", "hub.lab:5000")
	f.Add("a.b/c@"+digest, "a.b/c", "d.e", "d.e/")
	f.Fuzz(func(t *testing.T, image, from, to, allow string) {
		registries := site.Registries{Rewrite: map[string]string{from: to}, Allow: []string{allow}}
		config := site.Default()
		config.Registries = registries
		if config.Validate() != nil {
			return
		}
		got, err := Resolve(image, registries)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NoError(t, CheckImage(got))
		full, _, pinned := split(got)
		if !strings.ContainsAny(allow, "@") && !strings.HasPrefix(allow, "sha256:") {
			require.True(t, strings.HasPrefix(full+"/", strings.TrimSuffix(allow, "/")+"/") || strings.Contains(allow, ":"), got)
		}
		_, _, given := split(image)
		require.Equal(t, given, pinned)
	})
}
