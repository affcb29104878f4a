// SPDX-License-Identifier: Apache-2.0

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Run runs a program as root and gives its stdout; an error has its stderr.
func Run(limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// Until asks until the answer is yes; false after the limit. On a busy machine it asks less often: the questions of all who
// wait must not be what the others wait for.
func Until(limit time.Duration, yes func() bool) bool {
	end := time.Now().Add(limit)
	for {
		asked := time.Now()
		if yes() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(max(200*time.Millisecond, 3*time.Since(asked)))
	}
}
