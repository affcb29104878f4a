// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

type gonePump struct{ io.ReadWriteCloser }

func (gonePump) Read([]byte) (int, error)  { return 0, fmt.Errorf("pump: %w", ErrGone) }
func (gonePump) Write([]byte) (int, error) { return 0, fmt.Errorf("pump: %w", ErrGone) }

// Where no pump will find podinit again nobody waits for it.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.wrap = func(rwc io.ReadWriteCloser, dial int) io.ReadWriteCloser { return gonePump{rwc} }
		w.begin()
		require.ErrorIs(t, <-w.runErr, ErrGone)
		_, err := w.session.Exit(t.Context(), 0)
		require.ErrorIs(t, err, ErrGone)
		require.Equal(t, 1, w.dialled())
		w.cancel()
		w.wait.Wait()
	})
}
