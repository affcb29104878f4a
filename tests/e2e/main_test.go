// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

func TestMain(m *testing.M) {
	beside = newTurns()
	if listing {
		os.Exit(m.Run())
	}
	var err error
	if lab, err = testcluster.Open(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	code := m.Run()
	note("E2E_FAILED", "came to its end")
	os.Exit(code)
}

// TestScripts runs the scripts that do not disturb each other.
func TestScripts(t *testing.T) { runScripts(t, "testdata", beside, syscall.LOCK_SH) }

// TestSerial runs, one after the other, those that kill daemons or fill the cluster.
func TestSerial(t *testing.T) { runScripts(t, "testdata/serial", nil, syscall.LOCK_EX) }

func runScripts(t *testing.T, dir string, turns *turns, how int) {
	if !listing {
		hold(t, how)
	}
	testscript.RunT(shim{T: t, turns: turns}, params(t, scriptsOf(t, dir)))
}

// hold keeps a lock on the cluster: two runs of the suite do not kill each other's daemons.
func hold(t *testing.T, how int) {
	file, err := os.OpenFile(filepath.Join(lab.Dir, "run", "e2e.lock"), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB) != nil {
		t.Log("waiting for another run of the suite on this cluster")
		if err := syscall.Flock(int(file.Fd()), how); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { file.Close() })
}

func params(t *testing.T, files []string) testscript.Params {
	// A folder that alice and bob may enter, and that no image has.
	root, err := os.MkdirTemp("/tmp", "slurm-k8s-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if os.Getenv("E2E_KEEP") == "" {
			os.RemoveAll(root)
		}
	})
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, f := range commands {
		cmds[name] = timed(name, f)
	}
	p := testscript.Params{
		Files:              files,
		WorkdirRoot:        root,
		RequireUniqueNames: true,
		Setup:              setup,
		Cmds:               cmds,
	}
	if deadline, ok := t.Deadline(); ok {
		p.Deadline = deadline
	}
	return p
}

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"as":         cmdAs,
	"begin":      cmdBegin,
	"send":       cmdSend,
	"ended":      cmdEnded,
	"code":       cmdCode,
	"job":        cmdJob,
	"field":      cmdField,
	"acct":       cmdAcct,
	"line":       cmdLine,
	"pod":        cmdPod,
	"fill":       cmdFill,
	"unfill":     cmdUnfill,
	"capture":    cmdCapture,
	"await":      cmdAwait,
	"kubectl":    cmdKubectl,
	"daemon":     cmdDaemon,
	"node":       cmdNode,
	"only":       cmdOnly,
	"say":        cmdSay,
	"site":       cmdSite,
	"afterwards": cmdAfterwards,
	"still":      cmdStill,
	"grows":      cmdGrows,
	"tarpit":     cmdTarpit,
	"unqueued":   cmdUnqueued,
	"nodes-fine": cmdNodesFine,
}
