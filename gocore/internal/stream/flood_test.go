// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// floodBound is what a flood may cost: of a leak of 100 bytes a frame there would be more.
const (
	floodFrames = 25_000
	floodBound  = 2 << 20
)

// held is the memory that is in use.
func held() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func requireBounded(t *testing.T, before uint64) {
	t.Helper()
	require.Less(t, int64(held())-int64(before), int64(floodBound))
}

// neighbour is another session of this process, with output under way; its end is as it should be.
func neighbour(t *testing.T) (finish func()) {
	w := newWorld(t, 1)
	output := pattern(1, 2*OutputWindow)
	w.podinit.tasks[0].out[0] = outModel{data: output, ready: OutputWindow / 2}
	require.NoError(t, w.start())
	synctest.Wait() // what it has is delivered: its memory is not a flood's
	return func() {
		defer w.close()
		w.podinit.read(func() {
			task := w.podinit.tasks[0]
			task.out[0].ready, task.out[0].closed, task.out[1].closed = len(output), true, true
			task.exit = Exit{Status: 7 << 8}
		})
		exits, err := w.finish()
		require.NoError(t, err)
		require.Equal(t, uint32(7<<8), exits[0].Status)
		require.Equal(t, string(output), w.models[0].out[0].String())
		w.noFaults()
	}
}

// TestFloodOfPodinit: frames without end, each of which makes sense, cost no memory and hold up
// nobody; what podinit says after them counts.
func TestFloodOfPodinit(t *testing.T) {
	started := record(recordState, TaskAll, 0, 0, 0, stateStarted)
	for name, c := range map[string]struct {
		frame Frame
		count int
		size  uint64 // of stdout then
	}{
		"heartbeats":       {Frame{Type: TypeHeartbeat, Task: TaskAll, Flags: FlagReply}, floodFrames, 0},
		"empty data":       {data(Stdout, 0, 0), floodFrames, 0},
		"ends":             {Frame{Type: TypeEOF, Stream: Stderr}, floodFrames, 0},
		"acknowledgements": {Frame{Type: TypeAck}, floodFrames, 0},
		"data told before": {data(Stdout, 0, MaxPayload), floodFrames / 10, MaxPayload},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				defer w.close()
				w.models[0].stuck[0] = true
				flooded, release := make(chan struct{}), make(chan struct{})
				w.serve = func(rwc io.ReadWriteCloser) {
					defer rwc.Close()
					go func() { _, _ = io.Copy(io.Discard, rwc) }()
					pw := NewWriter(rwc, worldID)
					_ = pw.Write(Frame{Type: TypeHello, Task: TaskAll, Payload: started})
					for range c.count {
						if pw.Write(c.frame) != nil {
							break
						}
					}
					close(flooded)
					<-release
					_ = pw.Write(Frame{Type: TypeEOF, Stream: Stdout, Offset: c.size})
					_ = pw.Write(Frame{Type: TypeEOF, Stream: Stderr})
					_ = pw.Write(Frame{Type: TypeExit, Payload: make([]byte, exitSize)})
				}
				finish := neighbour(t)
				require.NoError(t, w.models[0].hello(Launch{}))
				before := held()
				w.begin()
				w.session.Forward(w.relays[0])
				<-flooded
				requireBounded(t, before)
				finish()
				require.NoError(t, w.models[0].unstick(Stdout))
				close(release)
				exit, err := w.session.Exit(t.Context(), 0)
				require.NoError(t, err)
				require.Zero(t, exit.Status)
				require.Equal(t, 1, w.dialled())
			})
		})
	}
}

// TestFloodOfRelay: a relay is the user's, who may make it say anything at any rate, also while
// podinit cannot be reached.
func TestFloodOfRelay(t *testing.T) {
	for name, frame := range map[string]Frame{
		"signals":          Signal{15, 0}.frame(socketTask),
		"sizes":            {Type: TypeWinsize, Task: socketTask, Payload: []byte{0, 24, 0, 80}},
		"acknowledgements": {Type: TypeAck, Stream: Stdout, Task: socketTask},
		"empty input":      data(Stdin, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				defer w.close()
				w.down = true
				finish := neighbour(t)
				require.NoError(t, w.models[0].hello(Launch{}))
				w.begin()
				w.session.Forward(w.relays[0])
				before := held()
				for range floodFrames {
					require.NoError(t, w.models[0].w.Write(frame))
				}
				synctest.Wait()
				requireBounded(t, before)
				finish()
				select {
				case <-w.relays[0].Done():
					t.Fatal("the relay was given up")
				default:
				}
			})
		})
	}
}

// TestFloodIsToldSeldom: what is dropped of a flood is counted in Slurm's log, and does not fill it.
func TestFloodIsToldSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		defer w.close()
		require.NoError(t, w.start())
		signal := Signal{15, 0}.frame(socketTask)
		row := AppendHeader(nil, signal)
		row = bytes.Repeat(append(row, signal.Payload...), 1000)
		for range 100 {
			_, err := w.models[0].conn.Write(row)
			require.NoError(t, err)
		}
		w.models[0].conn.Close()
		<-w.relays[0].Done()
		synctest.Wait()
		lines, dropped, taken := 0, 0, 0
		for line := range strings.Lines(w.logs()) {
			var count, notices int
			if n, _ := fmt.Sscanf(line, "WARN task 0: %d signals and %d bytes", &count, &notices); n == 2 {
				lines, dropped = lines+1, dropped+count
			}
		}
		w.podinit.read(func() { taken = len(w.podinit.signals) })
		require.NotZero(t, dropped)
		require.Equal(t, 100_000, dropped+taken+len(w.relays[0].Signals()))
		require.LessOrEqual(t, lines, 2)
	})
}

// TestWrongLengths: a header with a length that no frame has ends the connection, and nothing is
// allocated for it.
func TestWrongLengths(t *testing.T) {
	for name, length := range map[string][4]byte{"one too many": {0, 1, 0, 1}, "all ones": {255, 255, 255, 255}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				header := AppendHeader(nil, Frame{Type: TypeHello, Session: worldID, Task: TaskAll})
				copy(header[20:], length[:])
				w := newWorld(t, 1)
				defer w.close()
				w.serve = speaks(header)
				finish := neighbour(t)
				before := held()
				w.begin()
				require.ErrorIs(t, <-w.runErr, ErrProtocol)
				requireBounded(t, before)
				finish()

				here, there := net.Pipe()
				header = AppendHeader(nil, Frame{Type: TypeHello, Task: socketTask})
				copy(header[20:], length[:])
				w.addRelay(0, here, there)
				go func() { _, _ = there.Write(header) }()
				relay := w.relays[len(w.relays)-1]
				_, err := relay.Hello(t.Context())
				require.ErrorIs(t, err, ErrProtocol)
				<-relay.Done()
			})
		})
	}
}

// TestImpersonation: who does not know the session's number is not its podinit, at the first frame
// or later.
func TestImpersonation(t *testing.T) {
	started := record(recordState, TaskAll, 0, 0, 0, stateStarted)
	hello := func(id uint64) []byte {
		return append(AppendHeader(nil, Frame{Type: TypeHello, Session: id, Task: TaskAll, Payload: started}), started...)
	}
	for name, bytes := range map[string][]byte{
		"at once": hello(worldID + 1),
		"none":    hello(0),
		"later":   append(hello(worldID), AppendHeader(nil, Frame{Type: TypeHeartbeat, Session: worldID ^ 1, Task: TaskAll})...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				defer w.close()
				w.serve = speaks(bytes)
				finish := neighbour(t)
				w.begin()
				err := <-w.runErr
				require.ErrorIs(t, err, ErrProtocol)
				require.ErrorContains(t, err, "bad session")
				require.Equal(t, maxBreaches, w.dialled())
				finish()
			})
		})
	}
}

// speaks is a pump that says these bytes, and waits for the core to go.
func speaks(bytes []byte) func(io.ReadWriteCloser) {
	return func(rwc io.ReadWriteCloser) {
		defer rwc.Close()
		go func() { _, _ = rwc.Write(bytes) }()
		_, _ = io.Copy(io.Discard, rwc)
	}
}
