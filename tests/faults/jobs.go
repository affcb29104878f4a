// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// jobKind is one way to use Slurm and the plugin.
type jobKind struct {
	name, what string
	often      int      // cards of it in the deck that jobs are dealt from; 0 is 1
	minutes    int      // time limit; 0 is 6: short ones fill gaps that others leave
	low, high  int      // size: lines, or for "silent" seconds
	sbatch     []string // options
	body       string   // of the task: after its begin, before its end
	steps      string   // srun's options, where the tasks are a step's in Pods and the script is not
	srun       bool     // no script: srun by itself
	tasks      int      // processes that report to the ledger
	array      int
	cancelled  bool
	small      bool // --output lies on the small disk
	silent     bool // nothing but its first line
	requeue    bool // Slurm may run it again
}

const (
	slowly  = `i=0; while [ $i -lt $size ]; do i=$((i + 1)); echo $i; [ $((i % 10)) != 0 ] || say beat 1; sleep 0.1; done`
	quickly = `seq 1 $size`
)

var jobKinds = []*jobKind{
	{name: "short", what: "a few lines", often: 4, minutes: 4, low: 1, high: 5, body: quickly, tasks: 1, requeue: true},
	{name: "long", what: "a number each tenth of a second", low: 80, high: 300, body: slowly, tasks: 1, requeue: true},
	{name: "chatty", what: "10,000 to 400,000 lines as fast as they go", low: 10_000, high: 400_000, body: quickly, tasks: 1, requeue: true},
	{name: "array", what: "an array of three", often: 2, minutes: 4, low: 10, high: 60, body: slowly, tasks: 1, array: 3, requeue: true},
	{name: "tasks", what: "a script on the Slurm node, with a step of 4 tasks in one Pod", low: 20, high: 120, body: slowly,
		sbatch: []string{"--k8s-scope=steps", "-N1", "-n4", "--mem=800M"}, steps: "-n4 -l", tasks: 4, requeue: true},
	{name: "silent", what: "sleeps", minutes: 4, low: 3, high: 20, body: `sleep $size`, tasks: 1, silent: true, requeue: true},
	{name: "norequeue", what: "--no-requeue", low: 60, high: 200, body: slowly, sbatch: []string{"--no-requeue"}, tasks: 1},
	{name: "nodes", what: "a step on both Slurm nodes", low: 20, high: 120, body: slowly,
		sbatch: []string{"--k8s-scope=steps", "-N2", "-n2"}, steps: "-N2 -n2 -l", tasks: 2, requeue: true},
	{name: "trap", what: "takes TERM for its end", low: 60, high: 200, body: `trap 'echo TERM; exit 9' TERM; ` + slowly, tasks: 1, requeue: true},
	{name: "cancelled", what: "cancelled by its user", low: 300, high: 300, body: slowly, tasks: 1, cancelled: true, requeue: true},
	{name: "srun", what: "srun by itself", low: 20, high: 120, body: slowly, srun: true, steps: "-n1 -l", tasks: 1},
	{name: "disk", what: "its --output is on a small disk", low: 60, high: 200, body: slowly, small: true, tasks: 1, requeue: true},
	{name: "large", what: "8 cpus, which is a whole Slurm node of the tests", low: 20, high: 80, body: slowly, sbatch: []string{"-N1", "-n1", "-c8"}, tasks: 1, requeue: true},
}

// deck has each kind as often as it says.
func deck() []*jobKind {
	var all []*jobKind
	for _, k := range jobKinds {
		for range max(1, k.often) {
			all = append(all, k)
		}
	}
	return all
}

// limit is the job's time limit in minutes, for -t.
func (k *jobKind) limit() string {
	if k.minutes == 0 {
		return "6"
	}
	return strconv.Itoa(k.minutes)
}

// task is what each task runs, for any sh: it tells the ledger of its begin and its end, through the Kubernetes node that it is on.
func (w *world) task(o *order) string {
	return fmt.Sprintf(`word=$(cat /proc/sys/kernel/random/uuid)
while read -r ip _; do case $ip in %s*) gate=${ip%%.*}.1 ;; esac; done </etc/hosts
size=%d
say() { # EVENT ATTEMPTS
	n=0
	until [ "$(echo "$1 $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} ${SLURM_STEP_ID:-batch} ${SLURM_PROCID:-0} $word" | nc -w 5 $gate %d 2>/dev/null)" = ok ]; do
		n=$((n + 1))
		[ $n -lt $2 ] || break
		sleep 0.3
	done
}
echo run ${SLURM_RESTART_COUNT:-0}
say begin 40
%s
say end 40
exit %d
`, w.net, o.size, w.ledger.port, o.kind.body, o.code)
}

// words are the command of a submission, with its files written.
func (w *world) words(o *order) ([]string, error) {
	file := filepath.Join(w.dir, "scripts", o.name()+".sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+w.task(o)), 0o755); err != nil {
		return nil, err
	}
	folder := filepath.Join(w.dir, "out")
	if o.kind.small {
		folder = filepath.Join(w.dir, "small")
	}
	where, errors := filepath.Join(folder, o.name()), filepath.Join(w.dir, "out", o.name())
	common := []string{"-J", o.name(), "--k8s-image=" + w.lab.Vars["IMAGE_TINY"], "--k8s-workdir=/tmp"}
	if o.kind.srun {
		text, err := os.ReadFile(file)
		words := append([]string{"srun", "--mem=200M", "-t", o.kind.limit(), "-o", where + ".%j.out", "-e", errors + ".%j.err"}, common...)
		return append(append(words, strings.Fields(o.kind.steps)...), "sh", "-c", string(text)), err
	}
	words := append([]string{"sbatch", "--parsable", "--mem=200M", "-t", o.kind.limit(), "-D", "/tmp", "-o", where + ".%j.out", "-e", errors + ".%j.err"}, common...)
	if o.append {
		words = append(words, "--open-mode=append")
	} else {
		words = append(words, "--open-mode=truncate")
	}
	if o.kind.array > 0 {
		words = append(words, fmt.Sprintf("--array=1-%d", o.kind.array))
	}
	words = append(words, o.kind.sbatch...)
	if o.kind.steps != "" {
		script := filepath.Join(w.dir, "scripts", o.name()+".batch")
		// The tasks get the text itself: no file of this machine is in their image.
		text := fmt.Sprintf("#!/bin/sh\nexec srun %s sh -c \"$(cat %s)\"\n", o.kind.steps, file)
		return append(words, script), os.WriteFile(script, []byte(text), 0o755)
	}
	return append(words, file), nil
}
