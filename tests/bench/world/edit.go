// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// Edit changes a file of the cluster's, and lets what reads it know; undo puts back what was there and does so again.
func Edit(path string, change func(was string) (string, error), know func() error) (do, undo func() error) {
	was, err := os.ReadFile(path)
	write := func(text string) error {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		return know()
	}
	do = func() error {
		if err != nil {
			return err
		}
		text, err := change(string(was))
		if err != nil {
			return err
		}
		return write(text)
	}
	undo = func() error {
		if err != nil { // nothing was changed
			return nil
		}
		return write(string(was))
	}
	return do, undo
}

// EditSite changes k8s.yaml, with what the policies let through for it and the nodes that are published.
func (w *World) EditSite(change func(was string) (string, error)) (do, undo func() error) {
	path := filepath.Join(w.Lab.Dir, "etc/k8s.yaml")
	return Edit(path, change, func() error {
		allowed, err := testcluster.Run(20*time.Second, "slurm-k8s", "check-config", "--policy", path)
		if err != nil {
			return err
		}
		_, err = testcluster.Run(20*time.Second, "kubectl", "annotate", "--overwrite", "namespace", testcluster.Namespace, "slurm-k8s/allow="+strings.TrimSpace(allowed))
		return errors.Join(err, w.Collect())
	})
}

// Changes are those of one row, which are taken back with it, the last one first.
type Changes struct {
	world *World
	backs []func() error
}

// Changes begins with none.
func (w *World) Changes() *Changes { return &Changes{world: w} }

// Make makes one, unless err, of one before, says that there is no use in it.
func (c *Changes) Make(err error, what string, do, undo func() error) error {
	if err != nil {
		return err
	}
	back, err := c.world.Change(what, do, undo)
	c.backs = append(c.backs, back)
	return err
}

// Back takes all of them back.
func (c *Changes) Back() error {
	var errs []error
	for i := len(c.backs) - 1; i >= 0; i-- {
		errs = append(errs, c.backs[i]())
	}
	c.backs = nil
	return errors.Join(errs...)
}

// Nothing is done, where something is only to be undone.
func Nothing() error { return nil }
