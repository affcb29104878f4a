// SPDX-License-Identifier: Apache-2.0

package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func byPattern(pattern string) *Config {
	config := Default()
	config.Namespace = pattern
	return config
}

func TestNamespaceOf(t *testing.T) {
	alice := Owner{User: "alice", Account: "physics", Cluster: "lab", UID: 1001}
	for pattern, want := range map[string]string{
		"slurm":         "slurm",
		"user-%u":       "user-alice",
		"account-%a":    "account-physics",
		"slurm-%c-%a-x": "slurm-lab-physics-x",
	} {
		place, err := byPattern(pattern).NamespaceOf(alice)
		require.NoError(t, err, pattern)
		assert.Equal(t, want, place.Name)
	}
	t.Run("what a namespace cannot be called", func(t *testing.T) {
		place, err := byPattern("user-%u").NamespaceOf(Owner{User: "Alice.B@EXAMPLE.ORG"})
		require.NoError(t, err)
		assert.Regexp(t, `^user-alice-b-example-org-x[0-9a-f]{16}$`, place.Name)
		assert.Equal(t, "user-Alice.B@EXAMPLE.ORG", place.Exact)
	})
	t.Run("of two values, where one ends", func(t *testing.T) {
		config := byPattern("t-%a-%u")
		one, err := config.NamespaceOf(Owner{Account: "a-b", User: "c"})
		require.NoError(t, err)
		two, err := config.NamespaceOf(Owner{Account: "a", User: "b-c"})
		require.NoError(t, err)
		assert.NotEqual(t, one.Name, two.Name)
	})
	for pattern, words := range map[string]string{"user-%u": "the name of uid 1001", "account-%a": "no account", "on-%c": "cluster"} {
		_, err := byPattern(pattern).NamespaceOf(Owner{UID: 1001})
		assert.ErrorContains(t, err, words)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, words := range map[string]string{
		"%u": "text that ends with a dash", "user%u": "text that ends with a dash", "a-%u%a": "text that ends with a dash",
		"a-%u-%": "must be followed by", "a-%x": "must be followed by", "a-%%": "must be followed by",
		"kube-%u": "Kubernetes' own", "A-%u": "lower case", "a_-%u": "lower case", "-%u": "lower case", "a-%u-": "lower case", "a-%u.b": "lower case",
		strings.Repeat("a", 40) + "-%u": "more than 40",
	} {
		_, err := parsePattern(pattern)
		assert.ErrorContains(t, err, words, pattern)
	}
}

// FuzzNamespaceOf: whoever the pattern tells apart is apart.
func FuzzNamespaceOf(f *testing.F) {
	f.Add("user-%u", "alice", "a", "Alice", "a")
	f.Add("t-%a-%u", "b-c", "a", "c", "a-b")
	f.Add("t-%a-x-%u", "x-c", "a", "c", "a-x")
	f.Fuzz(func(t *testing.T, pattern, userA, accountA, userB, accountB string) {
		config := byPattern(pattern)
		if !config.ByPattern() {
			return
		}
		if _, err := parsePattern(pattern); err != nil {
			return
		}
		a, errA := config.NamespaceOf(Owner{User: userA, Account: accountA, Cluster: "lab"})
		b, errB := config.NamespaceOf(Owner{User: userB, Account: accountB, Cluster: "lab"})
		if errA != nil || errB != nil {
			return
		}
		require.Empty(t, validation.IsDNS1123Label(a.Name), a.Name)
		require.NotEqual(t, config.SystemNamespace(), a.Name)
		same := (userA == userB || !strings.Contains(pattern, "%u")) && (accountA == accountB || !strings.Contains(pattern, "%a"))
		require.Equal(t, same, a.Name == b.Name)
	})
}
