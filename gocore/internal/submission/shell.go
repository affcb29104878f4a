// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bounds of a shell that is asked about syntax.
const (
	shellOutput = 4 << 10
	shellWait   = 100 * time.Millisecond
)

// shellDirectories are looked through for a shell that "#!/usr/bin/env bash" names.
var shellDirectories = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// LocalShell runs the shells of this machine.
type LocalShell struct{}

var _ ShellCheck = LocalShell{}

// Find implements ShellCheck.
func (LocalShell) Find(path, name string) string {
	if filepath.IsAbs(path) && executable(path) {
		return path
	}
	for _, directory := range shellDirectories {
		if candidate := filepath.Join(directory, name); executable(candidate) {
			return candidate
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// Syntax implements ShellCheck. The shell is in a process group of its own, which is killed
// when ctx ends. Its environment is empty but for two variables: BASH_ENV and ENV would be read.
func (LocalShell) Syntax(ctx context.Context, shell string, flags []string, path string, text []byte) (string, error) {
	arguments := append(append([]string{}, flags...), "-n")
	if path != "" {
		arguments = append(arguments, path)
	}
	command := exec.CommandContext(ctx, shell, arguments...)
	command.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = shellWait
	if path == "" {
		command.Stdin = bytes.NewReader(text)
	}
	said := &bounded{limit: shellOutput}
	command.Stderr = said
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.As(err, &exit) || !exit.Exited():
		return "", err
	}
	first := firstLine(said.String())
	if first == "" {
		return "", err
	}
	return strings.TrimPrefix(first, path+": "), nil
}

// firstLine is the first line that says something.
func firstLine(text string) string {
	for one := range strings.Lines(text) {
		if one = strings.TrimSpace(one); one != "" {
			return one
		}
	}
	return ""
}

// bounded keeps the first bytes written to it and swallows the rest.
type bounded struct {
	bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
