// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
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

// fillSpool: no script can be written there. Plain Slurm runs the job again and drains the node, whose administrator makes
// room and lets it go on.
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
		return resume(spoolNode)
	}
	return undo, fill(filler)
}

// drained tells whether the node takes no jobs, and of what Slurm has to say for it.
func drained(node string) (bool, error) {
	out, err := testcluster.Run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-n", node, "-o", "%T")
	return strings.Contains(out, "drain"), err
}

// resume ends what draining there is, and what a job that had failed before still brings about.
func resume(node string) error {
	for quiet := time.Now(); time.Since(quiet) < 5*time.Second; time.Sleep(500 * time.Millisecond) {
		yes, err := drained(node)
		if err != nil {
			return err
		}
		if yes {
			if _, err := testcluster.Run(20*time.Second, "scontrol", "update", "NodeName="+node, "State=RESUME"); err != nil {
				return err
			}
			quiet = time.Now()
		}
	}
	return nil
}

// drainedBySpool: plain Slurm drains a node on which it cannot write a script.
func (w *world) drainedBySpool(trouble string, at time.Time) bool {
	if !strings.HasPrefix(trouble, "node "+spoolNode+" is drain") || !strings.Contains(trouble, "batch job complete failure") {
		return false
	}
	for _, h := range w.hits {
		if h.kind.name == "spool-full" && !h.skipped && at.After(h.from) && at.Before(h.to) {
			return true
		}
	}
	return false
}
