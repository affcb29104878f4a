// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHasStorage(t *testing.T) {
	pod, err := Build(withVolumes(t, "sets:/data,tmp", "1Gi:/scratch", nil))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		mounts, claim string
		want          bool
	}{
		"nothing asked":     {"", "", true},
		"the same":          {"sets:/data,tmp", "1Gi:/scratch", true},
		"less":              {"tmp", "", true},
		"at another place":  {"sets", "", false},
		"read-only":         {"tmp:ro", "", false},
		"one more":          {"ram", "", false},
		"none of the names": {"nowhere", "", false},
		"another size":      {"", "2Gi:/scratch", false},
		"another class":     {"", "1Gi:slow:/scratch", false},
		"the same class":    {"", "1Gi:fast:/scratch", true},
		"another path":      {"", "1Gi:/elsewhere", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, HasStorage(pod, withVolumes(t, c.mounts, c.claim, nil)))
		})
	}
}
