// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// vectors calls each with the words of every line of the shared vectors.
func vectors(t testing.TB, each func(words []string)) {
	b, err := os.ReadFile("../../../tests/vectors/frames.txt")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			each(strings.Split(line, " "))
			n++
		}
	}
	require.Greater(t, n, 50)
}

func vectorBytes(t testing.TB, text string) []byte {
	var b []byte
	if text == "-" {
		return nil
	}
	for piece := range strings.SplitSeq(text, "+") {
		digits, times, repeated := strings.Cut(piece, "*")
		n := 1
		var err error
		if repeated {
			n, err = strconv.Atoi(times)
			require.NoError(t, err)
		}
		d, err := hex.DecodeString(digits)
		require.NoError(t, err)
		b = append(b, bytes.Repeat(d, n)...)
	}
	return b
}

func number(t testing.TB, text string, base int) uint64 {
	n, err := strconv.ParseUint(text, base, 64)
	require.NoError(t, err)
	return n
}

func TestVectors(t *testing.T) {
	vectors(t, func(words []string) {
		t.Run(words[1], func(t *testing.T) {
			switch words[0] {
			case "frame":
				testFrame(t, words[2:])
			case "error":
				b := vectorBytes(t, words[4])
				_, err := NewReader(io.MultiReader(bytes.NewReader(b[:HeaderSize]), iotest.ErrReader(errors.New("read on"))), number(t, words[3], 16)).Next()
				requireReason(t, words[2], err)
			case "partial":
				b := vectorBytes(t, words[3])
				more := errors.New("more")
				_, err := NewReader(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(more)), number(t, words[2], 16)).Next()
				require.ErrorIs(t, err, more)
			case "records":
				testRecords(t, words[2:])
			case "badrecords":
				requireReason(t, words[2], DecodeRecords(vectorBytes(t, words[3]), func(Record) error { return nil }))
			default:
				t.Fatal("unknown kind of vector ", words[0])
			}
		})
	})
}

func requireReason(t *testing.T, reason string, err error) {
	var bad *FrameError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, reason, bad.Reason)
	require.ErrorIs(t, err, ErrProtocol)
	require.Contains(t, err.Error(), reason)
}

func testFrame(t *testing.T, w []string) {
	f := Frame{Type: Type(number(t, w[0], 10)), Stream: Stream(number(t, w[1], 10)), Flags: uint8(number(t, w[2], 10)),
		Session: number(t, w[3], 16), Task: uint32(number(t, w[4], 10)), Offset: number(t, w[5], 10), Payload: vectorBytes(t, w[6])}
	want := vectorBytes(t, w[7])
	var out bytes.Buffer
	require.NoError(t, NewWriter(&out, f.Session).Write(f))
	require.Equal(t, want, out.Bytes())
	for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		rd := NewReader(wrap(bytes.NewReader(want)), f.Session)
		got, err := rd.Next()
		require.NoError(t, err)
		require.True(t, bytes.Equal(f.Payload, got.Payload))
		got.Payload = f.Payload
		require.Equal(t, f, got)
		_, err = rd.Next()
		require.Equal(t, io.EOF, err)
		rd.Release()
	}
	_, err := NewReader(bytes.NewReader(want[:len(want)-1]), f.Session).Next()
	require.Equal(t, io.ErrUnexpectedEOF, err)
}

func testRecords(t *testing.T, w []string) {
	b := vectorBytes(t, w[0])
	var again []byte
	var got []string
	require.NoError(t, DecodeRecords(b, func(r Record) error {
		again = AppendRecord(again, r)
		value := hex.EncodeToString(r.Value)
		if value == "" {
			value = "-"
		}
		got = append(got, fmt.Sprintf("%c:%d:%s", r.Tag, r.Task, value))
		return nil
	}))
	require.Equal(t, b, again)
	require.Equal(t, strings.Join(w[1:], " "), strings.Join(got, " "))
}
