// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// process is one of this cluster's that belongs to a job.
type process struct {
	pid, job int
	step     string // "batch", or its number
	what     string // stepd, relay, podinit, pump, task
	session  string // of podinit and pump
	parent   int
}

var (
	stepdTitle = regexp.MustCompile(`^slurmstepd: \[(\d+)\.(\w+)\]`)
	podinitArg = regexp.MustCompile(`podinit\x00(init|pump)\x00.*--session=([0-9a-f]+)`)
)

// processes finds all of the cluster's jobs' processes. Another test cluster may be on the machine: ours have our
// job ids, our folder's relay, our nodes' cgroups.
func (w *world) processes() []process {
	sessions := map[string]podFacts{}
	pods, _ := w.pods()
	for _, p := range pods {
		sessions[p.session] = p
	}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var all []process
	byPid := map[int]process{}
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		line, _ := os.ReadFile(folder + "/cmdline")
		p := process{pid: pid, parent: parentOf(pid)}
		if m := stepdTitle.FindSubmatch(line); m != nil && w.ourJob(string(m[1])) {
			p.job, _ = strconv.Atoi(string(m[1]))
			p.what, p.step = "stepd", string(m[2])
		} else if bytes.HasPrefix(line, []byte(w.lab.Dir+"/libexec/relay\x00")) {
			p.what = "relay"
		} else if m := podinitArg.FindSubmatch(line); m != nil && w.inNode(folder) {
			p.what = map[string]string{"init": "podinit", "pump": "pump"}[string(m[1])]
			p.session = string(m[2])
			p.job, p.step = sessions[p.session].job, sessions[p.session].step
		} else if w.inNode(folder) {
			p.what = "task"
		} else {
			continue
		}
		byPid[pid] = p
		all = append(all, p)
	}
	// Children are their parents' jobs'.
	for i, p := range all {
		if mother, ok := byPid[p.parent]; ok && (p.what == "relay" && mother.what == "stepd" || p.what == "task" && mother.what == "podinit") {
			all[i].job, all[i].step = mother.job, mother.step
		} else if p.what == "task" {
			all[i].what = "other"
		}
	}
	slices.SortFunc(all, func(a, b process) int { return (a.job-b.job)<<8 + strings.Compare(a.step, b.step)<<4 + a.pid - b.pid })
	return all
}

// ourJob: the number is one of this cluster's jobs, by what slurm.conf counts from.
func (w *world) ourJob(id string) bool {
	n, _ := strconv.Atoi(id)
	instance, _ := strconv.Atoi(os.Getenv("SLURM_K8S_INSTANCE"))
	return n/1_000_000 == instance
}

// inNode: the process is in a Kubernetes node of this cluster.
func (w *world) inNode(folder string) bool {
	groups, _ := os.ReadFile(folder + "/cgroup")
	return bytes.Contains(groups, []byte("/k8s"+os.Getenv("SLURM_K8S_INSTANCE")+"-real"))
}

func parentOf(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	if f := strings.Fields(rest); len(f) > 1 && f[0] != "Z" {
		parent, _ := strconv.Atoi(f[1])
		return parent
	}
	return 0
}

// victim kills one process of that sort; its job must be known to the run.
func victim(what string) func(*world, *strike, *hit) (func() error, error) {
	return func(w *world, s *strike, h *hit) (func() error, error) {
		var all []process
		for _, p := range w.processes() {
			if p.what == what && w.order(p.job) != nil {
				all = append(all, p)
			}
		}
		// First of the jobs, so that one of many tasks is not hit each time.
		var jobs []int
		for _, p := range all {
			jobs = append(jobs, p.job)
		}
		slices.Sort(jobs)
		job, err := one(s, slices.Compact(jobs))
		if err != nil {
			return nil, err
		}
		p, err := one(s, slices.DeleteFunc(all, func(p process) bool { return p.job != job }))
		if err != nil {
			return nil, err
		}
		h.target = fmt.Sprintf("of job %d.%s (pid %d, %s)", p.job, p.step, p.pid, w.order(p.job).kind.name)
		h.reach.jobs = []int{p.job}
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
			return nil, errNobody // it has ended meanwhile
		}
		if what == "stepd" {
			return w.noticeLost(p), nil
		}
		return nil, nil
	}
}

// noticeLost: plain Slurm finds a batch script lost when its slurmd registers anew, and looks only at those older than
// 20 s. A numbered step whose slurmstepd is gone is waited for by its srun without end: somebody cancels the job.
func (w *world) noticeLost(lost process) func() error {
	killed := time.Now()
	return func() error {
		testcluster.Until(30*time.Second, func() bool { return time.Since(killed) > 25*time.Second })
		if lost.step != "batch" {
			_, err := testcluster.Run(20*time.Second, "scancel", strconv.Itoa(lost.job))
			return err
		}
		defer w.alone("slurmd")()
		return w.script("restart", "slurmd-n1", "slurmd-n2")
	}
}

func (w *world) order(job int) *order {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ids[job]
}

var processFaults = []*faultKind{
	{name: "kill-stepd", what: "slurmstepd of a job is killed, and slurmd restarted so that Slurm notices", effect: deadly, inject: victim("stepd")},
	{name: "kill-relay", what: "a relay, which is the task as far as Slurm knows", effect: killed, inject: victim("relay")},
	{name: "kill-podinit", what: "process 1 of a container", effect: deadly, inject: victim("podinit")},
	{name: "kill-pump", what: "the process that the output's connection ends at", effect: none, inject: victim("pump")},
	{name: "kill-task", what: "the job's own process", effect: killed, inject: victim("task")},
	{name: "two-pumps", what: "somebody else execs the pump: the newer connection wins, the older comes back", low: 2 * time.Second, high: 8 * time.Second, effect: none, inject: secondPump},
}
