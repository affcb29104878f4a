// SPDX-License-Identifier: Apache-2.0

package option

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadPullSecret(t *testing.T) {
	// YTpi is a:b.
	for _, c := range []struct{ data, image, want string }{
		{`{"auths":{"r.io":{"auth":"YTpi"},"other.io":{"auth":"Yzpk"}},"credsStore":"x","HttpHeaders":{}}`, "r.io/x:1", `{"auths":{"r.io":{"auth":"YTpi"}}}`},
		{`{"auths":{"https://r.io:5000/v2/":{"username":"a","password":"b"}}}`, "r.io:5000/x", `{"auths":{"https://r.io:5000/v2/":{"auth":"YTpi"}}}`},
		{`{"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}}`, "debian:12", `{"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}}`},
		{`{"auths":{"docker.io":{"auth":"YTpi"}}}`, "user/app", `{"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}}`},
		{`{"auths":{"r.io/team":{"auth":"YTpi"},"r.io":{"auth":"Yzpk"}}}`, "r.io/team/x", `{"auths":{"r.io":{"auth":"Yzpk"},"r.io/team":{"auth":"YTpi"}}}`},
	} {
		got, err := ReadPullSecret("/f", []byte(c.data), c.image)
		if assert.NoError(t, err, c.data) {
			assert.JSONEq(t, c.want, string(got))
		}
	}
	for data, want := range map[string]string{
		"":                                              `--k8s-pull-secret: the file is not a Docker configuration (JSON with auths, as docker login writes): "/f"`,
		`{"auths":[]}`:                                  "not a Docker configuration",
		`{"auths":{}}`:                                  `the file has no password for r.io (docker login r.io): "/f"`,
		`{"auths":{"other.io":{"auth":"YTpi"}}}`:        "no password for r.io",
		`{"auths":{"r.io":{}},"credsStore":"x"}`:        "a credential helper of this machine keeps it",
		`{"auths":{"r.io":{"auth":"secret!"}}}`:         "no password for r.io",
		`{"auths":{"r.io":{"auth":"YTo="}}}`:            "no password for r.io",
		`{"auths":{"r.io":{"identitytoken":"secret"}}}`: "no password for r.io",
		strings.Repeat(" ", MaxPullSecret+1):            "larger than 65536 bytes",
	} {
		_, err := ReadPullSecret("/f", []byte(data), "r.io/x:1")
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret!")
	}
	assert.NoError(t, CheckPullSecret("/home/alice/.docker/config.json"))
	assert.ErrorContains(t, CheckPullSecret("config.json"), "--k8s-pull-secret: not an absolute path")
	assert.ErrorContains(t, CheckPullSecret("-n1"), "takes the next word")
}

// Whatever the file holds, what goes into Kubernetes is small, JSON, and of one registry.
func FuzzReadPullSecret(f *testing.F) {
	f.Add([]byte(`{"auths":{"r.io":{"auth":"YTpi"},"other.io":{"username":"c","password":"d"}}}`), "r.io/x")
	f.Add([]byte(`{"auths":{"docker.io":{"auth":"YTpi"}}}`), "debian")
	f.Fuzz(func(t *testing.T, data []byte, image string) {
		if CheckImage(image) != nil {
			return
		}
		got, err := ReadPullSecret("/f", data, image)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.LessOrEqual(t, len(got), 8*MaxPullSecret)
		var config dockerConfig
		require.NoError(t, json.Unmarshal(got, &config))
		require.NotEmpty(t, config.Auths)
		full, _, _ := split(image)
		for key := range config.Auths {
			require.Equal(t, full[:strings.Index(full, "/")], hostOf(key))
		}
	})
}
