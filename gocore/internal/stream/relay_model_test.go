// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"
	"net"
	"sync"
)

// relayModel is a relay: what it writes to the job's files, it keeps.
type relayModel struct {
	conn net.Conn
	w    *Writer
	task uint32

	mu      sync.Mutex
	cond    *sync.Cond
	out     [3]bytes.Buffer
	order   bytes.Buffer // of all streams
	eof     [2]bool
	exit    *Exit
	started bool
	acked   uint64 // of input
	frozen  bool
	stuck   [3]bool // writes to this file hang: nothing is acknowledged
	owed    [3]uint64
	faults  []error
	ended   chan struct{}
	over    bool // run has returned: nothing more is acknowledged
}

func newRelayModel(conn net.Conn, task uint32) *relayModel {
	m := &relayModel{conn: conn, w: NewWriter(conn, 0), task: socketTask, ended: make(chan struct{})}
	m.cond = sync.NewCond(&m.mu)
	return m
}

func (m *relayModel) hello(l Launch) error {
	l.Task = m.task
	b, err := EncodeStart([]Launch{l})
	if err != nil {
		return err
	}
	for len(b) > 1000 {
		if err := m.w.Write(Frame{Type: TypeHello, Flags: FlagMore, Task: m.task, Payload: b[:1000]}); err != nil {
			return err
		}
		b = b[1000:]
	}
	return m.w.Write(Frame{Type: TypeHello, Task: m.task, Payload: b})
}

// run reads until the core closes, or EXIT comes.
func (m *relayModel) run() {
	defer close(m.ended)
	defer m.conn.Close()
	defer m.read(func() {
		m.over = true
		m.cond.Broadcast()
	})
	rd := NewReader(m.conn, 0)
	for {
		m.mu.Lock()
		for m.frozen {
			m.cond.Wait()
		}
		m.mu.Unlock()
		f, err := rd.Next()
		if err != nil {
			return
		}
		m.mu.Lock()
		for m.frozen { // it came just before
			m.cond.Wait()
		}
		answer, err := m.take(f)
		if err != nil {
			m.faults = append(m.faults, err)
		}
		over := m.exit != nil || err != nil
		m.cond.Broadcast()
		m.mu.Unlock()
		if answer != nil && m.w.Write(*answer) != nil || over {
			return
		}
	}
}

func (m *relayModel) take(f Frame) (*Frame, error) {
	if f.Task != m.task {
		return nil, fmt.Errorf("%s of task %d", f.Type, f.Task)
	}
	switch f.Type {
	case TypeStart:
		m.started = true
	case TypeHeartbeat:
		f.Flags = FlagReply
		return &f, nil
	case TypeAck:
		if f.Stream != Stdin || f.Offset < m.acked {
			return nil, fmt.Errorf("ACK of %s %d", f.Stream, f.Offset)
		}
		m.acked = f.Offset
	case TypeData:
		if f.Stream == Stdin || f.Offset != uint64(m.out[f.Stream-1].Len()) {
			return nil, fmt.Errorf("%s at %d", f.Stream, f.Offset)
		}
		m.out[f.Stream-1].Write(f.Payload)
		m.order.Write(f.Payload)
		if m.stuck[f.Stream-1] {
			m.owed[f.Stream-1] = f.Offset + uint64(len(f.Payload))
			return nil, nil
		}
		return &Frame{Type: TypeAck, Stream: f.Stream, Task: m.task, Offset: f.Offset + uint64(len(f.Payload))}, nil
	case TypeEOF:
		if f.Offset != uint64(m.out[f.Stream-1].Len()) {
			return nil, fmt.Errorf("EOF of %s at %d", f.Stream, f.Offset)
		}
		m.eof[f.Stream-1] = true
	case TypeExit:
		e, err := parseExit(f.Payload)
		m.exit = &e
		return nil, err
	default:
		return nil, fmt.Errorf("%s", f.Type)
	}
	return nil, nil
}

// unstick lets writes to a file go on.
func (m *relayModel) unstick(s Stream) error {
	m.mu.Lock()
	m.stuck[s-1] = false
	offset := m.owed[s-1]
	m.mu.Unlock()
	return m.w.Write(Frame{Type: TypeAck, Stream: s, Task: m.task, Offset: offset})
}

func (m *relayModel) freeze(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen = on
	m.cond.Broadcast()
}

// send sends input within the window, once the task has started.
func (m *relayModel) send(data []byte) error {
	m.mu.Lock()
	for !m.started && !m.over {
		m.cond.Wait()
	}
	m.mu.Unlock()
	for at := 0; at < len(data); {
		m.mu.Lock()
		for uint64(at) >= m.acked+InputWindow && !m.over {
			m.cond.Wait()
		}
		if m.over {
			m.mu.Unlock()
			return net.ErrClosed
		}
		n := min(len(data)-at, int(m.acked)+InputWindow-at, MaxPayload)
		m.mu.Unlock()
		if err := m.w.Write(Frame{Type: TypeData, Task: m.task, Offset: uint64(at), Payload: data[at : at+n]}); err != nil {
			return err
		}
		at += n
	}
	return m.w.Write(Frame{Type: TypeEOF, Task: m.task, Offset: uint64(len(data))})
}

// read runs f with mu.
func (m *relayModel) read(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}
