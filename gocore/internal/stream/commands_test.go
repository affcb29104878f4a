// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// offerCommands adds a socket of Slurm's commands to the world, and the process behind it.
func offerCommands(w *world, up []byte) *relayModel {
	ours, theirs := net.Pipe()
	w.commands = NewRelay(ours, TaskCommands)
	m := newRelayModel(theirs, 0)
	w.podinit.commands = &taskModel{out: [2]outModel{{data: up, ready: len(up)}}}
	w.wait.Go(func() { _ = w.commands.Run(w.ctx) })
	w.wait.Go(m.run)
	w.commands.Offer(Offer{Commands: []string{"srun"}, Path: []string{"/usr/bin"}, Env: []string{"A=b"}})
	return m
}

// endTasks lets all tasks end, and checks that the session does.
func endTasks(t *testing.T, w *world) {
	t.Helper()
	w.podinit.read(func() {
		for _, task := range w.podinit.tasks {
			task.writes([]byte("out"), nil, Exit{})
		}
	})
	exits, err := w.finish()
	require.NoError(t, err)
	require.Len(t, exits, len(w.relays))
	w.noFaults()
	require.NoError(t, w.commands.Close())
}

// What the tasks' calls say goes to the Slurm node and back, whole, over breaks of the stream.
func TestCommandsOverBreaks(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, w *world) {
		up, down := pattern(3, 2_000_000), pattern(4, 700_000)
		m := offerCommands(w, up)
		w.wrap = func(rwc io.ReadWriteCloser, n int) io.ReadWriteCloser {
			if n < 4 {
				return &fragile{ReadWriteCloser: rwc, in: 400_000, out: 150_000}
			}
			return rwc
		}
		require.NoError(t, m.w.Write(Frame{Type: TypeHello}))
		require.NoError(t, w.start())
		w.wait.Go(func() { _ = m.send(down) })
		for len(m.text(Stdout)) < len(up) || w.podinit.commandsInput() < len(down) {
			synctest.Wait()
			w.sleep()
		}
		require.True(t, string(up) == m.text(Stdout))
		require.True(t, string(down) == string(w.podinit.commands.input))
		require.Greater(t, w.dialled(), 3)
		endTasks(t, w)
	})
}

// The process on the Slurm node hears of nothing, not even of what is offered, before there is a call.
func TestCommandsWaitForACall(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		m := offerCommands(w, pattern(1, 10))
		w.podinit.commands.out[0].ready = 0
		require.NoError(t, m.w.Write(Frame{Type: TypeHello}))
		require.NoError(t, w.start())
		synctest.Wait()
		m.read(func() { require.False(t, m.started) })
		require.False(t, w.commands.Called())
		w.podinit.read(func() { w.podinit.commands.out[0].ready = 10 })
		synctest.Wait()
		m.read(func() { require.True(t, m.started) })
		require.True(t, w.commands.Called())
		endTasks(t, w)
	})
}

// Podinit hears that nobody runs commands any more, again after a break.
func TestCommandsEnd(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		m := offerCommands(w, pattern(1, 100_000))
		require.NoError(t, w.start())
		m.conn.Close()
		synctest.Wait()
		w.podinit.read(func() { require.True(t, w.podinit.commands.inEOF) })
		w.podinit.read(func() { w.podinit.commands.inEOF = false })
		w.podinit.kill()
		w.sleep()
		synctest.Wait()
		w.podinit.read(func() { require.True(t, w.podinit.commands.inEOF) })
		endTasks(t, w)
	})
}

// The process is told to end what it runs, and waited for, but not for ever.
func TestCommandsEndWithTheStep(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, w *world) {
		m := offerCommands(w, pattern(1, 10))
		require.NoError(t, m.w.Write(Frame{Type: TypeHello}))
		require.NoError(t, w.start())
		synctest.Wait()
		w.commands.End()
		m.read(func() { require.NotNil(t, m.exit) })
		<-w.commands.Done()
		endTasks(t, w)
	})
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		r := NewRelay(ours, TaskCommands)
		over := make(chan error, 1)
		go func() { over <- r.Run(t.Context()) }()
		begun := time.Now()
		r.End()
		require.Zero(t, time.Since(begun), "never called")
		<-over

		ours, theirs = net.Pipe()
		defer theirs.Close()
		r = NewRelay(ours, TaskCommands)
		r.begun.sent = true
		go func() { over <- r.Run(t.Context()) }()
		begun = time.Now()
		r.End()
		require.Equal(t, commandsLimit, time.Since(begun))
		<-over
		r.End()
	})
}

// The pseudo task has no end, no stderr, and is none of the tasks.
func TestCommandsAreNoTask(t *testing.T) {
	for _, f := range []Frame{
		{Type: TypeExit, Task: TaskCommands, Payload: make([]byte, exitSize)},
		{Type: TypeEOF, Stream: Stdout, Task: TaskCommands},
		{Type: TypeData, Stream: Stderr, Task: TaskCommands, Payload: []byte("x")},
	} {
		inBubble(t, 1, func(t *testing.T, w *world) {
			offerCommands(w, nil)
			require.NoError(t, w.start())
			c := &conn{s: w.session}
			require.ErrorIs(t, c.take(f), ErrProtocol, "%s", f.Type)
			endTasks(t, w)
		})
	}
}

func TestOfferIsWhatTheRelayReads(t *testing.T) {
	r := NewRelay(nil, TaskCommands)
	r.Offer(Offer{Commands: []string{"scontrol queries"}, Path: []string{"/a"}, Env: []string{"X=1"}})
	var got []string
	require.NoError(t, DecodeRecords(r.offer, func(r Record) error {
		got = append(got, string(r.Tag)+string(r.Value))
		return nil
	}))
	require.Equal(t, []string{"Cscontrol queries", "P/a", "EX=1"}, got)
}

func TestStartCarriesCommands(t *testing.T) {
	b, err := EncodeStart([]Launch{{Task: 0, Commands: []string{"srun"}}, {Task: 1, Commands: []string{"srun"}}})
	require.NoError(t, err)
	count := 0
	require.NoError(t, DecodeRecords(b, func(r Record) error {
		if r.Tag == recordCommand {
			count++
			require.Equal(t, uint32(TaskAll), r.Task)
		}
		return nil
	}))
	require.Equal(t, 1, count)
}

func (m *relayModel) text(s Stream) (text string) {
	m.read(func() { text = m.out[s-1].String() })
	return text
}

func (p *podinitModel) commandsInput() (size int) {
	p.read(func() { size = len(p.commands.input) })
	return size
}
