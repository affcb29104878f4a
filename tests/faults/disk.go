// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// smallDisk is a file system that is soon full; some jobs' --output is on it.
type smallDisk struct{ dir string }

func mountSmallDisk(dir string) (*smallDisk, error) {
	if err := syscall.Mount("faults", dir, "tmpfs", 0, "size=4m,mode=1777"); err != nil {
		return nil, err
	}
	return &smallDisk{dir}, nil
}

// unmount keeps what the jobs wrote.
func (d *smallDisk) unmount() {
	kept, _ := os.ReadDir(d.dir)
	texts := map[string][]byte{}
	for _, entry := range kept {
		texts[entry.Name()], _ = os.ReadFile(filepath.Join(d.dir, entry.Name()))
	}
	syscall.Unmount(d.dir, syscall.MNT_DETACH)
	for name, text := range texts {
		os.WriteFile(filepath.Join(d.dir, name), text, 0o644)
	}
}

// fillDisk takes every byte that is left.
func fillDisk(w *world, s *strike, h *hit) (func() error, error) {
	name := filepath.Join(w.disk.dir, "filler")
	for _, id := range w.watch.running() {
		if o := w.order(id); o != nil && o.kind.small {
			h.reach.jobs = append(h.reach.jobs, id)
		}
	}
	if len(h.reach.jobs) == 0 {
		return nil, errNobody
	}
	h.target = w.disk.dir
	return func() error { return os.Remove(name) }, fill(name)
}

// fill writes a file until nothing more goes in; a part of a page is left in each file that is there.
func fill(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.Copy(file, zeros{}); errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

type zeros struct{}

func (zeros) Read(to []byte) (int, error) { clear(to); return len(to), nil }

var diskFaults = []*faultKind{
	{name: "disk-output", what: "the file system of some jobs' --output is full", low: 3 * time.Second, high: 10 * time.Second, alone: "disk", effect: deadly, inject: fillDisk},
	{name: "spool-full", what: "the file system of a slurmd's spool is full", low: 3 * time.Second, high: 15 * time.Second, alone: "slurmd", effect: plain, inject: fillSpool},
}
