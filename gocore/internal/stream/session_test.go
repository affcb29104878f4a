// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestSessionCarriesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		defer w.close()
		for i, task := range w.podinit.tasks {
			task.writes(pattern(i, 3_000_000+i), pattern(i+10, 100_000), Exit{Status: uint32(i) << 8, PeakBytes: 7})
		}
		require.NoError(t, w.start())
		for i, m := range w.models {
			w.wait.Go(func() { _ = m.send(pattern(20+i, 700_000)) })
		}
		exits, err := w.finish()
		require.NoError(t, err)
		w.noFaults()
		for i, m := range w.models {
			require.Equal(t, uint32(i)<<8, exits[i].Status)
			require.True(t, string(pattern(i, 3_000_000+i)) == m.out[0].String())
			require.True(t, string(pattern(i+10, 100_000)) == m.out[1].String())
			require.Equal(t, [2]bool{true, true}, m.eof)
			require.Equal(t, exits[i], *m.exit)
		}
		require.True(t, w.podinit.wasDetached())
		require.True(t, w.session.OutputCame())
		require.Equal(t, 1, w.dialled())
		require.Equal(t, "model", w.session.Version())
		require.Equal(t, []string{StageStartSent, StageFirstByte}, w.stages, "once each")
	})
}

func TestOutputThatHasNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		defer w.close()
		w.podinit.tasks[0].writes(pattern(1, 100), nil, Exit{})
		require.NoError(t, w.start())
		_, err := w.session.Exit(w.ctx, 0)
		require.NoError(t, err)
		require.False(t, w.session.OutputCame(), "the other task runs")
	})
}
