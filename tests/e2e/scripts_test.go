// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listing: E2E_LIST asks which scripts would run, a line TEST/NAME each; none of them runs, and no cluster is needed.
var listing = os.Getenv("E2E_LIST") != ""

// waitLong are those scripts of testdata that wait longest, for Kubernetes, Slurm or a limit. They begin first, so that
// the others use the time.
var waitLong = []string{"srun-pending", "stream-idle", "start-limit", "signal-timelimit", "exit-start", "commands", "srun-limit"}

// scriptsOf are the scripts in a folder, those that wait long first.
func scriptsOf(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	rank := func(file string) int {
		if at := slices.Index(waitLong, nameOf(file)); at >= 0 {
			return at
		}
		return len(waitLong)
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	return files
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// shim is a T for testscript, whose subtests run beside each other or not.
type shim struct {
	*testing.T
	turns *turns // nil: one after the other
	began *time.Time
	why   *string // testscript's line on where and why a script failed
}

var failLine = regexp.MustCompile(`(?m)^FAIL: (.*)$`)

// Log gets all that a script told, when it has ended.
func (s shim) Log(args ...any) {
	s.T.Helper()
	if found := failLine.FindStringSubmatch(fmt.Sprint(args...)); found != nil {
		*s.why = ": " + found[1]
	}
	s.T.Log(args...)
}

func (s shim) Parallel() {
	if s.turns != nil {
		number := s.turns.draw() // in the scripts' order, as tests run one after the other until here
		s.T.Parallel()
		s.turns.wait(number)
		s.T.Cleanup(s.turns.done)
	}
	*s.began = time.Now()
}

// Verbose shows each command of scripts that succeed too; their phases are always shown by -v.
func (s shim) Verbose() bool { return os.Getenv("E2E_TRACE") != "" }

func (s shim) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) {
		if listing {
			fmt.Println(t.Name())
			return
		}
		began, why := time.Now(), ""
		defer func() {
			outcome := "ok    "
			if t.Failed() {
				outcome = "FAILED"
				note("E2E_FAILED", t.Name())
				note("E2E_SUMMARY", "FAILED "+t.Name()+why)
			} else {
				note("E2E_FAILED", "ran "+t.Name())
			}
			// At once, while -v tells of scripts beside each other only when all of them have ended.
			fmt.Printf("%s %6.1fs %s%s\n", outcome, time.Since(began).Seconds(), name, why)
		}()
		f(shim{t, s.turns, &began, &why})
	})
}
