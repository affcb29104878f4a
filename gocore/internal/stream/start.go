// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// EncodeStart gives START's records for these tasks, in one piece. What all of
// them share is said once, for TaskAll.
func EncodeStart(tasks []Launch) ([]byte, error) {
	if err := checkStart(tasks); err != nil {
		return nil, err
	}
	var b []byte
	err := startRecords(tasks, func(tag byte, task uint32, value []byte) error {
		b = AppendRecord(b, Record{tag, task, value})
		return nil
	})
	return b, err
}

// writeStart gives START's payloads to emit, each of MaxPayload but the last;
// emit must not keep them. The whole is never in memory at once.
func writeStart(tasks []Launch, emit func(payload []byte, more bool) error) error {
	buf := make([]byte, 0, MaxPayload)
	add := func(b []byte) error {
		for len(b) > 0 {
			if len(buf) == MaxPayload {
				if err := emit(buf, true); err != nil {
					return err
				}
				buf = buf[:0]
			}
			n := min(len(b), MaxPayload-len(buf))
			buf, b = append(buf, b[:n]...), b[n:]
		}
		return nil
	}
	err := startRecords(tasks, func(tag byte, task uint32, value []byte) error {
		if err := add(appendRecordHeader(nil, tag, task, len(value))); err != nil {
			return err
		}
		return add(value)
	})
	if err != nil {
		return err
	}
	return emit(buf, false)
}

// checkStart refuses what podinit would refuse.
func checkStart(tasks []Launch) error {
	if len(tasks) < 1 || len(tasks) > MaxTasks {
		return fmt.Errorf("stream: start of %d tasks", len(tasks))
	}
	size := 0
	seen := make(map[uint32]bool, len(tasks))
	for i := range tasks {
		if l := &tasks[i]; seen[l.Task] {
			return fmt.Errorf("stream: start of task %d twice", l.Task)
		}
		seen[tasks[i].Task] = true
	}
	return startRecords(tasks, func(tag byte, task uint32, value []byte) error {
		if recordIsText(tag) && bytes.IndexByte(value, 0) >= 0 {
			return fmt.Errorf("stream: NUL in record %q of task %d", tag, task)
		}
		if size += RecordHeader + len(value); size > MaxRecords {
			return fmt.Errorf("stream: what the job starts with is over %d MiB (script and environment)", MaxRecords>>20)
		}
		return nil
	})
}

// startRecords gives the records of START one by one.
func startRecords(tasks []Launch, add func(tag byte, task uint32, value []byte) error) error {
	var err error
	put := func(tag byte, task uint32, value []byte) {
		if err == nil {
			err = add(tag, task, value)
		}
	}
	put(recordTasks, TaskAll, binary.BigEndian.AppendUint32(nil, uint32(len(tasks))))
	shared := commonEnv(tasks)
	for _, e := range tasks[0].Env {
		if shared[e] {
			put(recordEnv, TaskAll, []byte(e))
		}
	}
	for i := range tasks {
		for _, e := range tasks[i].Env {
			if !shared[e] {
				put(recordEnv, tasks[i].Task, []byte(e))
			}
		}
	}
	for _, field := range launchFields {
		if len(tasks) > 1 && !slices.ContainsFunc(tasks[1:], func(l Launch) bool { return !field.same(&l, &tasks[0]) }) {
			field.put(&tasks[0], TaskAll, put)
			continue
		}
		for i := range tasks {
			task := tasks[i].Task
			if len(tasks) == 1 {
				task = TaskAll
			}
			field.put(&tasks[i], task, put)
		}
	}
	return err
}

type putRecord = func(tag byte, task uint32, value []byte)

// launchFields are what tasks have in common or not, as a whole.
var launchFields = []struct {
	same func(a, b *Launch) bool
	put  func(l *Launch, task uint32, put putRecord)
}{
	{func(a, b *Launch) bool { return slices.Equal(a.Argv, b.Argv) }, func(l *Launch, task uint32, put putRecord) {
		for _, a := range l.Argv {
			put(recordArgv, task, []byte(a))
		}
	}},
	{func(a, b *Launch) bool { return a.Directory == b.Directory && a.Required == b.Required }, putDirectory},
	{func(a, b *Launch) bool { return a.Home == b.Home }, func(l *Launch, task uint32, put putRecord) {
		if l.Home != "" {
			put(recordHome, task, []byte(l.Home))
		}
	}},
	{func(a, b *Launch) bool { return equalPointer(a.Umask, b.Umask) }, func(l *Launch, task uint32, put putRecord) {
		if l.Umask != nil {
			put(recordUmask, task, binary.BigEndian.AppendUint32(nil, *l.Umask))
		}
	}},
	{func(a, b *Launch) bool { return slices.Equal(a.Limits, b.Limits) }, func(l *Launch, task uint32, put putRecord) {
		for _, n := range l.Limits {
			b := binary.BigEndian.AppendUint32(nil, n.Resource)
			put(recordLimit, task, binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, n.Soft), n.Hard))
		}
	}},
	{func(a, b *Launch) bool { return slices.Equal(a.Commands, b.Commands) }, func(l *Launch, task uint32, put putRecord) {
		for _, name := range l.Commands {
			put(recordCommand, task, []byte(name))
		}
	}},
	{func(a, b *Launch) bool { return equalPointer(a.TTY, b.TTY) }, func(l *Launch, task uint32, put putRecord) {
		if l.TTY != nil {
			put(recordTTY, task, l.TTY.append(nil))
		}
	}},
	{func(a, b *Launch) bool { return a.OneOutput == b.OneOutput }, func(l *Launch, task uint32, put putRecord) {
		if l.OneOutput {
			put(recordOneOutput, task, nil)
		}
	}},
	{func(a, b *Launch) bool { return sameCPUs(a.CPUs, b.CPUs) }, func(l *Launch, task uint32, put putRecord) {
		if l.CPUs != nil {
			put(recordCPUs, task, slices.Concat(l.CPUs.Task, l.CPUs.Step))
		}
	}},
	{func(a, b *Launch) bool {
		return bytes.Equal(a.Script, b.Script) && (a.Script == nil) == (b.Script == nil)
	},
		func(l *Launch, task uint32, put putRecord) {
			if l.Script != nil {
				put(recordScript, task, l.Script)
			}
		}},
}

func putDirectory(l *Launch, task uint32, put putRecord) {
	if l.Directory != "" {
		put(recordDirectory, task, []byte(l.Directory))
	}
	if l.Required {
		put(recordRequired, task, nil)
	}
}

func sameCPUs(a, b *CPUs) bool {
	return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.Task, b.Task) && bytes.Equal(a.Step, b.Step)
}

func equalPointer[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// commonEnv gives the variables that every task has with the same value. One
// that a task has twice is not among them, lest the order of the two change.
func commonEnv(tasks []Launch) map[string]bool {
	count := make(map[string]int)
	for i := range tasks {
		names := make(map[string]int, len(tasks[i].Env))
		for _, e := range tasks[i].Env {
			name, _, _ := strings.Cut(e, "=")
			names[name]++
		}
		for _, e := range tasks[i].Env {
			if name, _, _ := strings.Cut(e, "="); names[name] == 1 {
				count[e]++
			}
		}
	}
	shared := make(map[string]bool)
	for e, n := range count {
		if n == len(tasks) {
			shared[e] = true
		}
	}
	return shared
}
