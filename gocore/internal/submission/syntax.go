// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"bytes"
	"context"
	"path"
)

// shellNames are the interpreters that can be asked about syntax with -n, and what keeps
// them from reading files of the user's first.
var shellNames = map[string][]string{
	"sh": nil, "bash": nil, "dash": nil, "ksh": nil, "ksh93": nil, "mksh": nil, "zsh": {"-f"},
}

// interpreter is a shell as the first line of a job file names it.
type interpreter struct {
	path string // where the line says it is; empty after env
	name string
}

// shellOf returns the shell of an interpreter line; false: it is another language, or
// nothing that can be told.
func shellOf(words []string) (interpreter, bool) {
	if len(words) == 0 {
		return interpreter{}, false
	}
	shell := interpreter{path: words[0], name: path.Base(words[0])}
	if shell.name == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
		if len(words) == 0 {
			return interpreter{}, false
		}
		shell = interpreter{name: path.Base(words[0])}
		if path.IsAbs(words[0]) {
			shell.path = words[0]
		}
	}
	_, known := shellNames[shell.name]
	return shell, known
}

// syntax asks the job file's own shell on this machine. The shell that will run it is the
// image's: where another one that the image might have in its place takes the file, that is
// no more than a warning. What cannot be asked here is not worth a line, Slurm itself does
// not check either.
func (f *jobFile) syntax(ctx context.Context, shells ShellCheck) []finding {
	if !f.whole {
		return nil
	}
	shell, ok := shellOf(f.facts.Interpreter)
	if !ok {
		return nil
	}
	found := shells.Find(shell.path, shell.name)
	if found == "" {
		return nil
	}
	said, err := shells.Syntax(ctx, found, shellNames[shell.name], f.path, f.text)
	if err != nil {
		return []finding{warning("%s: syntax not checked, %s gave no answer", f.name, shell.name)}
	}
	if said == "" || f.accepted(ctx, shells, shell.name, found) {
		return nil
	}
	if shell.name == "sh" {
		// /bin/sh is dash on one machine and bash on the next.
		if bash := shells.Find("", "bash"); bash != "" {
			if other, err := shells.Syntax(ctx, bash, nil, f.path, f.text); err == nil && other == "" {
				return []finding{warning("%s: bash takes it, but the sh of this machine does not: %s (begin with #!/bin/bash, unless the image's sh is a bash)", f.name, quote(said))}
			}
		}
	}
	return []finding{fault("%s: syntax error, says %s -n: %s", f.name, shell.name, quote(said))}
}

// accepted asks once more where the file may have switched on syntax that -n cannot know of,
// since it runs nothing.
func (f *jobFile) accepted(ctx context.Context, shells ShellCheck, name, found string) bool {
	if name != "bash" || !bytes.Contains(f.text, []byte("extglob")) {
		return false
	}
	said, err := shells.Syntax(ctx, found, []string{"-O", "extglob"}, f.path, f.text)
	return err == nil && said == ""
}
