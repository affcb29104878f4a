// SPDX-License-Identifier: Apache-2.0

package site

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Registries say where images may come from, and by what name they are pulled.
type Registries struct {
	// Rewrite replaces the beginning of an image's full name; the longest one counts.
	Rewrite map[string]string `json:"rewrite,omitempty"`
	// Allow lists what may be pulled, by the name after Rewrite; empty: everything.
	Allow []string `json:"allow,omitempty"`
	// RequireDigest takes images by NAME@sha256:... alone.
	RequireDigest bool `json:"require_digest"`
	// PullSecrets are names of Secrets of the namespace that every Pod pulls with.
	PullSecrets []string `json:"pull_secrets,omitempty"`
}

// Rewritten is the full name of an image (HOST/PATH without tag and digest) as it is pulled.
func (r Registries) Rewritten(full string) string {
	longest, to := "", full
	for prefix, replacement := range r.Rewrite {
		if rest, found := below(full, prefix); found && len(prefix) > len(longest) {
			longest, to = prefix, trimmed(replacement)+rest
		}
	}
	return to
}

// Allows tells whether an image may be pulled: its full name, its tag (latest where none was
// given and no digest), its digest or "".
func (r Registries) Allows(full, tag, digest string) bool {
	return len(r.Allow) == 0 || slices.ContainsFunc(r.Allow, func(entry string) bool {
		if digestForm.MatchString(entry) {
			return entry == digest
		}
		path, wantDigest, byDigest := strings.Cut(entry, "@")
		if byDigest && wantDigest != digest {
			return false
		}
		path, wantTag := cutTag(path)
		if byDigest || wantTag != "" {
			return path == full && (wantTag == "" || wantTag == tag)
		}
		_, found := below(full, path)
		return found
	})
}

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`)
	hostForm   = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](?::[0-9]{1,5})?$`)
)

// below tells whether a name is the prefix or goes on behind it with "/", and how it goes on.
func below(full, prefix string) (rest string, found bool) {
	rest, found = strings.CutPrefix(full, trimmed(prefix))
	return rest, found && (rest == "" || rest[0] == '/')
}

func trimmed(prefix string) string { return strings.TrimSuffix(prefix, "/") }

// cutTag parts a name from its tag: a colon behind the last slash.
func cutTag(text string) (path, tag string) {
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, '/') && strings.Contains(text, "/") {
		return text[:colon], text[colon+1:]
	}
	return text, ""
}

func (c *Config) validateRegistries(f *faults) {
	r := c.Registries
	for _, prefix := range slices.Sorted(maps.Keys(r.Rewrite)) {
		f.imagePrefix("registries.rewrite", prefix)
		f.imagePrefix("registries.rewrite."+prefix, r.Rewrite[prefix])
	}
	for _, entry := range r.Allow {
		if digestForm.MatchString(entry) {
			continue
		}
		path, digest, found := strings.Cut(entry, "@")
		if found && !digestForm.MatchString(digest) {
			f.add("registries.allow", "%q: what follows \"@\" is not a digest (sha256: and 64 hexadecimal digits)", entry)
		}
		path, _ = cutTag(path)
		f.imagePrefix("registries.allow", path)
	}
	for _, secret := range r.PullSecrets {
		f.objectName("registries.pull_secrets", secret)
	}
}

// imagePrefix wants HOST or HOST/PATH, so that it can be compared with full names.
func (f *faults) imagePrefix(key, prefix string) {
	host, path, more := strings.Cut(trimmed(prefix), "/")
	good := hostForm.MatchString(host) && (strings.ContainsAny(host, ".:") || host == "localhost") && host != "index.docker.io"
	if !good || more && !pathForm.MatchString(path) {
		f.add(key, "%q is not HOST[:PORT] or HOST[:PORT]/PATH as it begins an image's full name (debian:12 is docker.io/library/debian:12)", prefix)
	}
}
