// SPDX-License-Identifier: Apache-2.0

package wellknown

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// namespaceForm is a DNS-1123 label; labelLimit is its limit too.
var namespaceForm = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

// NamespaceName is a text as a namespace's name: itself where Kubernetes takes it, else what can
// be kept of it and a hash of exact. exact tells apart what text alone does not; where it differs
// from text the name is never the text itself. The same exact gives the same name, two give two.
func NamespaceName(text, exact string) string {
	if text == exact && len(text) <= labelLimit && namespaceForm.MatchString(text) && !changedForm.MatchString(text) {
		return text
	}
	sum := sha256.Sum256([]byte(exact))
	suffix := labelMark + hex.EncodeToString(sum[:labelHash])
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, text)
	if limit := labelLimit - len(suffix); len(kept) > limit {
		kept = kept[:limit]
	}
	return strings.TrimLeft(strings.Trim(kept, "-")+suffix, "-")
}

// IsNamespace tells whether Kubernetes takes the text as a namespace's name.
func IsNamespace(text string) bool { return len(text) <= labelLimit && namespaceForm.MatchString(text) }
