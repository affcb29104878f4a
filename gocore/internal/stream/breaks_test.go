// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fragile is a pump that breaks after so many bytes in or out.
type fragile struct {
	io.ReadWriteCloser
	mu      sync.Mutex
	in, out int
}

var errBroken = errors.New("broken by the test")

func (f *fragile) left(n *int, want int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := min(*n, want)
	*n -= got
	return got
}

func (f *fragile) Read(p []byte) (int, error) {
	room := f.left(&f.in, len(p))
	if room == 0 {
		f.Close()
		return 0, errBroken
	}
	n, err := f.ReadWriteCloser.Read(p[:room])
	f.mu.Lock()
	f.in += room - n
	f.mu.Unlock()
	return n, err
}

func (f *fragile) Write(p []byte) (int, error) {
	room := f.left(&f.out, len(p))
	n, err := f.ReadWriteCloser.Write(p[:room])
	if err == nil && room < len(p) {
		f.Close()
		err = errBroken
	}
	return n, err
}

// However often the stream breaks, wherever, every byte arrives once and in order.
func TestBreaks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tasks := rapid.IntRange(1, 3).Draw(rt, "tasks")
		window := rapid.SampledFrom([]uint64{1000, 65536, OutputWindow}).Draw(rt, "window")
		breaks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			size := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 700_000))
			return [2]int{size.Draw(t, "in"), size.Draw(t, "out")}
		}), 0, 12).Draw(rt, "breaks")
		sizes := rapid.SliceOfN(rapid.IntRange(0, 400_000), 3*tasks, 3*tasks).Draw(rt, "sizes")
		rate := rapid.SampledFrom([]int64{0, 0, 1_000_000}).Draw(rt, "rate")
		pieces := rapid.SliceOfN(rapid.Uint64Range(500, MaxPayload), 1, 4).Draw(rt, "pieces")
		var err error
		synctest.Test(t, func(t *testing.T) { err = tryBreaks(t, window, pieces, breaks, sizes, rate) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

func tryBreaks(t *testing.T, window uint64, pieces []uint64, breaks [][2]int, sizes []int, rate int64) error {
	tasks := len(sizes) / 3
	w := newWorld(t, tasks)
	defer w.close()
	w.podinit.window, w.podinit.pieces, w.rate = window, pieces, rate
	w.wrap = func(rwc io.ReadWriteCloser, n int) io.ReadWriteCloser {
		if n <= len(breaks) {
			return &fragile{ReadWriteCloser: rwc, in: breaks[n-1][0], out: breaks[n-1][1]}
		}
		return rwc
	}
	for i, task := range w.podinit.tasks {
		task.writes(pattern(i, sizes[i]), pattern(100+i, sizes[tasks+i]), Exit{Status: 7 << 8, UserMicros: uint64(i)})
	}
	if err := w.start(); err != nil {
		return err
	}
	for i, m := range w.models {
		w.wait.Go(func() { _ = m.send(pattern(200+i, sizes[2*tasks+i])) })
		w.session.Signal(uint32(i), Signal{Number: 10})
	}
	exits, err := w.finish()
	if err != nil {
		return fmt.Errorf("finish: %w\n%s", err, w.logs())
	}
	if all := w.faults(); len(all) > 0 {
		return fmt.Errorf("faults: %v\n%s", all, w.logs())
	}
	for i, m := range w.models {
		if m.out[0].String() != string(pattern(i, sizes[i])) || m.out[1].String() != string(pattern(100+i, sizes[tasks+i])) {
			return fmt.Errorf("output of task %d: %d of %d, %d of %d", i, m.out[0].Len(), sizes[i], m.out[1].Len(), sizes[tasks+i])
		}
		if exits[i].UserMicros != uint64(i) || m.exit == nil || *m.exit != exits[i] {
			return fmt.Errorf("exit of task %d: %+v", i, exits[i])
		}
		if in := w.podinit.tasks[i].input; string(in) != string(pattern(200+i, sizes[2*tasks+i])[:len(in)]) {
			return fmt.Errorf("input of task %d", i)
		}
	}
	if len(w.stages) > 2 {
		return fmt.Errorf("a stage was told twice: %q", w.stages)
	}
	if w.dialled() > len(breaks)+1 {
		return fmt.Errorf("%d dials for %d breaks", w.dialled(), len(breaks))
	}
	return nil
}

// Input is complete, whatever breaks, when the task waits for it.
func TestInputBreaks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 900_000).Draw(rt, "size")
		breaks := rapid.SliceOfN(rapid.IntRange(1, 300_000), 0, 6).Draw(rt, "breaks")
		slow := rapid.Bool().Draw(rt, "slow")
		var err error
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1)
			defer w.close()
			w.wrap = func(rwc io.ReadWriteCloser, n int) io.ReadWriteCloser {
				if n <= len(breaks) {
					return &fragile{ReadWriteCloser: rwc, in: 1 << 30, out: breaks[n-1]}
				}
				return rwc
			}
			task := w.podinit.tasks[0]
			task.slow = slow
			if err = w.start(); err != nil {
				return
			}
			want := pattern(5, size)
			w.wait.Go(func() { _ = w.models[0].send(want) })
			w.podinit.read(func() {
				for !task.inEOF && err == nil {
					if task.slow && len(task.input) == min(size, int(task.written)+InputWindow) {
						task.written = uint64(len(task.input))
						w.podinit.cond.Broadcast()
					}
					w.podinit.cond.Wait()
				}
				if string(task.input) != string(want) {
					err = fmt.Errorf("input differs: %d of %d", len(task.input), size)
				}
				task.writes(nil, nil, Exit{})
			})
			if err == nil {
				_, err = w.finish()
			}
			if all := w.faults(); err == nil && len(all) > 0 {
				err = all[0]
			}
		})
		require.NoError(rt, err)
	})
}
