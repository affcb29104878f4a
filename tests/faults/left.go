// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// awaitNothingLeft gives what is still there when the product and its collector have had their time.
func (w *world) awaitNothingLeft() []string {
	var left []string
	collected := time.Time{}
	testcluster.Until(4*time.Minute, func() bool {
		if left = w.left(); len(left) == 0 {
			return true
		}
		if time.Since(collected) > 10*time.Second {
			if err := w.collect("15s"); err != nil {
				left = append(left, err.Error())
			}
			collected = time.Now()
		}
		return false
	})
	return left
}

func (w *world) left() []string {
	var left []string
	for _, job := range w.watch.open() {
		left = append(left, "job "+job)
	}
	pods, err := w.pods()
	if err != nil {
		left = append(left, err.Error())
	}
	for _, p := range pods {
		left = append(left, fmt.Sprintf("Pod %s on %q", p.name, p.node))
	}
	var claims struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := w.lab.Get("/api/v1/namespaces/"+testcluster.Namespace+"/persistentvolumeclaims", &claims); err != nil {
		left = append(left, err.Error())
	}
	for _, claim := range claims.Items {
		left = append(left, "claim "+claim.Metadata.Name)
	}
	for _, p := range w.processes() {
		if p.what != "other" {
			left = append(left, fmt.Sprintf("%s of job %d.%s, pid %d", p.what, p.job, p.step, p.pid))
		}
	}
	markers, _ := os.ReadDir(filepath.Join(w.lab.Dir, "run/slurm-k8s"))
	for _, m := range markers {
		if m.Name() == ".turn" { // the node's, not a job's
			continue
		}
		left = append(left, "marker "+m.Name())
	}
	for m := range mounts(w.lab.Dir) {
		if !w.before[m] {
			left = append(left, "mount "+m)
		}
	}
	slices.Sort(left)
	return left
}

// mounts of the machine's own namespace below a folder.
func mounts(under string) map[string]bool {
	text, _ := os.ReadFile("/proc/self/mounts")
	all := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], under+"/") {
			all[f[1]] = true
		}
	}
	return all
}

// badNodes are those that take no jobs.
func (w *world) badNodes() []string {
	var bad []string
	if !testcluster.Until(time.Minute, func() bool {
		bad = nil
		out, err := testcluster.Run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "node %N is %T: %E")
		if err != nil {
			bad = append(bad, err.Error())
		}
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			if !strings.Contains(line, " is idle: ") {
				bad = append(bad, line)
			}
		}
		return len(bad) == 0
	}) {
		return bad
	}
	return nil
}
