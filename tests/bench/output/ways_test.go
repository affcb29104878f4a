// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each kind's script writes what it is said to.
func TestKinds(t *testing.T) {
	const size = 1 << 20
	for _, kind := range kinds {
		c := &counter{}
		script := exec.Command("sh", "-c", fmt.Sprintf(kind.script, size))
		script.Stdout = c
		require.NoError(t, script.Run(), kind.name)
		require.EqualValues(t, size, c.bytes, kind.name)
		want := int64(0)
		if kind.line > 0 {
			want = size / kind.line
		}
		require.Equal(t, want, c.lines, kind.name)
	}
}

func TestFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	grown := watchFile(ctx, path)
	require.NoError(t, os.WriteFile(path, []byte("a"), 0o600))
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, os.WriteFile(path, []byte("ab"), 0o600))
	cancel()
	require.InDelta(t, 0.3, <-grown, 0.25)
}
