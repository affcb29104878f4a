// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func record(tag byte, task uint32, value ...byte) []byte {
	return AppendRecord(nil, Record{tag, task, value})
}

var waitingHello = record(recordState, TaskAll, 0, 0, 0, stateWaiting)

// play is a podinit that says a row of frames on every connection, START's
// answer after START, and then waits for the core to close.
func play(hello []byte, frames []Frame) func(io.ReadWriteCloser) {
	return func(rwc io.ReadWriteCloser) {
		defer rwc.Close()
		started := make(chan struct{})
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			rd := NewReader(rwc, worldID)
			for {
				f, err := rd.Next()
				if err != nil {
					return
				}
				if f.Type == TypeStart {
					close(started)
				}
			}
		}()
		w := NewWriter(rwc, worldID)
		_ = w.Write(Frame{Type: TypeHello, Task: TaskAll, Payload: hello})
		if string(hello) == string(waitingHello) {
			select {
			case <-started:
			case <-gone:
				return
			}
			_ = w.Write(Frame{Type: TypeStart, Task: TaskAll})
		}
		for _, f := range frames {
			if w.Write(f) != nil {
				break
			}
		}
		<-gone
	}
}

func data(s Stream, offset uint64, n int) Frame {
	return Frame{Type: TypeData, Stream: s, Offset: offset, Payload: make([]byte, n)}
}

func flood(n int) []Frame {
	var all []Frame
	for i := range n {
		all = append(all, data(Stdout, uint64(i*MaxPayload), MaxPayload))
	}
	return all
}

func TestHostilePodinit(t *testing.T) {
	started := record(recordState, TaskAll, 0, 0, 0, stateStarted)
	eof := func(s Stream, n uint64) Frame { return Frame{Type: TypeEOF, Stream: s, Offset: n} }
	exit := Frame{Type: TypeExit, Payload: make([]byte, exitSize)}
	other := Frame{Type: TypeExit, Payload: append(make([]byte, exitSize-1), 1)}
	cases := map[string]struct {
		hello  []byte
		frames []Frame
		want   string
	}{
		"no hello":            {want: "HELLO without a state"},
		"unknown state":       {hello: record(recordState, TaskAll, 0, 0, 0, 9), want: "unknown one: 9"},
		"bad records":         {hello: []byte("X"), want: "bad header"},
		"input of nobody":     {hello: append(record(recordInput, 9, 0, 0, 0, 0, 0, 0, 0, 0), started...), want: "unknown task 9"},
		"input never sent":    {hello: append(record(recordInput, 0, 0, 0, 0, 0, 0, 0, 0, 1), started...), want: "podinit has input to 1"},
		"gap":                 {hello: started, frames: []Frame{data(Stdout, 1, 1)}, want: "stdout goes on at 1"},
		"beyond 2^64":         {hello: started, frames: []Frame{data(Stdout, ^uint64(0), 2)}, want: "beyond 2^64"},
		"unknown task":        {hello: started, frames: []Frame{{Type: TypeData, Stream: Stdout, Task: 5}}, want: "DATA of unknown task 5"},
		"all tasks":           {hello: started, frames: []Frame{{Type: TypeEOF, Stream: Stdout, Task: TaskAll}}, want: "unknown task"},
		"output on stdin":     {hello: started, frames: []Frame{data(Stdin, 0, 1)}, want: "DATA of stdin"},
		"output on notice":    {hello: started, frames: []Frame{data(Notice, 0, 1)}, want: "DATA of notice"},
		"ack of nothing":      {hello: started, frames: []Frame{{Type: TypeAck, Offset: 1}}, want: "input acknowledged to 1"},
		"ack of output":       {hello: started, frames: []Frame{{Type: TypeAck, Stream: Stdout}}, want: "ACK of stdout"},
		"eof too early":       {hello: started, frames: []Frame{data(Stdout, 0, 2), eof(Stdout, 1)}, want: "stdout ends at 1, but 2 bytes came"},
		"eof too late":        {hello: started, frames: []Frame{eof(Stderr, 1)}, want: "stderr ends at 1"},
		"after eof":           {hello: started, frames: []Frame{eof(Stdout, 0), data(Stdout, 0, 1)}, want: "after its end"},
		"exit before eof":     {hello: started, frames: []Frame{eof(Stdout, 0), exit}, want: "before the end of its output"},
		"exit twice":          {hello: started, frames: []Frame{eof(Stdout, 0), eof(Stderr, 0), exit, exit}, want: "EXIT of task 0 twice"},
		"short exit":          {hello: started, frames: []Frame{eof(Stdout, 0), eof(Stderr, 0), {Type: TypeExit}}, want: "EXIT of 0 bytes"},
		"other exit":          {hello: started, frames: []Frame{eof(Stdout, 0), eof(Stderr, 0), exit, other}, want: "EXIT of task 0 twice"},
		"flood without acks":  {hello: started, frames: flood(17), want: "stdout has 1114112 bytes unacknowledged"},
		"output before start": {hello: record(recordState, TaskAll, 0, 0, 0, stateWaiting), frames: []Frame{data(Stdout, 0, 1)}, want: "DATA before START"},
		"start unasked":       {hello: started, frames: []Frame{{Type: TypeStart}}, want: "START that nobody asked for"},
		"hello twice":         {hello: started, frames: []Frame{{Type: TypeHello}}, want: "HELLO of stdin from podinit"},
		"a signal":            {hello: started, frames: []Frame{Signal{9, 0}.frame(0)}, want: "SIGNAL of stdin"},
		"detach":              {hello: started, frames: []Frame{{Type: TypeDetach}}, want: "DETACH of stdin"},
		"session":             {hello: nil, want: "HELLO without a state"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				defer w.close()
				w.models[0].stuck[0] = true
				w.serve = play(c.hello, c.frames)
				if name == "output before start" {
					w.serve = func(rwc io.ReadWriteCloser) { // at once, START or not
						defer rwc.Close()
						pw := NewWriter(rwc, worldID)
						go func() { _, _ = io.Copy(io.Discard, rwc) }()
						_ = pw.Write(Frame{Type: TypeHello, Task: TaskAll, Payload: c.hello})
						_ = pw.Write(c.frames[0])
						synctest.Wait()
					}
				}
				require.NoError(t, w.models[0].hello(Launch{}))
				w.begin()
				w.session.Forward(w.relays[0])
				err := <-w.runErr
				require.ErrorIs(t, err, ErrProtocol)
				require.ErrorContains(t, err, c.want)
				require.ErrorIs(t, w.session.Connected(closedContext()), errIf(w.session.connected, err))
				require.Equal(t, maxBreaches, w.dialled())
				_, err = w.session.Exits(t.Context())
				if name != "exit twice" && name != "other exit" {
					require.ErrorIs(t, err, ErrProtocol)
				}
				w.session.Detach(t.Context())
			})
		})
	}
}

func errIf(connected bool, err error) error {
	if connected {
		return nil
	}
	return err
}

// What is not a frame at all, as a shell's error message.
func TestPumpThatTalks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		defer w.close()
		w.serve = func(rwc io.ReadWriteCloser) {
			defer rwc.Close()
			go func() { _, _ = rwc.Write([]byte("sh: podinit: not found, and so on and on\n")) }()
			_, _ = io.Copy(io.Discard, rwc)
		}
		w.begin()
		err := <-w.runErr
		require.ErrorIs(t, err, ErrProtocol)
		require.ErrorContains(t, err, `bad magic ("sh: ")`)
	})
}

// A slow reader of one stream holds neither the other nor the heartbeats, and
// what waits is bounded.
func TestStuckStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		defer w.close()
		w.models[0].stuck[0] = true
		w.podinit.tasks[0].writes(pattern(1, 2*OutputWindow), pattern(2, 3*OutputWindow), Exit{})
		require.NoError(t, w.start())
		time.Sleep(10 * time.Minute)
		w.models[0].read(func() {
			require.Equal(t, 3*OutputWindow, w.models[0].out[1].Len())
			require.Equal(t, OutputWindow, w.models[0].out[0].Len())
		})
		w.podinit.read(func() { require.InDelta(t, 60, w.podinit.beats, 1) })
		require.Equal(t, 1, w.dialled())
		require.NoError(t, w.models[0].unstick(Stdout))
		_, err := w.finish()
		require.NoError(t, err)
		w.noFaults()
		require.Equal(t, string(pattern(1, 2*OutputWindow)), w.models[0].out[0].String())
	})
}

// Of many tasks each may have less on its way: together it is in slurmstepd's memory.
func TestManyTasksShareTheWindow(t *testing.T) {
	for tasks, most := range map[int]int{1: OutputWindow, 4: OutputWindow, 16: 256 << 10, 100: 64 << 10} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, tasks)
			defer w.close()
			for _, m := range w.models {
				m.stuck[0] = true
			}
			w.serve = play(record(recordState, TaskAll, 0, 0, 0, stateStarted), flood(most/MaxPayload+1))
			for _, m := range w.models {
				require.NoError(t, m.hello(Launch{}))
			}
			w.begin()
			var err error
			select {
			case err = <-w.runErr:
			case <-time.After(10 * time.Minute):
			}
			require.ErrorIs(t, err, ErrProtocol)
			require.ErrorContains(t, err, fmt.Sprintf("stdout has %d bytes unacknowledged", most+MaxPayload))
		})
	}
}

// Single bytes of two streams in turn: memory is bounded, order of each is kept.
func TestInterleavedBytes(t *testing.T) {
	here, _ := socketpair(t)
	r := NewRelay(here, 0)
	for i := range 100_000 {
		s := Stream(1 + i%2)
		require.NoError(t, r.deliver(s, uint64(i/2), []byte{byte(i / 2)}))
	}
	r.Notice("hello")
	require.LessOrEqual(t, len(r.runs), maxRuns+1)
	require.LessOrEqual(t, len(r.out[0].queue.chunks), 2)
	sum := 0
	for _, run := range r.runs {
		sum += run.size
	}
	require.Equal(t, 100_006, sum)
	require.NoError(t, r.Close())
}

func TestHostileRelay(t *testing.T) {
	hello := Frame{Type: TypeHello}
	num := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	many := []Frame{hello}
	for i := range 5 {
		many = append(many, data(Stdin, uint64(i*MaxPayload), MaxPayload))
	}
	for name, c := range map[string]struct {
		frames []Frame
		want   string
	}{
		"no hello":           {[]Frame{{Type: TypeData}}, "first frame is not a HELLO"},
		"hello of another":   {[]Frame{{Type: TypeHello, Task: 1}}, "HELLO of task 1"},
		"endless hello":      {[]Frame{{Type: TypeHello, Flags: FlagMore}}, "goes on with nothing"},
		"bad records":        {[]Frame{{Type: TypeHello, Payload: []byte("A")}}, "bad header"},
		"another task":       {[]Frame{hello, {Type: TypeAck, Stream: Stdout, Task: 1}}, "ACK of task 1"},
		"hello twice":        {[]Frame{hello, hello}, "HELLO from a relay"},
		"ack of nothing":     {[]Frame{hello, {Type: TypeAck, Stream: Stdout, Offset: 1}}, "stdout acknowledged to 1"},
		"ack of stdin":       {[]Frame{hello, {Type: TypeAck}}, "ACK of stdin"},
		"output":             {[]Frame{hello, data(Stdout, 0, 1)}, "DATA of stdout"},
		"gap":                {[]Frame{hello, data(Stdin, 1, 1)}, "input goes on at 1"},
		"too much":           {many, "327680 bytes unacknowledged"},
		"wrong end":          {[]Frame{hello, {Type: TypeEOF, Offset: 3}}, "input ends at 3"},
		"after the end":      {[]Frame{hello, {Type: TypeEOF}, data(Stdin, 0, 1)}, "after its end"},
		"short signal":       {[]Frame{hello, {Type: TypeSignal}}, "SIGNAL of 0 bytes"},
		"signal 0":           {[]Frame{hello, {Type: TypeSignal, Payload: num(0)}}, "signal 0"},
		"signal 65":          {[]Frame{hello, {Type: TypeSignal, Payload: num(65)}}, "signal 65"},
		"short size":         {[]Frame{hello, {Type: TypeWinsize}}, "WINSIZE of 0 bytes"},
		"answer to nothing":  {[]Frame{hello, {Type: TypeHeartbeat, Flags: FlagReply}}, "answer to HEARTBEAT 0"},
		"heartbeat":          {[]Frame{hello, {Type: TypeHeartbeat}}, "not an answer"},
		"exit":               {[]Frame{hello, {Type: TypeExit}}, "EXIT from a relay"},
		"session of another": {nil, "bad session"},
	} {
		t.Run(name, func(t *testing.T) {
			core, relay := socketpair(t)
			defer relay.Close()
			r := NewRelay(core, 0)
			done := make(chan error, 1)
			go func() { done <- r.Run(t.Context()) }()
			session := uint64(0)
			if c.frames == nil {
				session, c.frames = 7, []Frame{hello}
			}
			w := NewWriter(relay, session)
			for _, f := range c.frames {
				_ = w.Write(f)
			}
			err := <-done
			require.ErrorIs(t, err, ErrProtocol)
			require.ErrorContains(t, err, c.want)
			<-r.Done()
		})
	}
}

// A HELLO that never ends is cut at MaxRecords.
func TestRelayHelloIsBounded(t *testing.T) {
	core, relay := socketpair(t)
	defer relay.Close()
	r := NewRelay(core, 0)
	done := make(chan error, 1)
	go func() { done <- r.Run(t.Context()) }()
	w := NewWriter(relay, 0)
	for w.Write(Frame{Type: TypeHello, Flags: FlagMore, Payload: make([]byte, MaxPayload)}) == nil {
	}
	require.ErrorContains(t, <-done, "of more than 16777216 bytes")
	_, err := r.Hello(t.Context())
	require.ErrorIs(t, err, ErrProtocol)
}
