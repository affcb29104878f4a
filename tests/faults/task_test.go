// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tasks' text runs as it does in a Pod of the tests' small image, with this machine in place of the Kubernetes node.
var lifeOfATask = regexp.MustCompile(`^begin( beat)* end$`)

func TestTaskTellsTheLedger(t *testing.T) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("no busybox here; make packages installs it")
	}
	l, err := openLedger("127.0.0.", filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.listener.Close()
	w := &world{net: "127.0.0.", ledger: l}
	seen := map[string]bool{}
	for _, kind := range jobKinds {
		if kind.silent || seen[kind.body] {
			continue
		}
		seen[kind.body] = true
		l.forget()
		o := &order{kind: kind, size: 12, code: 5}
		run := exec.Command(busybox, "sh", "-c", w.task(o))
		// As the image has them: every tool is busybox's.
		tools := t.TempDir()
		for _, tool := range []string{"cat", "nc", "seq", "sleep"} {
			if out, err := exec.Command("ln", "-s", busybox, filepath.Join(tools, tool)).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
		}
		run.Env = []string{"PATH=" + tools, "SLURM_JOB_ID=42", "SLURM_RESTART_COUNT=0"}
		out, err := run.CombinedOutput()
		if run.ProcessState == nil || run.ProcessState.ExitCode() != 5 {
			t.Errorf("%s: %v: %s", kind.name, err, out)
		}
		var events []string
		for _, e := range l.all() {
			events = append(events, e.event)
			if e.job != 42 || e.step != "batch" || len(e.word) != 36 {
				t.Errorf("%s: %+v", kind.name, e)
			}
		}
		// How many beats there are depends on the machine.
		if got := strings.Join(events, " "); !lifeOfATask.MatchString(got) {
			t.Errorf("%s: the ledger has %q, want %q", kind.name, got, lifeOfATask)
		}
		c := &evidence{order: o, id: 42, out: string(out), runs: []int{0}}
		if kind.steps == "" {
			if gap := c.gap(true); gap != "" {
				t.Errorf("%s: %s", kind.name, gap)
			}
		}
	}
}
