// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// job is evidence of a job that has lived as the lines say: "RUN TASK EVENT WORD", a second apart.
func job(kind, state, exit, out string, lines ...string) *evidence {
	c := &evidence{order: &order{size: 3}, id: 1, state: state, exit: exit, out: out}
	for _, k := range jobKinds {
		if k.name == kind {
			c.kind = k
		}
	}
	start := time.Unix(1000, 0)
	for i, line := range lines {
		f := strings.Fields(line)
		c.entries = append(c.entries, entry{at: start.Add(time.Duration(i) * time.Second), event: f[2], job: 1, run: int(f[0][0] - '0'),
			step: "batch", task: int(f[1][0] - '0'), word: f[3], node: "real1"})
		if run := c.entries[i].run; f[2] == "begin" && (len(c.runs) == 0 || c.runs[len(c.runs)-1] < run) {
			c.runs = append(c.runs, run)
		}
	}
	return c
}

func (c *evidence) with(e effect) *evidence {
	return c.hit("test", e)
}

// hit is as with, by a fault of that name.
func (c *evidence) hit(name string, e effect) *evidence {
	c.hits = append(c.hits, &hit{strike: &strike{kind: &faultKind{name: name, effect: e}}})
	return c
}

func (c *evidence) saying(text string) *evidence {
	c.err = text
	return c
}

func TestJudge(t *testing.T) {
	const good = "run 0\n1\n2\n3\n"
	for name, test := range map[string]struct {
		c    *evidence
		want string // part of the finding; "" for none
	}{
		"well":                 {job("short", "COMPLETED", "0:0", good, "0 0 begin a", "0 0 end a"), ""},
		"again after a loss":   {job("short", "COMPLETED", "0:0", "run 0\n1\nrun 1\n1\n2\n3\n", "0 0 begin a", "1 0 begin b", "1 0 end b").with(disrupted), ""},
		"wrong code":           {job("short", "FAILED", "1:0", good, "0 0 begin a", "0 0 end a"), "as no fault explains"},
		"fault untold":         {job("short", "FAILED", "1:0", "run 0\n", "0 0 begin a").with(deadly), "nobody says why"},
		"fault told":           {job("short", "FAILED", "1:0", "run 0\n1\n2", "0 0 begin a").with(deadly).saying("slurm-k8s: the Pod ..."), ""},
		"not requeued":         {job("short", "FAILED", "1:0", "run 0\n", "0 0 begin a").with(disrupted).saying("slurm-k8s: evicted"), "was not run again"},
		"no reason to fail":    {job("short", "FAILED", "1:0", "run 0\n", "0 0 begin a").with(none).saying("slurm-k8s: unreachable"), "as no fault explains"},
		"killed":               {job("short", "FAILED", "0:9", "run 0\n", "0 0 begin a").with(killed), ""},
		"twice":                {job("short", "COMPLETED", "0:0", good, "0 0 begin a", "0 0 begin b", "0 0 end a"), "begun by 2 processes"},
		"overlap":              {job("short", "COMPLETED", "0:0", "run 1\n1\n2\n3\n", "0 0 begin a", "1 0 begin b", "0 0 beat a", "1 0 end b").with(disrupted), "run 0 was alive 1s after run 1"},
		"overlap by force":     {job("short", "COMPLETED", "0:0", "run 1\n1\n2\n3\n", "0 0 begin a", "1 0 begin b", "0 0 beat a", "1 0 end b").with(forced), ""},
		"again after its end":  {job("short", "COMPLETED", "0:0", "run 1\n1\n2\n3\n", "0 0 begin a", "0 0 end a", "1 0 begin b", "1 0 end b"), "had ended, and was followed"},
		"no end":               {job("short", "COMPLETED", "0:0", good, "0 0 begin a"), "told their ends"},
		"never ran":            {job("short", "COMPLETED", "0:0", good), "never began"},
		"number left out":      {job("short", "COMPLETED", "0:0", "run 1\n1\n2\n3\n", "1 0 begin a", "1 0 end a"), "numbered [1]"},
		"lines missing":        {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n", "0 0 begin a", "0 0 end a"), "2 of 3 lines"},
		"line twice":           {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n2\n3\n", "0 0 begin a", "0 0 end a"), `"2" instead of 3`},
		"cut line":             {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n3", "0 0 begin a", "0 0 end a"), "within a line"},
		"lost and told":        {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n", "0 0 begin a", "0 0 end a").with(deadly).saying("slurm-k8s: the end of the output may be missing"), ""},
		"lost in an eviction":  {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n", "0 0 begin a", "0 0 end a").with(disrupted).saying("slurm-k8s: the end of the output may be missing"), ""},
		"one task lost":        {job("nodes", "COMPLETED", "0:0", "0: run 0\n1: run 0\n0: 1\n1: 1\n0: 2\n1: 2\n0: 3\n1: 3\n", "0 0 begin a", "0 1 begin b", "0 0 end a").with(disrupted).saying("1: slurm-k8s: its node has lost the container"), ""},
		"one task lost untold": {job("nodes", "COMPLETED", "0:0", "0: run 0\n1: run 0\n0: 1\n1: 1\n0: 2\n1: 2\n0: 3\n1: 3\n", "0 0 begin a", "0 1 begin b", "0 0 end a").with(disrupted), "1 of the 2 tasks"},
		"lost and untold":      {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n", "0 0 begin a", "0 0 end a").with(deadly), "2 of 3 lines"},
		"lost by nothing":      {job("short", "COMPLETED", "0:0", "run 0\n1\n2\n", "0 0 begin a", "0 0 end a").with(none).saying("slurm-k8s: the end of the output may be missing"), "2 of 3 lines"},
		"gap, though told":     {job("short", "COMPLETED", "0:0", "run 0\n1\n3\n", "0 0 begin a", "0 0 end a").with(deadly).saying("slurm-k8s: the end of the output may be missing"), `"3" instead of 2`},
		"older run's output":   {job("short", "COMPLETED", "0:0", good, "0 0 begin a", "1 0 begin b", "1 0 end b").with(disrupted), "ends with run 0, not 1"},
		"never launched":       {job("norequeue", "CANCELLED", "0:0", "").hit("spool-full", plain), ""},
		"run and cancelled":    {job("norequeue", "CANCELLED", "0:0", "run 0\n", "0 0 begin a").hit("spool-full", plain), "as no fault explains"},
		"stepd killed":         {job("short", "TIMEOUT", "0:0", "run 0\n", "0 0 begin a").hit("kill-stepd", deadly), ""},
		"ran out of time":      {job("short", "TIMEOUT", "0:0", "run 0\n", "0 0 begin a").with(deadly), "has not ended"},
		"cancelled":            {job("norequeue", "CANCELLED", "0:0", "").with(plain), "as no fault explains"},
		"still there":          {job("short", "RUNNING", "0:0", good, "0 0 begin a"), "has not ended"},
	} {
		r := &report{}
		test.c.judge(r)
		got := strings.Join(r.findings, "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: found %q, want %q", name, got, test.want)
		}
	}
}

func TestPlanIsRepeated(t *testing.T) {
	one := draw(rand.New(rand.NewPCG(7, 0)), 50, 60, time.Second, 0, faultKinds)
	two := draw(rand.New(rand.NewPCG(7, 0)), 50, 60, time.Second, 0, faultKinds)
	if !reflect.DeepEqual(one.orders, two.orders) {
		t.Error("one seed, two sets of jobs")
	}
	seen := map[string]bool{}
	for i, s := range one.strikes {
		seen[s.kind.name] = true
		if s.kind.name != two.strikes[i].kind.name || s.at != two.strikes[i].at || s.pick != two.strikes[i].pick || s.hold != two.strikes[i].hold {
			t.Errorf("fault %d differs", i)
		}
	}
	if len(seen) != len(faultKinds) {
		t.Errorf("%d of %d kinds in 60 faults", len(seen), len(faultKinds))
	}
}

// What had not ended as a run was broken off is nobody's fault.
func TestUnjudged(t *testing.T) {
	moment := time.Unix(1000, 0)
	w := &world{broken: moment}
	for name, test := range map[string]struct {
		ended time.Time
		want  bool
	}{
		"ended before": {moment.Add(-time.Second), false},
		"ended after":  {moment.Add(time.Second), true},
		"open":         {time.Time{}, true},
	} {
		if got := w.unjudged(&evidence{ended: test.ended}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (&world{}).unjudged(&evidence{}) {
		t.Error("a run that was not broken off judges all")
	}
}

func TestLongest(t *testing.T) {
	const longest = 4 * time.Second
	for _, s := range draw(rand.New(rand.NewPCG(3, 0)), 5, 200, time.Second, longest, faultKinds).strikes {
		if s.hold > max(longest, s.kind.low) || s.hold < s.kind.low {
			t.Errorf("%s lasts %s", s.kind.name, s.hold)
		}
	}
}
