// SPDX-License-Identifier: Apache-2.0

package option

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// MaxPullSecret bounds the user's Docker configuration (frames.h, K8S_PULL_SECRET_MAX).
const MaxPullSecret = 64 << 10

// CheckPullSecret wants an absolute path: the file is read where the job runs.
func CheckPullSecret(value string) error {
	flag := Flag(PullSecret)
	if err := common(flag, value); err != nil {
		return err
	}
	if !strings.HasPrefix(value, "/") {
		return fault(flag, value, "not an absolute path (of a Docker configuration, as docker login writes to ~/.docker/config.json)")
	}
	return checkPath(flag, value)
}

// dockerConfig is what is read of a Docker configuration.
type dockerConfig struct {
	Auths       map[string]dockerAuth `json:"auths"`
	CredsStore  string                `json:"credsStore"`
	CredHelpers map[string]string     `json:"credHelpers"`
}

type dockerAuth struct {
	Auth     string `json:"auth,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// ReadPullSecret takes from a user's Docker configuration what the image's registry needs, and
// gives it as a Secret of type kubernetes.io/dockerconfigjson holds it: a user's other
// passwords stay where they are. image is as it is pulled, path for messages alone.
func ReadPullSecret(path string, data []byte, image string) ([]byte, error) {
	flag := Flag(PullSecret)
	var config dockerConfig
	switch {
	case len(data) > MaxPullSecret:
		return nil, fault(flag, path, "the file is larger than %d bytes", MaxPullSecret)
	case json.Unmarshal(data, &config) != nil:
		// The library's words might quote a password.
		return nil, fault(flag, path, "the file is not a Docker configuration (JSON with auths, as docker login writes)")
	}
	full, _, _ := split(image)
	host, _, _ := strings.Cut(full, "/")
	kept := dockerConfig{Auths: map[string]dockerAuth{}}
	for key, entry := range config.Auths {
		if hostOf(key) != host {
			continue
		}
		if auth, ok := entry.plain(); ok {
			kept.Auths[keyFor(key, host)] = dockerAuth{Auth: auth}
		}
	}
	if len(kept.Auths) == 0 {
		if config.CredsStore != "" || len(config.CredHelpers) > 0 {
			return nil, fault(flag, path, "the file has no password for %s: a credential helper of this machine keeps it, and that does not reach into Kubernetes", host)
		}
		return nil, fault(flag, path, "the file has no password for %s (docker login %s)", host, host)
	}
	return json.Marshal(map[string]any{"auths": kept.Auths})
}

// plain is the entry as USER:PASSWORD in base64; false where it has no password, but say a token.
func (a dockerAuth) plain() (string, bool) {
	text := a.Username + ":" + a.Password
	if a.Auth != "" {
		decoded, err := base64.StdEncoding.DecodeString(a.Auth)
		if err != nil {
			return "", false
		}
		text = strings.TrimRight(string(decoded), "\x00")
	}
	user, password, found := strings.Cut(text, ":")
	return base64.StdEncoding.EncodeToString([]byte(text)), found && user != "" && password != ""
}

// hostOf is the registry that an entry is for: the key may have a scheme and a path.
func hostOf(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	host, _, _ := strings.Cut(key, "/")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		return "docker.io"
	}
	return host
}

// keyFor is the key by which kubelet finds the entry.
func keyFor(key, host string) string {
	if host == "docker.io" {
		return "https://index.docker.io/v1/"
	}
	return key
}
