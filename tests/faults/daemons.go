// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// daemon kills one of these with kill -9, or ends it in good order every other time, and starts it again later.
func daemon(names ...string) func(*world, *strike, *hit) (func() error, error) {
	return func(w *world, s *strike, h *hit) (func() error, error) {
		name := names[s.pick%len(names)]
		words := []string{"stop", name}
		h.target = name + " is ended"
		if s.pick/len(names)%2 == 0 {
			words = append(words, "--kill")
			h.target = name + " is killed"
		}
		h.reach.all = true
		undo := func() error {
			if err := w.script("start", name); err != nil {
				return err
			}
			if name == "kube-apiserver" || name == "etcd" {
				w.revive()
			}
			return nil
		}
		return undo, w.script(words...)
	}
}

// revive starts what ended by itself while the API server was away, as its host's init would.
func (w *world) revive() {
	for what, name := range map[string]string{"scheduler": "kube-scheduler", "controllers": "kube-controller-manager"} {
		free := w.alone(what)
		if err := w.script("start", name); err != nil {
			w.log("%s: %v", name, err)
		}
		free()
	}
}

// killSlurmctld: plain Slurm loses what it has not saved, jobs too, so nobody submits and it has saved since.
func killSlurmctld(w *world, s *strike, h *hit) (func() error, error) {
	w.submitting.Lock()
	defer w.submitting.Unlock()
	since := time.Now()
	saved := func() bool {
		state, err := os.Stat(filepath.Join(w.lab.Dir, "slurm/state/job_state"))
		return err == nil && state.ModTime().After(since)
	}
	h.reach.all = true
	undo := func() error {
		if err := w.script("start", "slurmctld"); err != nil {
			return err
		}
		return w.administer(10 * time.Second) // what it starts a second time is noticed within seconds
	}
	h.target = "slurmctld is ended"
	words := []string{"stop", "slurmctld"}
	if s.pick%2 == 0 && testcluster.Until(12*time.Second, saved) {
		words = append(words, "--kill")
		h.target = "slurmctld is killed"
	}
	h.from = time.Now()
	return undo, w.script(words...)
}

var daemonFaults = []*faultKind{
	{name: "slurmd", what: "slurmd of a node", low: time.Second, high: 8 * time.Second, alone: "slurmd", effect: plain, inject: daemon("slurmd-n1", "slurmd-n2")},
	{name: "slurmctld", what: "slurmctld", low: time.Second, high: 10 * time.Second, alone: "slurmctld", effect: plain, inject: killSlurmctld},
	{name: "slurmdbd", what: "slurmdbd", low: time.Second, high: 15 * time.Second, alone: "slurmdbd", effect: none, inject: daemon("slurmdbd")},
	{name: "munged", what: "munged", low: time.Second, high: 6 * time.Second, alone: "munged", effect: plain, inject: daemon("munged")},
	{name: "kube-apiserver", what: "kube-apiserver", low: time.Second, high: 15 * time.Second, alone: "api", effect: none, inject: daemon("kube-apiserver")},
	{name: "etcd", what: "etcd", low: time.Second, high: 10 * time.Second, alone: "api", effect: none, inject: daemon("etcd")},
	{name: "kube-scheduler", what: "kube-scheduler", low: time.Second, high: 15 * time.Second, alone: "scheduler", effect: none, inject: daemon("kube-scheduler")},
	{name: "kube-controller-manager", what: "kube-controller-manager", low: time.Second, high: 15 * time.Second, alone: "controllers", effect: none, inject: daemon("kube-controller-manager")},
	{name: "kubelet", what: "kubelet of a node", low: time.Second, high: 12 * time.Second, alone: "kubelet", effect: none, inject: daemon("kubelet-real1", "kubelet-real2")},
	{name: "containerd", what: "containerd of a node", low: time.Second, high: 8 * time.Second, alone: "kubelet", effect: none, inject: daemon("containerd-real1", "containerd-real2")},
}
