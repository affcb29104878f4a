// SPDX-License-Identifier: Apache-2.0

package full

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests' k8s.yaml has what the row takes out of it, and the rest stays.
func TestDefaultTimes(t *testing.T) {
	was, err := os.ReadFile("../../cluster/k8s.yaml.in")
	require.NoError(t, err)
	text, err := defaultTimes(string(was))
	require.NoError(t, err)
	require.NotContains(t, text, "wait:")
	require.NotContains(t, text, "backoff")
	require.Contains(t, text, "\nstart_limit: 60s\n")
	_, err = defaultTimes(text)
	require.Error(t, err)
}

func TestStarts(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("1.out", "started\n")
	s := newStarts(folder)
	require.Empty(t, s.news())
	write("2.out", "")
	require.Empty(t, s.news())
	write("2.out", "started\n")
	require.Equal(t, []string{"2"}, s.news())
	require.Empty(t, s.news())
}
