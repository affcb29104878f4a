// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// runs tells whether the words run a program, be it behind env or in a line for a shell.
func runs(program string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word == program || strings.Contains(word, program+" ") })
}

func allocates(words []string) bool { return runs("srun", words) || runs("salloc", words) }

// within tells whether the words run in a job that is there.
func within(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--jobid=") })
}

// userCommand is setpriv's words for a command as that user.
func userCommand(ts *testscript.TestScript, args []string) []string {
	uid, gid, err := idsOf(args[0])
	ts.Check(err)
	words := []string{fmt.Sprintf("--reuid=%d", uid), fmt.Sprintf("--regid=%d", gid), "--init-groups", "env", "-i"}
	words = append(words, userVars(ts, args[0])...)
	if runs("srun", args[1:]) {
		// srun takes the place of sbatch here; a job that sbatch starts has these from Slurm.
		words = append(words, "SLURM_JOB_NAME="+worldOf(ts).jobName(), "SLURM_MEM_PER_NODE=200M")
	}
	return append(words, args[1:]...)
}

// find learns of jobs that srun and salloc made, and gives the newest; Slurm knows jobs for minutes after their end.
func (w *world) find() string {
	out, err := run(20*time.Second, "squeue", "-h", "-t", "all", "-n", w.jobName(), "-o", "%A")
	newest := 0
	for _, id := range strings.Fields(out) {
		if err == nil {
			w.submitted(id)
			number, _ := strconv.Atoi(id)
			newest = max(newest, number)
		}
	}
	return strconv.Itoa(newest)
}

// started is a command that runs beside the script.
type started struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func cmdBegin(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 2 && !neg, "begin NAME USER COMMAND...")
	w, name := worldOf(ts), args[0]
	before := w.find()
	s := &started{cmd: exec.Command("setpriv", userCommand(ts, args[1:])...), done: make(chan struct{})}
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var files []*os.File
	for _, suffix := range []string{".out", ".err"} {
		file, err := os.Create(filepath.Join(s.cmd.Dir, name+suffix))
		ts.Check(err)
		files = append(files, file)
	}
	s.cmd.Stdout, s.cmd.Stderr = files[0], files[1]
	ts.Check(s.cmd.Start())
	go func() {
		s.cmd.Wait()
		files[0].Close()
		files[1].Close()
		close(s.done)
	}()
	ts.Defer(func() {
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
	})
	if w.begun == nil {
		w.begun = map[string]*started{}
	}
	w.begun[name] = s
	if !allocates(args[2:]) || within(args[2:]) {
		return
	}
	// Its job, unless it ends without one.
	until(patience, func() bool {
		select {
		case <-s.done:
			return true
		default:
			return w.find() != before
		}
	})
	if job := w.find(); job != before {
		ts.Setenv("JOB", job)
	}
}

func begunOf(ts *testscript.TestScript, name string) *started {
	s := worldOf(ts).begun[name]
	if s == nil {
		ts.Fatalf("nothing was begun as %q", name)
	}
	return s
}

func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 2 && !neg, "send SIGNAL NAME")
	ts.Check(ts.Exec("kill", "-s", args[0], strconv.Itoa(begunOf(ts, args[1]).cmd.Process.Pid)))
}

func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) == 2, "ended [-t DURATION] CODE NAME")
	s := begunOf(ts, args[1])
	over := func() bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	}
	if neg && !over() {
		return
	}
	if !until(limit, over) {
		ts.Fatalf("waited %s for %s to end", limit, args[1])
	}
	code := s.cmd.ProcessState.ExitCode()
	if neg || args[0] != "any" && strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s has ended with %d: %s", args[1], code, tail(ts.ReadFile(args[1]+".err"), 10))
	}
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 1 && !neg, "code NUMBER")
	if code := worldOf(ts).code; strconv.Itoa(code) != args[0] {
		ts.Fatalf("the last command ended with %d", code)
	}
}

// codeOf is a command's exit code; -1 where a signal ended it.
func codeOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
