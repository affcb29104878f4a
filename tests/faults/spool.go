// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// What plain Slurm says of such a node, and of a job whose script it could not write.
const (
	spoolIsFull  = "SlurmdSpoolDir is full"
	launchFailed = "launch_failed_requeued_held"
)

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
		// A job that has failed may be noticed later.
		for quiet := time.Now(); time.Since(quiet) < 5*time.Second; time.Sleep(500 * time.Millisecond) {
			mended, err := w.mendSpool()
			if err != nil {
				return err
			}
			if mended {
				quiet = time.Now()
			}
		}
		return nil
	}
	return undo, fill(filler)
}

// mendSpool does what is to be done now; false: nothing. Plain Slurm leaves the empty script of the job that it could not
// launch, and would not launch the job there again while it is in the way.
func (w *world) mendSpool() (bool, error) {
	out, err := testcluster.Run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-n", spoolNode, "-o", "%T %E")
	if err != nil {
		return false, err
	}
	mended := false
	if strings.Contains(out, "drain") && strings.Contains(out, spoolIsFull) {
		mended = true
		if _, err := testcluster.Run(20*time.Second, "scontrol", "update", "NodeName="+spoolNode, "State=RESUME"); err != nil {
			return true, err
		}
	}
	records, err := testcluster.Records("")
	if err != nil {
		return mended, err
	}
	for _, r := range records {
		if r["Reason"] == launchFailed {
			mended = true
			number, _ := strconv.Atoi(r["JobId"])
			if err := os.RemoveAll(filepath.Join(w.spool.dir, fmt.Sprintf("job%05d", number))); err != nil {
				return true, err
			}
			if _, err := testcluster.Run(20*time.Second, "scontrol", "release", r["JobId"]); err != nil {
				return true, err
			}
		}
	}
	return mended, nil
}

// ofSpool: the trouble is what plain Slurm makes of a full spool, while one was full.
func (w *world) ofSpool(trouble string, at time.Time) bool {
	node := strings.HasPrefix(trouble, "node "+spoolNode+" is drain") && strings.Contains(trouble, spoolIsFull)
	job := strings.HasPrefix(trouble, "job ") && strings.Contains(trouble, launchFailed)
	return (node || job) && slices.ContainsFunc(w.hits, func(h *hit) bool {
		return h.kind.name == "spool-full" && !h.skipped && at.After(h.from) && at.Before(h.to)
	})
}
