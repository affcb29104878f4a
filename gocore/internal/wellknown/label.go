// SPDX-License-Identifier: Apache-2.0

package wellknown

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	labelLimit = 63 // Kubernetes: a label's value
	labelMark  = "-x"
	labelHash  = 8 // bytes of the hash, twice as many digits
)

var (
	labelForm = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)
	// changedForm is what LabelValue makes; a natural text of this form is changed too, so
	// that no two texts share a label.
	changedForm = regexp.MustCompile(`(?:^|-)x[0-9a-f]{16}$`)
)

// LabelValue is a text as a label's value: itself where Kubernetes takes it, else what can
// be kept of it and a hash. The same text gives the same value, two texts give two.
func LabelValue(text string) string {
	if len(text) <= labelLimit && labelForm.MatchString(text) && !changedForm.MatchString(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	suffix := labelMark + hex.EncodeToString(sum[:labelHash])
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '-'
	}, text)
	kept = strings.TrimLeft(kept, "-_.")
	if limit := labelLimit - len(suffix); len(kept) > limit {
		kept = kept[:limit]
	}
	return strings.TrimLeft(strings.TrimRight(kept, "-_.")+suffix, "-")
}
