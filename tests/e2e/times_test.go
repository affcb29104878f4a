// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// times is the file named by E2E_TIMES, to which each of our own commands (the built-in ones are testscript's) adds a
// line: its seconds, its script, its words. It shows what a run spends its time on.
var times struct {
	once sync.Once
	file *os.File
}

// timed is the command, its time written down where that is asked for.
func timed(name string, f func(*testscript.TestScript, bool, []string)) func(*testscript.TestScript, bool, []string) {
	times.once.Do(func() {
		if path := os.Getenv("E2E_TIMES"); path != "" {
			times.file, _ = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		}
	})
	if times.file == nil {
		return f
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		begin := time.Now()
		defer func() {
			words := strings.ReplaceAll(strings.Join(args, " "), "\n", " ")
			fmt.Fprintf(times.file, "%s\t%.2f\t%s\t%s %s\n", begin.Format("15:04:05.00"), time.Since(begin).Seconds(), worldOf(ts).name, name, words)
		}()
		f(ts, neg, args)
	}
}
