// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShellOf(t *testing.T) {
	for line, want := range map[string]struct {
		path, name string
		ok         bool
	}{
		"/bin/bash":              {"/bin/bash", "bash", true},
		"/bin/sh -e":             {"/bin/sh", "sh", true},
		"/usr/bin/env bash":      {"", "bash", true},
		"/usr/bin/env -S zsh -f": {"", "zsh", true},
		"/usr/bin/env":           {"/usr/bin/env", "env", false},
		"/usr/bin/env -S":        {"/usr/bin/env", "env", false},
		"/usr/bin/python3":       {"/usr/bin/python3", "python3", false},
		"":                       {"", "", false},
	} {
		got, ok := shellOf(strings.Fields(line))
		assert.Equal(t, want.ok, ok, line)
		if ok {
			assert.Equal(t, interpreter{want.path, want.name}, got, line)
		}
	}
}

func TestSyntaxAsksWhatCanBeKnown(t *testing.T) {
	both := map[string]string{"bash": "bash says no", "sh": "sh says no"}
	for _, test := range []struct {
		name, text string
		here       map[string]string
		err        error
		whole      bool
		fault      string
		warning    string
		asked      []string
	}{
		{name: "good", text: "#!/bin/bash\n", here: both, whole: true, asked: []string{"/bin/bash "}},
		{name: "bad", text: "#!/bin/bash\nBROKEN", here: both, whole: true, fault: "bash says no", asked: []string{"/bin/bash "}},
		{name: "extglob", text: "#!/bin/bash\nshopt -s extglob\nBROKEN", here: both, whole: true, asked: []string{"/bin/bash ", "/bin/bash -O extglob "}},
		{name: "sh and bash refuse", text: "#!/bin/sh\nBROKEN", here: both, whole: true, fault: "sh says no", asked: []string{"/bin/sh ", "/bin/bash "}},
		{name: "bash takes what sh refuses", text: "#!/bin/sh\nBROKEN", here: map[string]string{"bash": "", "sh": "sh says no"}, whole: true, warning: "bash takes it", asked: []string{"/bin/sh ", "/bin/bash "}},
		{name: "not all of it", text: "#!/bin/bash\nBROKEN", here: both},
		{name: "no answer", text: "#!/bin/bash\n", here: both, err: errFake, whole: true, warning: "syntax not checked", asked: []string{"/bin/bash "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, config, deps := world()
			var asked []string
			deps.Shell = fakeShells{here: test.here, asked: &asked, err: test.err}
			request.Script, request.Stdin, request.Head, request.Whole = "", true, test.text, test.whole
			got := Check(t.Context(), request, config, deps)
			one(t, test.fault, got.Faults)
			one(t, test.warning, got.Warnings)
			assert.Equal(t, test.asked, asked)
		})
	}
}

func TestCheckWrap(t *testing.T) {
	request, config, deps := world()
	request.Script, request.HasWrap, request.Wrap = "", true, "hostname"
	assert.Equal(t, Result{}, Check(t.Context(), request, config, deps))
	request.Wrap = "BROKEN"
	one(t, `--wrap: syntax error, says sh -n: "2: Syntax error"`, Check(t.Context(), request, config, deps).Faults)
}

// The real shells of this machine.
func TestLocalShell(t *testing.T) {
	directory := t.TempDir()
	canary := filepath.Join(directory, "canary")
	t.Setenv("BASH_ENV", filepath.Join(directory, "env"))
	t.Setenv("ENV", filepath.Join(directory, "env"))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "env"), []byte("touch "+canary+"\n"), 0o600))
	for _, name := range []string{"sh", "bash", "dash"} {
		shell := LocalShell{}.Find("/nowhere/"+name, name)
		if shell == "" {
			require.NotEqual(t, "sh", name, "a machine without a shell")
			continue
		}
		for text, good := range map[string]bool{
			"#!/bin/sh\necho hello; touch " + canary + "\n": true,
			"#!/bin/sh\nif true; then\n":                    false,
			"#!/bin/sh\nfor i in 1; do\ndone\nfi\n":         false,
		} {
			file := filepath.Join(directory, "job.sh")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			byFile, err := LocalShell{}.Syntax(t.Context(), shell, nil, file, nil)
			require.NoError(t, err)
			byText, err := LocalShell{}.Syntax(t.Context(), shell, nil, "", []byte(text))
			require.NoError(t, err)
			assert.Equal(t, good, byFile == "", "%s: %s: %s", name, text, byFile)
			assert.Equal(t, good, byText == "", "%s: %s: %s", name, text, byText)
			assert.NotContains(t, byFile, "\n")
		}
	}
	assert.NoFileExists(t, canary, "nothing of the file runs")
}

func TestLocalShellIsKilled(t *testing.T) {
	directory := t.TempDir()
	slow := filepath.Join(directory, "slow")
	require.NoError(t, os.WriteFile(slow, []byte("#!/bin/sh\nsleep 60\n"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := LocalShell{}.Syntax(ctx, slow, nil, "", nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestLocalFiles(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "a")
	require.NoError(t, os.WriteFile(file, []byte("hello"), 0o600))
	assert.NoError(t, LocalFiles{}.Writable(directory))
	assert.NoError(t, LocalFiles{}.Writable(file))
	assert.Error(t, LocalFiles{}.Writable(filepath.Join(directory, "none")))
	text, err := LocalFiles{}.Read(file, 3)
	require.NoError(t, err)
	assert.Equal(t, "hel", string(text))
	_, err = LocalFiles{}.Read(directory, 3)
	assert.ErrorIs(t, err, errNotRegular)
	_, err = LocalFiles{}.Read("/dev/null", 3)
	assert.ErrorIs(t, err, errNotRegular)
	_, err = LocalFiles{}.Read(filepath.Join(directory, "none"), 3)
	assert.Equal(t, "does not exist", why(err))
	_, err = LocalFiles{}.Read(filepath.Join(file, "none"), 3)
	assert.Contains(t, why(err), "no directory")
}
