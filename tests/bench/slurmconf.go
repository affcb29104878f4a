// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// slurmFile is a file of the cluster's etc/ that both slurmds read at their start, and that rows change for a while.
type slurmFile struct {
	b    *bench
	path string
	text []byte // as it was
	back func() error
}

// slurmFile gets a file as it is; close puts it back.
func (b *bench) slurmFile(name string) (*slurmFile, error) {
	f := &slurmFile{b: b, path: filepath.Join(b.lab.Dir, "etc", name)}
	var err error
	if f.text, err = os.ReadFile(f.path); err != nil {
		return nil, err
	}
	f.back, err = b.changes.make(name, func() error { return nil }, func() error { return f.write(f.text) })
	return f, err
}

// set changes it, and returns once both nodes take jobs again.
func (f *slurmFile) set(text []byte) error {
	return f.b.changes.more(func() error { return f.write(text) })
}

func (f *slurmFile) close() error { return f.back() }

// write it, and restart both slurmds.
func (f *slurmFile) write(text []byte) error {
	if err := os.WriteFile(f.path, text, 0o644); err != nil {
		return err
	}
	var errs []error
	for _, verb := range []string{"stop", "start"} {
		if _, err := testcluster.Run(time.Minute, filepath.Join(f.b.lab.Scripts, verb), "slurmd-n1", "slurmd-n2"); err != nil {
			errs = append(errs, err)
		}
	}
	if !testcluster.Until(30*time.Second, func() bool {
		out, err := testcluster.Run(10*time.Second, "sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N")
		return err == nil && len(strings.Fields(out)) == 2
	}) {
		errs = append(errs, fmt.Errorf("the nodes are not idle 30 s after slurmd's restart"))
	}
	return errors.Join(errs...)
}

// siteFile changes k8s.yaml, which every job reads at its start, for as long as the row wants it: pairs of a line's begin and
// what shall stand there instead of the line.
func (b *bench) siteFile(pairs ...string) (back func() error, err error) {
	do, undo := world.Edit(filepath.Join(b.lab.Dir, "etc/k8s.yaml"), func(was string) (string, error) { return linesReplaced(was, pairs...) }, world.Nothing)
	return b.changes.make("k8s.yaml", do, undo)
}

func linesReplaced(text string, pairs ...string) (string, error) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(pairs); i += 2 {
		found := false
		for j, line := range lines {
			if strings.HasPrefix(line, pairs[i]) {
				lines[j], found = pairs[i+1], true
			}
		}
		if !found {
			return "", fmt.Errorf("k8s.yaml has no line that begins with %q", pairs[i])
		}
	}
	return strings.Join(lines, "\n"), nil
}
