// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	err := guard("a test", func() error { panic("oops") })
	require.ErrorContains(t, err, "panic in a test: oops")
	boom := errors.New("boom")
	require.Equal(t, boom, guard("a test", func() error { return boom }))
}

// A Writer may be used by many; every frame is one Write.
func TestWriterIsShared(t *testing.T) {
	here, there := socketpair(t)
	w := NewWriter(here, 3)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				_ = w.Write(Frame{Type: TypeData, Task: uint32(i), Offset: uint64(n), Payload: make([]byte, n*300)})
			}
		})
	}
	go func() { all.Wait(); here.Close() }()
	rd := NewReader(there, 3)
	next := make([]uint64, 8)
	for {
		f, err := rd.Next()
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		require.Equal(t, next[f.Task], f.Offset)
		require.Len(t, f.Payload, int(f.Offset)*300)
		next[f.Task]++
	}
	require.Equal(t, []uint64{200, 200, 200, 200, 200, 200, 200, 200}, next)
	require.Error(t, w.Write(Frame{Payload: make([]byte, MaxPayload+1)}))
	require.Error(t, w.Write(Frame{}))
	require.Error(t, w.Write(Frame{}))
	there.Close()
}

// A Reader gives its large buffer back when little comes.
func TestReaderShrinks(t *testing.T) {
	here, there := socketpair(t)
	defer there.Close()
	w, rd := NewWriter(here, 0), NewReader(there, 0)
	go func() {
		defer here.Close()
		_ = w.Write(Frame{Type: TypeData, Payload: make([]byte, MaxPayload)})
		for range 50 {
			_ = w.Write(Frame{Type: TypeAck, Payload: make([]byte, 100)})
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := rd.Next()
	require.NoError(t, err)
	require.NotNil(t, rd.big)
	for range 50 {
		f, err := rd.Next()
		require.NoError(t, err)
		require.Len(t, f.Payload, 100)
	}
	require.Nil(t, rd.big)
}
