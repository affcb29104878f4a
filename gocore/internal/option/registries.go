// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// maxHint bounds how many of the site's entries a message names.
const maxHint = 5

// Resolve gives the name by which an image is pulled at this site. It fails where the image's
// form is wrong, and where the site does not take the image.
func Resolve(image string, registries site.Registries) (string, error) {
	if err := CheckImage(image); err != nil {
		return "", err
	}
	full, tag, digest := split(image)
	pulled := registries.Rewritten(full)
	implied := tag
	if implied == "" && digest == "" {
		implied = "latest"
	}
	flag := Flag(Image)
	result := image
	if pulled != full {
		result = pulled
		if tag != "" {
			result += ":" + tag
		}
		if digest != "" {
			result += "@" + digest
		}
		// A host alone would be read as a name of docker.io's.
		if again, _, _ := split(result); CheckImage(result) != nil || again != pulled {
			return "", fault(flag, image, "this site would pull it as %q, which is no image reference (registries.rewrite in k8s.yaml)", result)
		}
	}
	switch {
	case registries.RequireDigest && digest == "":
		return "", fault(flag, image, "this site takes images by their digest alone (NAME@sha256:DIGEST)")
	case !registries.Allows(pulled, implied, digest):
		return "", fault(flag, image, "this site does not take images of that name%s (registries.allow in k8s.yaml: %s)", as(pulled, full), some(registries.Allow))
	}
	return result, nil
}

// split takes an image of a good form apart: HOST/PATH as Kubernetes understands it, tag and
// digest where they are given.
func split(image string) (full, tag, digest string) {
	full, digest, _ = strings.Cut(image, "@")
	if colon := strings.LastIndexByte(full, ':'); colon > strings.LastIndexByte(full, '/') {
		full, tag = full[:colon], full[colon+1:]
	}
	host, path, found := strings.Cut(full, "/")
	if !found || !isDomain(host) {
		host, path = "docker.io", full
	}
	if host == "index.docker.io" {
		host = "docker.io"
	}
	if host == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return host + "/" + path, tag, digest
}

func as(pulled, full string) string {
	if pulled == full {
		return ""
	}
	return ", which it would pull as " + pulled
}

func some(list []string) string {
	if len(list) > maxHint {
		return strings.Join(list[:maxHint], ", ") + ", ..."
	}
	return strings.Join(list, ", ")
}
