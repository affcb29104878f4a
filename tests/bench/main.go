// SPDX-License-Identifier: Apache-2.0

// bench measures what the plugin adds to a job, and what it costs a site that does not use it, on the real
// one-machine cluster. Each row of its table has its counterparts in the same run. It reports and judges nothing.
//
//	make bench                        all rows
//	make bench BENCH='-rows 1,2 -n 5' some of them, with fewer repetitions
//
// README.md says how to read what it prints.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// bench is one run.
type bench struct {
	lab     *testcluster.Cluster
	work    string // a folder of alice's: where all its jobs have their working directory
	changes changes
	sizes
}

// row is one question of the table.
type row struct {
	number int
	about  string
	run    func(*bench) (gauge.Lines, error)
}

var rows = []row{
	{1, "what a job without our options pays", (*bench).unused},
	{2, "a batch job that sleeps for 2 s", (*bench).oneJob},
	{3, "many jobs of no length, as an array; many Pods that start at once; steps of many tasks", (*bench).manyJobs},
	{4, "slurmstepd of jobs that run on and on; sizes and start of the programs", (*bench).memory},
	{5, "requests to Kubernetes and to slurmctld, and what is left behind in Kubernetes", (*bench).requests},
	{6, "output: of short lines, of lines of 64 KiB, and without a newline; idle streams", (*bench).outputs},
	{7, "many Kubernetes nodes: kube-scheduler's word on a job's Pod, and what the job and the collector cost", (*bench).scale},
	{8, "jobs that do nothing, at once on one Slurm node, their Pods a fake kubelet's", (*bench).oneNode},
	{9, "a full cluster: requests while jobs are pending, from room to start, a large job among small ones", (*bench).fullCluster},
}

func main() {
	wanted := flag.String("rows", "", "only these, by number: 1,2")
	b := &bench{}
	b.sizes.flags(flag.CommandLine)
	alone := flag.String(aloneFlag[1:], "", "run this in a Pod as the bare client does, and nothing else")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: what is", flag.Arg(0), "for? See -help")
		os.Exit(2)
	}
	run := func() error { return b.measure(*wanted) }
	if *alone != "" {
		run = func() error { return b.alone(*alone) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) measure(wanted string) (err error) {
	if b.lab, err = testcluster.Open(); err != nil {
		return err
	}
	if b.work, err = os.MkdirTemp("/tmp", "slurm-k8s-bench-"); err != nil {
		return err
	}
	b.changes.onInterrupt()
	_, err = b.changes.make("what runs and lies in "+b.work, func() error { return chownToUser(b.work) }, b.clear)
	defer func() { err = errors.Join(err, b.changes.all()) }()
	if err != nil {
		return err
	}
	fmt.Println(gauge.Machine())
	failed := false
	for _, r := range rows {
		if wanted != "" && !slices.Contains(strings.Split(wanted, ","), strconv.Itoa(r.number)) {
			continue
		}
		fmt.Printf("\n### %d. %s\n\n", r.number, r.about)
		if rate, err := gauge.Quiet(20 * time.Second); err != nil {
			fmt.Printf("At its begin %s.\n\n", err)
		} else {
			fmt.Printf("At its begin the machine uses %.2f cpus.\n\n", rate)
		}
		begun := time.Now()
		lines, err := r.run(b)
		lines.Print(os.Stdout)
		if err != nil {
			failed = true
			fmt.Printf("\nnot measured to the end: %s\n", err)
		}
		fmt.Fprintf(os.Stderr, "row %d took %s\n", r.number, time.Since(begun).Round(time.Second))
	}
	if failed {
		return fmt.Errorf("some rows were not measured to the end")
	}
	return nil
}
