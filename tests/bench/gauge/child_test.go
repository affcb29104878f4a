// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The memory of whoever starts a program is not the program's.
func TestPeakOfAProgramAlone(t *testing.T) {
	mine := bytes.Repeat([]byte{1}, 100<<20)
	peak, err := PeakOf(exec.Command("sleep", "0.1"))
	require.NoError(t, err)
	require.Positive(t, peak)
	require.Less(t, peak, 50.0)
	runtime.KeepAlive(mine)

	_, err = PeakOf(exec.Command("sh", "-c", "echo no good; exit 3"))
	require.ErrorContains(t, err, "no good")
}
