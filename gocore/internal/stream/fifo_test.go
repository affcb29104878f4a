// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFifo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q fifo
		var want []byte
		seed := 0
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				seed++
				p := pattern(seed, rapid.OneOf(rapid.IntRange(0, 50), rapid.IntRange(4000, 4200), rapid.IntRange(0, 200_000)).Draw(t, "size"))
				q.add(p)
				want = append(want, p...)
			},
			"discard": func(t *rapid.T) {
				n := rapid.IntRange(0, len(want)).Draw(t, "n")
				q.discard(n)
				want = want[n:]
			},
			"clear": func(t *rapid.T) { q.clear(); want = nil },
			"": func(t *rapid.T) {
				require.Equal(t, len(want), q.size)
				if len(want) == 0 {
					require.Empty(t, q.chunks)
					return
				}
				pos := rapid.IntRange(0, len(want)-1).Draw(t, "pos")
				p := q.at(pos, MaxPayload)
				require.NotEmpty(t, p)
				require.True(t, bytes.HasPrefix(want[pos:], p))
				require.Empty(t, q.at(len(want), 1))
			},
		})
	})
}
