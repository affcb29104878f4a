// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// socketpair is what relay and core have, and what a pump looks like.
func socketpair(t testing.TB) (net.Conn, net.Conn) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	var conns [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		conns[i], err = net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return conns[0], conns[1]
}

// BenchmarkOutput carries output from a podinit that does nothing else to a
// relay that does nothing else, in frames of 64 KiB.
func BenchmarkOutput(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	core, relay := socketpair(b)
	r := NewRelay(core, 0)
	relayDone, runDone, sessionDone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { defer close(runDone); _ = r.Run(ctx) }()
	total := uint64(b.N) * MaxPayload
	go func() { defer close(relayDone); benchRelay(relay) }()

	here, pod := socketpair(b)
	podDone := make(chan struct{})
	go func() { defer close(podDone); benchPodinit(pod, total) }()
	s := NewSession(Config{ID: worldID, Relays: []*Relay{r}, Dial: func(context.Context) (io.ReadWriteCloser, error) { return here, nil }})
	go func() { defer close(sessionDone); _ = s.Run(ctx) }()
	_, err := r.Hello(ctx)
	require.NoError(b, err)
	require.NoError(b, s.Connected(ctx))
	b.SetBytes(MaxPayload)
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, s.Start(ctx, []Launch{{}}))
	_, err = s.Exits(ctx)
	b.StopTimer()
	require.NoError(b, err)
	r.Exit(Exit{})
	<-relayDone
	s.Detach(ctx)
	<-podDone
	<-runDone
	<-sessionDone
}

func benchRelay(conn net.Conn) {
	defer conn.Close()
	w, rd := NewWriter(conn, 0), NewReader(conn, 0)
	_ = w.Write(Frame{Type: TypeHello})
	for {
		f, err := rd.Next()
		if err != nil || f.Type == TypeExit {
			return
		}
		if f.Type == TypeData {
			_ = w.Write(Frame{Type: TypeAck, Stream: f.Stream, Offset: f.Offset + uint64(len(f.Payload))})
		}
	}
}

func benchPodinit(conn net.Conn, total uint64) {
	defer conn.Close()
	w, rd := NewWriter(conn, worldID), NewReader(conn, worldID)
	acks := make(chan uint64, 1024)
	go func() {
		defer close(acks)
		for {
			f, err := rd.Next()
			if err != nil || f.Type == TypeDetach {
				return
			}
			if f.Type == TypeAck || f.Type == TypeStart {
				acks <- f.Offset
			}
		}
	}()
	_ = w.Write(Frame{Type: TypeHello, Task: TaskAll, Payload: (&podinitModel{}).hello()})
	<-acks
	_ = w.Write(Frame{Type: TypeStart, Task: TaskAll})
	payload := make([]byte, MaxPayload)
	for sent, acked := uint64(0), uint64(0); sent < total; {
		if sent-acked+MaxPayload > OutputWindow {
			acked = <-acks
			continue
		}
		_ = w.Write(Frame{Type: TypeData, Stream: Stdout, Offset: sent, Payload: payload})
		sent += MaxPayload
	}
	_ = w.Write(Frame{Type: TypeEOF, Stream: Stdout, Offset: total})
	_ = w.Write(Frame{Type: TypeEOF, Stream: Stderr})
	_ = w.Write(Frame{Type: TypeExit, Payload: Exit{}.append(nil)})
	for range acks {
	}
}
