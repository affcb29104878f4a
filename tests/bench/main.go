// SPDX-License-Identifier: Apache-2.0

// bench measures what the plugin adds to a job, and what it costs a site that does not use it, on the real
// one-machine cluster. Each row of its table has its counterparts in the same run. It reports and judges nothing.
//
//	make bench                        all rows
//	make bench BENCH='-rows 1,2 -n 5' some of them, with fewer repetitions
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// bench is one run.
type bench struct {
	lab  *testcluster.Cluster
	n    int    // repetitions of what takes seconds
	work string // a folder of alice's
}

// row is one question of the table.
type row struct {
	number int
	about  string
	run    func(*bench) ([]line, error)
}

// line is one measured thing, in a unit of its own, and what it is compared with.
type line struct {
	what    string
	samples []float64
	unit    string
	against string // another line's what, for a ratio; "" for none
}

var rows = []row{
	{1, "what a job without our options pays", (*bench).unused},
	{2, "a batch job that sleeps for 2 s: time beyond the 2 s, and CPU of the whole machine", (*bench).oneJob},
	{3, "100 jobs of no length, as an array", (*bench).manyJobs},
	{4, "memory of slurmstepd while a job sleeps, and sizes of the programs", (*bench).memory},
	{5, "requests for one job", (*bench).requests},
	{6, "output of short lines", (*bench).output},
	{7, "many Kubernetes nodes: kube-scheduler's word on a job's Pod, and what the job and the collector cost", (*bench).scale},
}

func main() {
	wanted := flag.String("rows", "", "only these, by number: 1,2")
	n := flag.Int("n", 10, "repetitions of what takes seconds")
	flag.Parse()
	if err := measure(*wanted, *n); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(wanted string, n int) error {
	lab, err := testcluster.Open()
	if err != nil {
		return err
	}
	b := &bench{lab: lab, n: n}
	if b.work, err = os.MkdirTemp("/tmp", "slurm-k8s-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if err := chownToUser(b.work); err != nil {
		return err
	}
	fmt.Println(machine())
	failed := false
	for _, r := range rows {
		if wanted != "" && !slices.Contains(strings.Split(wanted, ","), strconv.Itoa(r.number)) {
			continue
		}
		fmt.Printf("\n### %d. %s\n\n", r.number, r.about)
		begun := time.Now()
		lines, err := r.run(b)
		printTable(lines)
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

// machine names what was measured on.
func machine() string {
	text := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	kernel, cpus, load := text("uname", "-r"), text("nproc"), "unknown"
	if fields, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Fields(string(fields))[0]
	}
	return fmt.Sprintf("%s, %s cpus, Linux %s, load %s before the first row; %s; Kubernetes %s", time.Now().Format(time.DateOnly), cpus, kernel, load,
		text("scontrol", "--version"), strings.TrimPrefix(text("kubelet", "--version"), "Kubernetes "))
}

func printTable(lines []line) {
	fmt.Println("| | median | least | most | ratio |")
	fmt.Println("|---|---|---|---|---|")
	medians := map[string]float64{}
	for _, l := range lines {
		if len(l.samples) == 0 {
			fmt.Printf("| %s | none | | | |\n", l.what)
			continue
		}
		sorted := slices.Sorted(slices.Values(l.samples))
		medians[l.what] = sorted[len(sorted)/2]
		ratio := ""
		if other := medians[l.against]; l.against != "" && other != 0 {
			ratio = fmt.Sprintf("%.3g of %s", medians[l.what]/other, l.against)
		}
		show := func(v float64) string { return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, l.unit)) }
		fmt.Printf("| %s | %s | %s | %s | %s |\n", l.what, show(medians[l.what]), show(sorted[0]), show(sorted[len(sorted)-1]), ratio)
	}
}
