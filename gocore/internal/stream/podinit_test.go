// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// podinitModel is podinit as frames.h has it, as strict as the real one: what
// breaks a rule is noted in faults.
type podinitModel struct {
	id     uint64
	window uint64
	pieces []uint64 // the most that a frame carries, on one connection after the other

	mu        sync.Mutex
	cond      *sync.Cond
	state     uint32
	launches  []byte
	tasks     []*taskModel
	commands  *taskModel // the pseudo task; nil: none
	signals   []taskSignal
	sizes     []Winsize
	detached  bool
	beats     int
	signalled uint64 // the last order taken
	deaf      bool   // what comes is lost, as in a pump that dies
	faults    []error
	current   io.ReadWriteCloser
	starts    int
	met       int
}

type taskModel struct {
	out     [2]outModel
	exit    Exit
	told    bool
	input   []byte
	written uint64
	inTold  uint64
	inEOF   bool
	slow    bool // the task does not read its input
}

type outModel struct {
	data       []byte
	ready      int // how much the task has written so far
	acked      uint64
	sent       uint64
	most       uint64
	closed     bool
	closedTold bool
}

func newPodinitModel(id uint64, tasks int) *podinitModel {
	p := &podinitModel{id: id, window: OutputWindow}
	p.cond = sync.NewCond(&p.mu)
	for range tasks {
		p.tasks = append(p.tasks, &taskModel{})
	}
	return p
}

// writes lets the task write data at once, close everything and end.
func (t *taskModel) writes(stdout, stderr []byte, e Exit) {
	t.out[0] = outModel{data: stdout, ready: len(stdout), closed: true}
	t.out[1] = outModel{data: stderr, ready: len(stderr), closed: true}
	t.exit = e
}

func (p *podinitModel) fault(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	p.faults = append(p.faults, err)
	return err
}

// serve is one pump's connection, until it breaks.
func (p *podinitModel) serve(rwc io.ReadWriteCloser) {
	defer rwc.Close()
	rd := NewReader(rwc, p.id)
	f, err := rd.Next()
	if err != nil {
		return
	}
	p.mu.Lock()
	if f.Type != TypeHello || len(f.Payload) > 0 {
		_ = p.fault("first frame %+v", f)
	}
	if p.current != nil {
		p.current.Close() // the newest pump wins
	}
	p.current = rwc
	p.met++
	for _, t := range p.all() {
		for i := range t.out {
			t.out[i].sent, t.out[i].closedTold = t.out[i].acked, false
		}
		t.told, t.inTold = false, 0
	}
	hello := p.hello()
	p.mu.Unlock()
	replies := make(chan Frame, 64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer rwc.Close()
		p.write(rwc, hello, replies)
	}()
	for {
		f, err := rd.Next()
		if err == nil {
			p.mu.Lock()
			if p.current == rwc {
				err = p.take(f, replies)
			}
			p.cond.Broadcast()
			p.mu.Unlock()
		}
		if err != nil {
			break
		}
	}
	rwc.Close()
	p.mu.Lock()
	if p.current == rwc {
		p.current = nil
	}
	p.cond.Broadcast()
	p.mu.Unlock()
	<-done
}

// all are the tasks by their numbers.
func (p *podinitModel) all() map[uint32]*taskModel {
	all := make(map[uint32]*taskModel, len(p.tasks)+1)
	for i, t := range p.tasks {
		all[uint32(i)] = t
	}
	if p.commands != nil {
		all[TaskCommands] = p.commands
	}
	return all
}

func (p *podinitModel) hello() []byte {
	b := AppendRecord(nil, Record{recordState, TaskAll, binary.BigEndian.AppendUint32(nil, p.state)})
	b = AppendRecord(b, Record{recordVersion, TaskAll, []byte("model")})
	if p.state != stateWaiting {
		for i, t := range p.all() {
			b = AppendRecord(b, Record{recordInput, i, binary.BigEndian.AppendUint64(nil, uint64(len(t.input)))})
		}
	}
	return b
}

func (p *podinitModel) write(rwc io.ReadWriteCloser, hello []byte, replies chan Frame) {
	w := NewWriter(rwc, p.id)
	if w.Write(Frame{Type: TypeHello, Task: TaskAll, Payload: hello}) != nil {
		return
	}
	for {
		p.mu.Lock()
		var f Frame
		var ok bool
		for p.current == rwc {
			if f, ok = p.next(replies); ok {
				break
			}
			p.cond.Wait()
		}
		mine := p.current == rwc
		p.mu.Unlock()
		if !mine || w.Write(f) != nil {
			return
		}
	}
}

// next is the next frame to send; with mu.
func (p *podinitModel) next(replies chan Frame) (Frame, bool) {
	select {
	case f := <-replies:
		return f, true
	default:
	}
	if p.state == stateWaiting {
		return Frame{}, false
	}
	for i, t := range p.all() {
		if f, ok := t.next(i, p.window, p.piece()); ok {
			return f, true
		}
	}
	return Frame{}, false
}

func (p *podinitModel) piece() uint64 {
	if len(p.pieces) == 0 {
		return MaxPayload
	}
	return p.pieces[p.met%len(p.pieces)]
}

func (t *taskModel) next(task uint32, window, piece uint64) (Frame, bool) {
	if t.inTold != t.written {
		t.inTold = t.written
		return Frame{Type: TypeAck, Task: task, Offset: t.written}, true
	}
	closed := true
	for i := range t.out {
		o := &t.out[i]
		s := Stream(i + 1)
		if n := min(uint64(o.ready)-o.sent, piece, o.acked+window-o.sent); n > 0 {
			at := o.sent
			o.sent += n
			o.most = max(o.most, o.sent)
			return Frame{Type: TypeData, Stream: s, Task: task, Offset: at, Payload: o.data[at : at+n]}, true
		}
		if o.closed && o.sent == uint64(o.ready) && !o.closedTold {
			o.closedTold = true
			return Frame{Type: TypeEOF, Stream: s, Task: task, Offset: o.sent}, true
		}
		closed = closed && o.closedTold
	}
	if closed && !t.told {
		t.told = true
		return Frame{Type: TypeExit, Task: task, Payload: t.exit.append(nil)}, true
	}
	return Frame{}, false
}

// take takes a frame of the core's; with mu.
func (p *podinitModel) take(f Frame, replies chan Frame) error {
	if p.deaf {
		return nil
	}
	switch f.Type {
	case TypeHeartbeat:
		p.beats++
		f.Flags |= FlagReply
		replies <- f
		return nil
	case TypeStart:
		p.launches = append(p.launches, f.Payload...)
		if f.Flags&FlagMore != 0 {
			return nil
		}
		if p.starts++; p.starts > 1 {
			return p.fault("START again")
		}
		p.state = stateStarted
		replies <- Frame{Type: TypeStart, Task: TaskAll}
		return nil
	case TypeDetach:
		p.detached = true
		for i, t := range p.tasks {
			for s := range t.out {
				if t.out[s].closed && t.out[s].acked != uint64(t.out[s].ready) {
					return p.fault("DETACH with %s of task %d acknowledged to %d of %d", Stream(s+1), i, t.out[s].acked, t.out[s].ready)
				}
			}
		}
		return io.EOF
	}
	if p.state == stateWaiting {
		return p.fault("%s before START", f.Type)
	}
	if f.Type == TypeSignal {
		s, err := parseSignal(f)
		if f.Offset == 0 {
			return p.fault("%s without a number", s)
		}
		if f.Offset <= p.signalled {
			return err
		}
		p.signalled = f.Offset
		p.signals = append(p.signals, taskSignal{f.Task, s})
		return err
	}
	t := p.all()[f.Task]
	if t == nil {
		return p.fault("%s of task %d", f.Type, f.Task)
	}
	switch {
	case f.Type == TypeAck && (f.Stream == Stdout || f.Stream == Stderr):
		o := &t.out[f.Stream-1]
		if f.Offset > o.sent || f.Offset < o.acked {
			return p.fault("ACK of %d, sent %d, acked %d", f.Offset, o.sent, o.acked)
		}
		o.acked = f.Offset
	case f.Type == TypeWinsize:
		w, err := parseWinsize(f.Payload)
		p.sizes = append(p.sizes, w)
		return err
	case f.Type == TypeData && f.Stream == Stdin:
		return p.takeInput(t, f)
	case f.Type == TypeEOF && f.Stream == Stdin:
		if f.Offset != uint64(len(t.input)) {
			return p.fault("input ends at %d, have %d", f.Offset, len(t.input))
		}
		t.inEOF = true
	default:
		return p.fault("%s of %s", f.Type, f.Stream)
	}
	return nil
}

func (p *podinitModel) takeInput(t *taskModel, f Frame) error {
	have := uint64(len(t.input))
	if f.Offset > have {
		return p.fault("input goes on at %d, have %d", f.Offset, have)
	}
	if known := have - f.Offset; known < uint64(len(f.Payload)) {
		t.input = append(t.input, f.Payload[known:]...)
	}
	if uint64(len(t.input))-t.written > InputWindow {
		return p.fault("input of %d bytes unacknowledged", uint64(len(t.input))-t.written)
	}
	if !t.slow {
		t.written = uint64(len(t.input))
	}
	return nil
}

// kill breaks the present connection.
func (p *podinitModel) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		p.current.Close()
	}
}

func (p *podinitModel) wasDetached() (yes bool) {
	p.read(func() { yes = p.detached })
	return yes
}

// read runs f with mu.
func (p *podinitModel) read(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.cond.Broadcast()
}
