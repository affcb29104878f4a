// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// spoolNode is the Slurm node whose slurmd has its spool on a small file system.
const spoolNode = "n2"

// smallSpool is that file system.
type smallSpool struct {
	w   *world
	dir string
}

// mountSpool moves the spool to a file system of 2 MiB, while its slurmd is away.
func mountSpool(w *world) (*smallSpool, error) {
	p := &smallSpool{w, filepath.Join(w.lab.Dir, "slurm/spool-"+spoolNode)}
	return p, p.changed(func() error {
		return syscall.Mount("faults-spool", p.dir, "tmpfs", 0, "size=2m,mode=755")
	})
}

func (p *smallSpool) unmount() error {
	return p.changed(func() error { return syscall.Unmount(p.dir, syscall.MNT_DETACH) })
}

// changed puts another file system in the place of the spool, with the same files.
func (p *smallSpool) changed(change func() error) error {
	kept, err := os.MkdirTemp("", "faults-spool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(kept)
	if err := p.w.script("stop", "slurmd-"+spoolNode); err != nil {
		return err
	}
	err = copyAll(p.dir, kept)
	if err == nil {
		if err = change(); err == nil {
			err = copyAll(kept, p.dir)
		}
	}
	if failed := p.w.script("start", "slurmd-"+spoolNode); failed != nil {
		return failed
	}
	return err
}

func copyAll(from, to string) error {
	out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

// fillSpool: no script can be written there. Plain Slurm drains the node and holds the job, or cancels one that may not be
// requeued. The administrator makes room, resumes the one and releases the other.
func fillSpool(w *world, s *strike, h *hit) (func() error, error) {
	if w.spool == nil {
		return nil, errNobody
	}
	h.reach.all = true
	h.target = w.spool.dir
	filler := filepath.Join(w.spool.dir, "filler")
	undo := func() error {
		if err := os.Remove(filler); err != nil && !os.IsNotExist(err) {
			return err
		}
		return w.administer(5 * time.Second)
	}
	return undo, fill(filler)
}
