// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a condition is waited for where the script does not say. It is no measure of how long things
// take: a machine that does much else beside the tests is many times slower than a quiet one.
const patience = 3 * time.Minute

// limitOf takes "-t DURATION" off the arguments.
func limitOf(ts *testscript.TestScript, args []string, usual time.Duration) ([]string, time.Duration) {
	if len(args) < 2 || args[0] != "-t" {
		return args, usual
	}
	limit, err := time.ParseDuration(args[1])
	ts.Check(err)
	return args[2:], limit
}

func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// jobOf is the job named last, or $JOB.
func jobOf(ts *testscript.TestScript, args []string, at int) string {
	if len(args) > at {
		return args[at]
	}
	job := ts.Getenv("JOB")
	if job == "" {
		ts.Fatalf("no job was submitted before")
	}
	return job
}

// outcome ends a command as its negation asks.
func outcome(ts *testscript.TestScript, neg bool, err error) {
	switch {
	case err != nil && !neg:
		ts.Fatalf("%v", err)
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	}
}

var submitted = regexp.MustCompile(`(?m)^(?:Submitted batch job )?(\d+)(?:;\w+)?$`)

// userVars are what a user's login would set, and what keeps the tests' jobs small and known.
func userVars(ts *testscript.TestScript, name string) []string {
	return []string{
		"HOME=" + filepath.Join(lab.Dir, "home", name), "USER=" + name, "LOGNAME=" + name, "SHELL=/bin/bash",
		"PATH=" + filepath.Join(lab.Dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "SLURM_CONF=" + ts.Getenv("SLURM_CONF"),
		"SBATCH_JOB_NAME=" + worldOf(ts).jobName(), "SBATCH_MEM_PER_NODE=200M", "SALLOC_MEM_PER_NODE=200M",
	}
}

func cmdAs(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 1, "as USER COMMAND...")
	w, words := worldOf(ts), args[1:]
	err := ts.Exec("setpriv", userCommand(ts, args)...)
	w.code = codeOf(err)
	if runs("sbatch", words) {
		if m := submitted.FindStringSubmatch(ts.ReadFile("stdout")); m != nil {
			w.submitted(m[1])
			ts.Setenv("JOB", m[1])
		}
	} else if allocates(words) {
		if job := w.find(); job != "0" {
			ts.Setenv("JOB", job)
		}
	}
	outcome(ts, neg, err)
}

func cmdJob(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) > 0 && !neg, "job [-t DURATION] STATE[|STATE...] [JOB]")
	job, want := jobOf(ts, args, 1), strings.Split(args[0], "|")
	var last error
	reached := until(limit, func() bool {
		records, err := jobRecords(job)
		last = err
		for _, r := range records {
			if slices.Contains(want, r["JobState"]) {
				continue
			}
			last = fmt.Errorf("%s", r)
			if terminal[r["JobState"]] {
				ts.Fatalf("waited for %s: %s", args[0], r)
			}
			return false
		}
		return err == nil
	})
	if !reached {
		ts.Fatalf("waited %s for job %s to be %s: %v", limit, job, args[0], last)
	}
}

func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) > 1, "field [-t DURATION] NAME REGEXP [JOB]")
	job := jobOf(ts, args, 2)
	match(ts, neg, limit, fmt.Sprintf("%s of job %s", args[0], job), args[1], func() (string, error) {
		records, err := jobRecords(job)
		if err != nil {
			return "", err
		}
		values := make([]string, len(records))
		for i, r := range records {
			values[i] = r[args[0]]
		}
		return strings.Join(values, "\n"), nil
	})
}

func cmdAcct(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) > 1, "acct [-t DURATION] FIELD REGEXP [JOB]")
	job := jobOf(ts, args, 2)
	match(ts, neg, limit, fmt.Sprintf("sacct's %s of job %s", args[0], job), args[1], func() (string, error) {
		return accounting(job, args[0])
	})
}

func cmdLine(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) == 2, "line [-t DURATION] REGEXP FILE")
	match(ts, neg, limit, args[1], args[0], func() (string, error) {
		text, err := os.ReadFile(ts.MkAbs(args[1]))
		return string(text), err
	})
}

// match waits until the text matches; negated it must not match now.
func match(ts *testscript.TestScript, neg bool, limit time.Duration, what, pattern string, text func() (string, error)) {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	var last string
	if neg {
		if last, err = text(); err == nil && re.MatchString(last) {
			ts.Fatalf("%s matches %q: %s", what, pattern, tail(last, 20))
		}
		return
	}
	if !until(limit, func() bool { last, err = text(); return err == nil && re.MatchString(last) }) {
		if err != nil {
			ts.Fatalf("waited %s for %q in %s: %v", limit, pattern, what, err)
		}
		ts.Fatalf("waited %s for %q in %s, which is: %s", limit, pattern, what, tail(last, 20))
	}
}

func cmdPod(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	states := []string{"gone", "exists", "pending", "running", "terminated"}
	need(ts, len(args) > 0 && !neg && slices.Contains(states, args[0]), "pod [-t DURATION] gone|exists|pending|running|terminated [JOB]")
	job, state := jobOf(ts, args, 1), ""
	reached := until(limit, func() bool {
		pods, err := podsOf(job)
		if err != nil {
			state = err.Error()
			return false
		}
		state = "gone"
		if len(pods) > 0 {
			state = podState(&pods[0])
		}
		return state == args[0] || args[0] == "exists" && state != "gone"
	})
	if !reached {
		ts.Fatalf("waited %s for the Pod of job %s: wanted %s, it is %s", limit, job, args[0], state)
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 1 && !neg, "capture VARIABLE COMMAND...")
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func cmdSay(ts *testscript.TestScript, _ bool, args []string) {
	worldOf(ts).log(strings.Join(args, " "))
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) > 0 && !neg, "await [-t DURATION] COMMAND...")
	var err error
	if !until(limit, func() bool {
		err = ts.Exec(args[0], args[1:]...)
		return err == nil
	}) {
		ts.Fatalf("waited %s for %s: %v", limit, strings.Join(args, " "), err)
	}
}

func cmdKubectl(ts *testscript.TestScript, neg bool, args []string) {
	outcome(ts, neg, ts.Exec("kubectl", append([]string{"-n", namespace}, args...)...))
}

func cmdDaemon(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 1 && !neg, "daemon stop|kill|start|restart NAME...")
	verb, names := args[0], args[1:]
	w := worldOf(ts)
	w.stopped = append(w.stopped, names...)
	// From a directory that stays: daemons keep the one they are started in.
	script := func(name string, args ...string) error {
		return ts.Exec("env", append([]string{"--chdir=/", filepath.Join(lab.Scripts, name)}, args...)...)
	}
	switch verb {
	case "stop":
		ts.Check(script("stop", names...))
	case "kill":
		ts.Check(script("stop", append(slices.Clone(names), "--kill")...))
	case "restart":
		ts.Check(script("stop", names...))
		fallthrough
	case "start":
		// The kernel may free a dead daemon's port a moment after the daemon reads dead.
		var err error
		if !until(3*time.Second, func() bool {
			err = script("start", names...)
			return err == nil || !strings.Contains(ts.ReadFile("stderr"), "is taken by")
		}) || err != nil {
			ts.Fatalf("%v", err)
		}
		w.stopped = slices.DeleteFunc(w.stopped, func(name string) bool { return slices.Contains(names, name) })
	default:
		ts.Fatalf("usage: daemon stop|kill|start|restart NAME...")
	}
}

// quiet is how long a file must not grow to be called still.
const quiet = 3 * time.Second

func cmdStill(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) == 1 && !neg, "still [-t DURATION] FILE")
	size, since := int64(-1), time.Now()
	if !until(limit, func() bool {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() != size {
			size, since = info.Size(), time.Now()
		}
		return time.Since(since) > quiet
	}) {
		ts.Fatalf("%s still grows after %s", args[0], limit)
	}
}

func cmdGrows(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, patience)
	need(ts, len(args) == 1 && !neg, "grows [-t DURATION] FILE")
	size := func() int64 {
		info, err := os.Stat(ts.MkAbs(args[0]))
		ts.Check(err)
		return info.Size()
	}
	if begin := size(); !until(limit, func() bool { return size() > begin }) {
		ts.Fatalf("%s has not grown in %s: %d bytes", args[0], limit, begin)
	}
}

// cmdTarpit listens on a port of its own, takes connections and never answers.
func cmdTarpit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 1 && !neg, "tarpit VARIABLE")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
		}
	}()
	ts.Defer(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			conn.Close()
		}
	})
	ts.Setenv(args[0], listener.Addr().String())
}

func cmdUnqueued(ts *testscript.TestScript, neg bool, args []string) {
	args, limit := limitOf(ts, args, 0)
	need(ts, len(args) == 0 && !neg, "unqueued [-t DURATION]")
	w := worldOf(ts)
	var queue string
	if !until(limit, func() bool {
		var err error
		queue, err = run(20*time.Second, "squeue", "-h", "-n", w.jobName())
		ts.Check(err)
		return queue == ""
	}) {
		ts.Fatalf("in the queue: %s", queue)
	}
}

func cmdNodesFine(ts *testscript.TestScript, _ bool, _ []string) {
	w := worldOf(ts)
	w.find()
	var wrong string
	fine := until(patience, func() bool {
		wrong = badNodes()
		for _, r := range w.records() {
			if pods, err := podsOf(r["JobId"]); err != nil || terminal[r["JobState"]] && len(pods) > 0 {
				wrong += fmt.Sprintf("\nthe Pod of %s is there: %v", r, err)
			}
			if strings.Contains(r["Reason"], "Held") || strings.Contains(r["Reason"], "held") {
				wrong += fmt.Sprintf("\n%s", r)
			}
		}
		return wrong == ""
	})
	if !fine {
		ts.Fatalf("%s", strings.TrimSpace(wrong))
	}
}
