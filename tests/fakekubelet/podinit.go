// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// LengthVariable in a task's environment is how long it sleeps, as "90s"; without it, until it gets a signal.
const LengthVariable = "FAKE_LENGTH"

// greeting is all that a task writes.
const greeting = "started\n"

// podinit's states.
const (
	waiting = 0
	started = 1
	ended   = 2
)

// podinit stands for process 1 of one container: it starts tasks that are not there. Of the real one's rules it has
// those of the streams; it has no fence and ends no orphan.
type podinit struct {
	session uint64

	mu       sync.Mutex
	state    uint32
	start    []byte
	tasks    []*task
	running  int
	pump     io.ReadWriteCloser // the newest
	detached bool
}

type task struct {
	input  uint64 // bytes had
	acked  uint64 // of the greeting
	ended  bool
	status uint32
	timer  *time.Timer // nil: sleeps until a signal
}

// errOlder is the end of a pump behind which another one came.
var errOlder = errors.New("another pump has come")

// serve is one pump: it returns when its connection ends, or with nil when podinit is over.
func (p *podinit) serve(pump io.ReadWriteCloser) error {
	f, err := readFrame(pump, p.session)
	if err == nil && f.kind != kindHello {
		err = fmt.Errorf("the first frame is of kind %d, not HELLO", f.kind)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	if p.pump != nil {
		_ = p.pump.Close()
	}
	p.pump = pump
	err = p.hello()
	p.mu.Unlock()
	for err == nil {
		if f, err = readFrame(pump, p.session); err != nil {
			break
		}
		p.mu.Lock()
		if err = errOlder; p.pump == pump {
			err = p.take(f)
		}
		over := p.detached
		p.mu.Unlock()
		if over {
			return nil
		}
	}
	return err
}

// hello says where podinit stands, and again what the last connection may have lost; with mu.
func (p *podinit) hello() error {
	b := record{'X', taskAll, binary.BigEndian.AppendUint32(nil, p.state)}.append(nil)
	b = record{'V', taskAll, []byte("fake")}.append(b)
	for i, t := range p.tasks {
		b = record{'I', uint32(i), binary.BigEndian.AppendUint64(nil, t.input)}.append(b)
	}
	if err := p.send(frame{kind: kindHello, task: taskAll, payload: b}); err != nil {
		return err
	}
	for i := range p.tasks {
		if err := errors.Join(p.greet(i), p.end(i)); err != nil {
			return err
		}
	}
	return nil
}

// send writes to the newest pump; with mu. A pump that is broken will come again.
func (p *podinit) send(f frame) error {
	if p.pump == nil {
		return nil
	}
	f.session = p.session
	_, err := p.pump.Write(f.bytes())
	return err
}

func (p *podinit) greet(i int) error {
	from := p.tasks[i].acked
	return p.send(frame{kind: kindData, stream: stdout, task: uint32(i), offset: from, payload: []byte(greeting[from:])})
}

// end tells of a task that has ended.
func (p *podinit) end(i int) error {
	t := p.tasks[i]
	if !t.ended {
		return nil
	}
	return errors.Join(
		p.send(frame{kind: kindEOF, stream: stdout, task: uint32(i), offset: uint64(len(greeting))}),
		p.send(frame{kind: kindEOF, stream: stderr, task: uint32(i)}),
		p.send(frame{kind: kindExit, task: uint32(i), payload: exitPayload(t.status)}))
}

// take takes one frame of the core's; with mu.
func (p *podinit) take(f frame) error {
	known := uint64(f.task) < uint64(len(p.tasks))
	switch {
	case f.kind == kindHeartbeat && f.flags&flagReply == 0:
		f.flags |= flagReply
		return p.send(f)
	case f.kind == kindStart:
		return p.takeStart(f)
	case f.kind == kindAck && f.stream == stdout && known:
		p.tasks[f.task].acked = min(f.offset, uint64(len(greeting)))
	case f.kind == kindData && f.stream == stdin && known:
		t := p.tasks[f.task]
		t.input = max(t.input, f.offset+uint64(len(f.payload)))
		return p.send(frame{kind: kindAck, stream: stdin, task: f.task, offset: t.input})
	case f.kind == kindSignal && len(f.payload) == 4:
		p.signal(f.task, syscall.Signal(binary.BigEndian.Uint32(f.payload)))
	case f.kind == kindDetach:
		p.detached = p.state == ended
	}
	return nil
}

// takeStart takes a piece of START, and with the last one starts the tasks.
func (p *podinit) takeStart(f frame) error {
	if p.state != waiting {
		return nil
	}
	if p.start = append(p.start, f.payload...); f.flags&flagMore != 0 {
		return nil
	}
	records, err := readRecords(p.start)
	p.start = nil
	if err != nil {
		return err
	}
	count, length := uint32(1), time.Duration(0)
	for _, r := range records {
		name, value, _ := strings.Cut(string(r.value), "=")
		switch {
		case r.tag == 'N' && len(r.value) == 4:
			count = min(binary.BigEndian.Uint32(r.value), 4096)
		case r.tag == 'E' && name == LengthVariable:
			if length, err = time.ParseDuration(value); err != nil {
				return err
			}
		}
	}
	p.state, p.running = started, int(count)
	err = p.send(frame{kind: kindStart, task: taskAll})
	for i := range int(count) {
		t := &task{}
		p.tasks = append(p.tasks, t)
		if length > 0 {
			t.timer = time.AfterFunc(length, func() { p.finish(i, 0) })
		}
		err = errors.Join(err, p.greet(i))
	}
	return err
}

// finish ends a task whose time is over.
func (p *podinit) finish(i int, status uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished(i, status)
}

// finished notes the end of a task and tells it; with mu.
func (p *podinit) finished(i int, status uint32) {
	t := p.tasks[i]
	if t.ended {
		return
	}
	t.ended, t.status = true, status
	if t.timer != nil {
		t.timer.Stop()
	}
	if p.running--; p.running == 0 {
		p.state = ended
	}
	_ = p.end(i) // else the next pump hears it
}

// signal ends the tasks it is for, unless processes outlive it as a rule.
func (p *podinit) signal(task uint32, number syscall.Signal) {
	switch number {
	case syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGWINCH, syscall.SIGURG:
		return
	}
	for i := range p.tasks {
		if task == taskAll || task == uint32(i) {
			p.finished(i, uint32(number))
		}
	}
}

// reached says whether a pump has come.
func (p *podinit) reached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pump != nil
}

// code is the container's exit code.
func (p *podinit) code() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tasks) == 0 {
		return 0
	}
	status := syscall.WaitStatus(p.tasks[0].status)
	if status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(status.ExitStatus())
}

// kill ends podinit as its container's end does.
func (p *podinit) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tasks {
		if t.timer != nil {
			t.timer.Stop()
		}
	}
	if p.pump != nil {
		_ = p.pump.Close()
	}
}

// sessionOf is the number in podinit's command line.
func sessionOf(command []string) (uint64, error) {
	for _, word := range command {
		if digits, is := strings.CutPrefix(word, "--session="); is {
			return strconv.ParseUint(digits, 16, 64)
		}
	}
	return 0, errors.New("no --session in " + strings.Join(command, " "))
}
