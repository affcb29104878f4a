// SPDX-License-Identifier: Apache-2.0

package option

import (
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// The grammar of github.com/distribution/reference, which kubelet and containerd follow:
// go-containerregistry alone takes "a//b" and "-a", which kubelet would refuse as InvalidImageName.
var (
	domainForm = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	idForm     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// maxName bounds domain and path (distribution's NameTotalLengthMax).
const maxName = 255

// CheckImage wants a reference that kubelet would take.
func CheckImage(value string) error {
	_, err := Reference(value)
	return err
}

// Reference parses an image's name as Kubernetes understands it: plain "debian" is
// docker.io/library/debian:latest.
func Reference(value string) (name.Reference, error) {
	flag := Flag(Image)
	if err := common(flag, value); err != nil {
		return nil, err
	}
	if cause := imageFault(value); cause != "" {
		return nil, fault(flag, value, "%s", cause)
	}
	reference, err := name.ParseReference(value, name.WeakValidation)
	if err != nil {
		return nil, fault(flag, value, "not an image reference")
	}
	// containerd counts what it makes of the name, docker.io/library/ before it too.
	if len(reference.Context().Name()) > maxName {
		return nil, fault(flag, value, "the name is longer than %d bytes", maxName)
	}
	return reference, nil
}

func imageFault(value string) string {
	switch {
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "./"), strings.HasPrefix(value, "../"), strings.HasSuffix(value, ".sqsh"):
		return "a file cannot be run, Kubernetes pulls from registries (push the image to one, and write HOST[:PORT]/NAME[:TAG])"
	case strings.Contains(value, "://"):
		return "an image reference has no scheme (write HOST[:PORT]/NAME[:TAG])"
	case strings.ContainsAny(value, " \t"):
		return "an image reference has no spaces"
	case strings.Contains(value, "#"):
		return "an image reference has no \"#\" (write HOST/NAME, not HOST#NAME)"
	}
	rest, digest, hasDigest := strings.Cut(value, "@")
	if hasDigest && !digestForm.MatchString(digest) {
		return "what follows \"@\" is not a digest (sha256: and 64 hexadecimal digits)"
	}
	// A colon after the last slash begins the tag; before it, the port.
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, '/') {
		if !tagForm.MatchString(rest[colon+1:]) {
			return "what follows the last \":\" is not a tag"
		}
		rest = rest[:colon]
	}
	if len(rest) > maxName {
		return "the name is longer than 255 bytes"
	}
	path := rest
	if domain, after, found := strings.Cut(rest, "/"); found && isDomain(domain) {
		if !domainForm.MatchString(domain) {
			return "what stands before the first \"/\" is not a registry's HOST[:PORT]"
		}
		path = after
	}
	switch {
	case idForm.MatchString(rest):
		return "an image's ID is not a name"
	case path == "":
		return "the name is missing"
	case strings.ToLower(path) != path && pathForm.MatchString(strings.ToLower(path)):
		return "an image's name has no capital letters"
	case !pathForm.MatchString(path):
		return "not an image reference (HOST[:PORT]/NAME[:TAG] or NAME@sha256:DIGEST)"
	}
	return ""
}

// isDomain tells a registry from the first part of a path, as Docker does.
func isDomain(first string) bool {
	return strings.ContainsAny(first, ".:") || first == "localhost" || strings.ToLower(first) != first
}
