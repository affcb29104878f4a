// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

func main() {
	seed := flag.Uint64("seed", 1, "what all is drawn from; repeats a run")
	jobs := flag.Int("jobs", 60, "submissions; an array is one")
	faults := flag.Int("faults", 40, "faults")
	pace := flag.Duration("pace", 3*time.Second, "mean time between two submissions")
	only := flag.String("only", "", "kinds of faults, with commas between; all if empty")
	none := flag.String("not", "", "kinds of faults that are left out")
	longest := flag.Duration("longest", 0, "no fault lasts longer than that, if it can; 0: as their kinds have it")
	short := flag.Bool("short", false, "a run of four minutes, for every day: with the day as its seed, where these flags do not say other: "+strings.Join(shortRun, " "))
	list := flag.Bool("list", false, "print the kinds of faults and jobs, and the plan, and run nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "faults: what is", flag.Arg(0), "for? See -help")
		os.Exit(2)
	}
	if *short {
		setDefaults(shortRun, "-seed="+time.Now().UTC().Format("20060102"))
	}
	kinds, err := choose(*only, *none)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(2)
	}
	plan := draw(rand.New(rand.NewPCG(*seed, 0)), *jobs, *faults, *pace, *longest, kinds)
	plan.seed = *seed
	if *list {
		plan.print(os.Stdout)
		return
	}
	os.Exit(run(plan))
}

// shortRun leaves out what takes minutes: Kubernetes' own waits for a node that is lost.
var shortRun = []string{"-jobs=26", "-faults=30", "-pace=5s", "-longest=8s", "-not=node-lost,node-cut"}

// setDefaults sets those flags that the command line does not.
func setDefaults(words []string, more ...string) {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, word := range append(more, words...) {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		if !given[name] {
			flag.Set(name, value)
		}
	}
}

// run carries out a plan and says what is wrong: 0 nothing, 1 findings, 2 no run came about.
func run(p *plan) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	lab, err := testcluster.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	}
	w, err := newWorld(lab, p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	}
	defer w.close()
	command := strings.Join(os.Args[1:], " ")
	w.log("seed %d: %d submissions, %d faults within %s; files in %s", p.seed, len(p.orders), len(p.strikes), p.length.Round(time.Second), w.dir)
	w.calm()
	w.carryOut(ctx, p)
	w.settle(ctx)
	report := w.audit()
	report.print(os.Stdout)
	if len(report.findings) > 0 {
		fmt.Printf("faults: %d findings; again: tests/faults/run %s (with -seed %d); files stay in %s\n", len(report.findings), command, p.seed, w.dir)
		w.keep = true
		return 1
	}
	fmt.Printf("faults: no findings in %s\n", time.Since(w.began).Round(time.Second))
	return 0
}
