// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"bytes"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What C and Go of the product are proven with proves the frames here too.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../vectors/frames.txt")
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "frame":
			number := func(i, base int) uint64 {
				n, err := strconv.ParseUint(words[i], base, 64)
				require.NoError(t, err)
				return n
			}
			want := frame{
				kind: uint8(number(2, 10)), stream: uint8(number(3, 10)), flags: uint8(number(4, 10)), session: number(5, 16),
				task: uint32(number(6, 10)), offset: number(7, 10), payload: digits(t, words[8]),
			}
			bytesOf := digits(t, words[9])
			require.Equal(t, bytesOf, want.bytes(), words[1])
			got, err := readFrame(bytes.NewReader(bytesOf), want.session)
			require.NoError(t, err, words[1])
			require.Equal(t, want, got, words[1])
		case "records":
			got, err := readRecords(digits(t, words[2]))
			require.NoError(t, err, words[1])
			require.Len(t, got, len(words)-3, words[1])
			var again []byte
			for _, r := range got {
				again = r.append(again)
			}
			require.True(t, bytes.Equal(digits(t, words[2]), again), words[1])
		default:
			continue
		}
		count++
	}
	require.Greater(t, count, 20)
}

// digits are the bytes of a word of the vectors.
func digits(t *testing.T, word string) []byte {
	b := []byte{}
	if word == "-" {
		return b
	}
	for piece := range strings.SplitSeq(word, "+") {
		text, times, repeated := strings.Cut(piece, "*")
		n := 1
		var err error
		if repeated {
			n, err = strconv.Atoi(times)
			require.NoError(t, err)
		}
		one, err := hex.DecodeString(text)
		require.NoError(t, err)
		b = append(b, bytes.Repeat(one, n)...)
	}
	return b
}
