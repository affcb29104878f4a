// SPDX-License-Identifier: Apache-2.0

package wellknown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNamespaceName(t *testing.T) {
	for _, same := range []string{"user-alice", "a", "9", "user-anna-lena", strings.Repeat("a", 63)} {
		assert.Equal(t, same, NamespaceName(same, same))
		assert.NotEqual(t, same, NamespaceName(same, "another "+same))
	}
	for text, want := range map[string]string{
		"user-Alice":                   `^user-alice-x[0-9a-f]{16}$`,
		"user-a.b@EXAMPLE.ORG":         `^user-a-b-example-org-x[0-9a-f]{16}$`,
		"-a-":                          `^a-x[0-9a-f]{16}$`,
		"@@":                           `^x[0-9a-f]{16}$`,
		"":                             `^x[0-9a-f]{16}$`,
		"user-é":                       `^user-x[0-9a-f]{16}$`,
		"user-a-x0123456789abcdef":     `^user-a-x0123456789abcdef-x[0-9a-f]{16}$`,
		"user-" + repeated("long", 20): `^user-(long)+-?(l|lo|lon)?-x[0-9a-f]{16}$`,
	} {
		assert.Regexp(t, want, NamespaceName(text, text))
	}
}

func repeated(text string, times int) string { return strings.Repeat(text, times) }

func FuzzNamespaceName(f *testing.F) {
	f.Add("user-a", "user-A")
	f.Add("x0123456789abcdef", "@@")
	f.Add("user-a.b", "user-a-b")
	f.Fuzz(func(t *testing.T, a, b string) {
		na, nb := NamespaceName(a, a), NamespaceName(b, b)
		require.Empty(t, validation.IsDNS1123Label(na), na)
		require.True(t, IsNamespace(na))
		require.Equal(t, a == b, na == nb)
	})
}
