// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// world is one run: the cluster, the jobs, and what has been done to them.
type world struct {
	lab    *testcluster.Cluster
	dir    string // its files: out, small, scripts, ledger, log
	net    string // first part of the Pods' addresses
	began  time.Time
	keep   bool
	ledger *ledger
	proxy  *proxy
	watch  *watch
	disk   *smallDisk
	spool  *smallSpool // nil: its slurmd's own
	sizes  *sizes
	before map[string]bool // mounts
	logTo  *os.File

	submitting  sync.RWMutex // held for reading by who submits; slurmctld is killed while nobody does
	submittedAt time.Time
	waiting     sync.WaitGroup

	mu         sync.Mutex
	locks      map[string]*sync.Mutex // by what a fault needs for itself
	hits       []*hit
	ids        map[int]*order // of what was seen in Slurm
	placed     map[int]*order // by number
	taken      map[*order]bool
	said       map[*order]string // by srun itself
	broken     time.Time         // when the run was broken off
	lastBefore int               // job id
	found      []string          // before the audit
}

func newWorld(lab *testcluster.Cluster, p *plan) (*world, error) {
	w := &world{lab: lab, began: time.Now(), locks: map[string]*sync.Mutex{}, ids: map[int]*order{}, taken: map[*order]bool{}, said: map[*order]string{}}
	w.net = "10.213." + os.Getenv("SLURM_K8S_INSTANCE")
	var err error
	// A folder that alice and bob may write to, and that no image has.
	if w.dir, err = os.MkdirTemp("/tmp", "slurm-k8s-faults-"); err != nil {
		return nil, err
	}
	for name, mode := range map[string]os.FileMode{".": 0o755, "out": 0o777, "small": 0o777, "scripts": 0o755} {
		if err := os.MkdirAll(filepath.Join(w.dir, name), 0o755); err != nil {
			return nil, err
		}
		if err := os.Chmod(filepath.Join(w.dir, name), mode|os.ModeSticky); err != nil {
			return nil, err
		}
	}
	if w.logTo, err = os.Create(filepath.Join(w.dir, "log")); err != nil {
		return nil, err
	}
	if w.ledger, err = openLedger(w.net, filepath.Join(w.dir, "ledger")); err != nil {
		return nil, err
	}
	if w.disk, err = mountSmallDisk(filepath.Join(w.dir, "small")); err != nil {
		return nil, err
	}
	if p.has("spool-full") {
		if w.spool, err = mountSpool(w); err != nil {
			w.disk.unmount()
			return nil, err
		}
	}
	if w.proxy, err = startProxy(lab); err != nil {
		w.unmount()
		return nil, err
	}
	w.before = mounts(lab.Dir)
	w.sizes = &sizes{}
	w.watch = startWatch(w)
	return w, nil
}

// close puts back all that is not the jobs'.
func (w *world) close() {
	w.watch.stop()
	if err := w.proxy.stop(); err != nil {
		w.log("the proxy: %v", err)
	}
	w.ledger.listener.Close()
	w.unmount()
	w.logTo.Close()
	if !w.keep {
		os.RemoveAll(w.dir)
	}
}

// unmount takes the small file systems away, and keeps what is on them.
func (w *world) unmount() {
	w.disk.unmount()
	if w.spool == nil {
		return
	}
	if err := w.spool.unmount(); err != nil {
		w.log("the spool: %v", err)
	}
}

func (w *world) log(format string, args ...any) {
	line := fmt.Sprintf("[%6.1fs] ", time.Since(w.began).Seconds()) + fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Println(line)
	fmt.Fprintln(w.logTo, line)
}

// alone keeps what a fault needs for itself until the answer is called; "" is nothing.
func (w *world) alone(what string) (free func()) {
	if what == "" {
		return func() {}
	}
	w.mu.Lock()
	lock := w.locks[what]
	if lock == nil {
		lock = &sync.Mutex{}
		w.locks[what] = lock
	}
	w.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}

// script runs one of tests/cluster, without their lock: a daemon that waits for another must not keep that one's start
// waiting. Who needs the same daemon waits for it in alone.
func (w *world) script(words ...string) error {
	out, err := testcluster.Run(3*time.Minute, "env", append([]string{"--chdir=/", "SLURM_K8S_LOCKED=" + w.lab.Dir, filepath.Join(w.lab.Scripts, words[0])}, words[1:]...)...)
	if err != nil {
		return fmt.Errorf("%w %s", err, out)
	}
	return nil
}

// collect is what a site's timer does; faults may make it fail.
func (w *world) collect(grace string) error {
	args := []string{"gc", "--config=" + w.lab.Dir + "/etc/k8s.yaml", "--libexec=" + w.lab.Dir + "/libexec"}
	if grace != "" {
		args = append(args, "--grace="+grace)
	}
	_, err := testcluster.Run(time.Minute, "slurm-k8s", args...)
	return err
}
