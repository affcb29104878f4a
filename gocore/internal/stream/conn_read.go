// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"log/slog"
	"time"
)

// maxPodinitHello is the most that podinit has to say of itself and its tasks.
const maxPodinitHello = 256 * 1024

// podinit's states.
const (
	stateWaiting = iota
	stateStarted
	stateEnded
)

// readLoop takes what podinit says. It waits for nothing but the pump.
func (c *conn) readLoop() error {
	rd := NewReader(c.rwc, c.s.ID)
	defer rd.Release()
	for met := false; ; {
		f, err := rd.Next()
		if err != nil {
			return err
		}
		c.heard.Store(int64(time.Since(c.began)))
		switch {
		case met:
			err = c.take(f)
		case f.Type != TypeHello:
			err = breach("the first frame is %s", f.Type)
		default:
			if met, err = c.hello.add(f); met && err == nil {
				err = c.meet()
			}
		}
		if err != nil {
			return err
		}
	}
}

// meet takes podinit's HELLO: where it stands, and so what is to be sent.
func (c *conn) meet() error {
	state, version := uint32(0), ""
	hasState := false
	inputs := make(map[uint32]uint64)
	err := DecodeRecords(c.hello.buf, func(r Record) error {
		switch r.Tag {
		case recordState:
			state, hasState = binary.BigEndian.Uint32(r.Value), true
		case recordVersion:
			version = string(r.Value[:min(len(r.Value), 64)])
		case recordInput:
			t := c.s.tasks[r.Task]
			if t == nil {
				return breach("input of unknown task %d", r.Task)
			}
			inputs[r.Task] = binary.BigEndian.Uint64(r.Value)
			return t.relay.inputHad(inputs[r.Task])
		}
		return nil
	})
	c.hello.buf = nil
	if err != nil {
		return err
	}
	if !hasState || state > stateEnded {
		return breach("HELLO without a state, or with an unknown one: %d", state)
	}
	s := c.s
	for _, t := range s.order { // what is not told of is 0
		if _, told := inputs[t.relay.task]; !told && state != stateEnded {
			if err := t.relay.inputHad(0); err != nil {
				return err
			}
		}
	}
	s.mu.Lock()
	if state == stateWaiting && s.started {
		s.mu.Unlock()
		return breach("podinit waits for a START that it has answered")
	}
	switch {
	case state == stateEnded && !s.startSent && !s.started:
		s.neverStart = true
	case state != stateWaiting:
		s.setStarted()
	}
	if !s.connected {
		s.log(slog.LevelDebug, "connected to podinit %q", version)
	} else {
		s.log(slog.LevelInfo, "connected to podinit again")
	}
	s.connected, s.version = true, version
	s.reset(inputs)
	s.broadcast()
	s.mu.Unlock()
	close(c.met)
	s.touchAll()
	return nil
}

// setStarted notes that the tasks are forked; with Session.mu.
func (s *Session) setStarted() {
	s.started, s.launches = true, nil
	s.outputAllowed.Store(true)
	if t := s.tasks[TaskCommands]; t != nil {
		t.forward = true
	}
	s.broadcast()
	s.wake.ring()
}

// take takes one frame after the HELLO.
func (c *conn) take(f Frame) error {
	s := c.s
	switch f.Type {
	case TypeHeartbeat:
		if f.Flags&FlagReply != 0 {
			s.came(f.Offset)
		}
		return nil
	case TypeStart:
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.startSent || len(f.Payload) > 0 {
			return breach("START that nobody asked for")
		}
		s.setStarted()
		return nil
	}
	t := s.tasks[f.Task]
	if t == nil {
		return breach("%s of unknown task %d", f.Type, f.Task)
	}
	if !s.outputAllowed.Load() {
		return breach("%s before START", f.Type)
	}
	output := f.Stream == Stdout || f.Stream == Stderr
	switch {
	case f.Task == TaskCommands && (f.Stream == Stderr || f.Type != TypeData && f.Type != TypeAck):
		return breach("%s of %s of Slurm's commands", f.Type, f.Stream)
	case f.Type == TypeData && output:
		if f.Task != TaskCommands {
			s.firstByte.Do(func() { s.reached(StageFirstByte) })
		}
		return t.relay.deliver(f.Stream, f.Offset, f.Payload)
	case f.Type == TypeEOF && output:
		return t.relay.deliverEOF(f.Stream, f.Offset)
	case f.Type == TypeAck && f.Stream == Stdin:
		return t.relay.inputDelivered(f.Offset)
	case f.Type == TypeExit:
		return s.takeExit(t, f.Payload)
	}
	return breach("%s of %s from podinit", f.Type, f.Stream)
}

// takeExit takes the end of a task: once per connection, and always the same.
func (s *Session) takeExit(t *task, payload []byte) error {
	e, err := parseExit(payload)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case t.exitSeen:
		return breach("EXIT of task %d twice", t.relay.task)
	case t.exit != nil && *t.exit != e:
		return breach("another EXIT of task %d", t.relay.task)
	case !t.relay.ended():
		return breach("EXIT of task %d before the end of its output", t.relay.task)
	}
	t.exitSeen, t.exit = true, &e
	t.ending.Store(true)
	t.relay.ignoreInput()
	s.broadcast()
	s.wake.ring()
	return nil
}
