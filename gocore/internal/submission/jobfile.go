// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"errors"
	"io/fs"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// maxJobFile is how much of a job file is looked at. Slurm takes 4 MB by default, and
// a site may raise it.
const maxJobFile = 16 << 20

// jobFile is a job file, or what of it could be read.
type jobFile struct {
	name  string // for the user
	path  string // to give to a shell; empty: only text is at hand
	text  []byte
	whole bool // text is all of it
	made  bool // by sbatch --wrap
	facts job.File
}

// openJobFile reads the job file of a request; nil where there is none to read.
func openJobFile(r Request, files Files) (*jobFile, []finding) {
	file := &jobFile{}
	switch {
	case r.HasWrap:
		file.name, file.made, file.whole = "--wrap", true, true
		file.text = []byte("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + r.Wrap + "\n")
	case r.Stdin:
		if r.Head == "" {
			return nil, nil // sbatch has read it, and nothing of it is left to look at
		}
		file.name, file.text, file.whole = "standard input", []byte(r.Head), r.Whole
	case r.Script != "":
		text, err := files.Read(r.Script, maxJobFile)
		if err != nil {
			return nil, []finding{fault("%s: the job file %s", shellWord(r.Script), why(err))}
		}
		file.name, file.path, file.text = shellWord(r.Script), r.Script, text
		file.whole = len(text) < maxJobFile
	default:
		return nil, nil
	}
	file.facts = job.Inspect(file.text)
	return file, nil
}

// check judges a job file's form, and asks the shell of one for a Pod about its syntax.
func (f *jobFile) check(ctx context.Context, shells ShellCheck, forPod bool) []finding {
	var findings []finding
	if !f.made {
		for _, text := range f.facts.Faults {
			findings = append(findings, fault("%s: %s", f.name, text))
		}
	}
	if len(findings) > 0 || !forPod {
		return findings // a shell would only say the same in other words
	}
	return f.syntax(ctx, shells)
}

// directives of the file by their long names; the last of a name counts.
func (f *jobFile) directives() map[string]string {
	given := map[string]string{}
	if f == nil || f.made {
		return given
	}
	for _, d := range f.facts.All() {
		given[d.Name] = d.Value
	}
	return given
}

// legacyScript is the command that a job file without one of its own names.
func legacyScript(r Request, f *jobFile, config *site.Config) string {
	switch {
	case r.LegacyScript != "":
		return r.LegacyScript
	case f == nil || !config.LegacyComments || f.facts.HasCommand:
		return ""
	}
	return f.facts.Legacy.Script
}

// checkLegacyScript looks at K8S_SCRIPT. It is a path in the container: what is not to be
// seen from here may well be there.
func checkLegacyScript(script string, r Request, files Files) []finding {
	const flag = "#K8S_SCRIPT"
	if script == "" {
		return nil
	}
	if r.leavesScript() {
		return []finding{fault("%s: not with %s=%s, since it is the script of a Pod: %s (start it by srun)",
			flag, option.Flag(option.Scope), option.ScopeSteps, quote(script))}
	}
	if err := option.CheckScript(script); err != nil {
		return []finding{fault("%s", err)}
	}
	path := absolute(script, r.workDirectory())
	if path == "" {
		return []finding{warning("%s: not checked, the directory of the submission is not known: %s", flag, quote(script))}
	}
	head, err := files.Read(path, 1<<16)
	switch {
	case errors.Is(err, errNotRegular):
		return []finding{fault("%s: is not a regular file: %s", flag, quote(path))}
	case errors.Is(err, fs.ErrPermission):
		return []finding{fault("%s: may not be read by you: %s", flag, quote(path))}
	case err != nil:
		return []finding{warning("%s: not checked, it is not to be seen from here: %s (the job fails if the container does not have it)", flag, quote(path))}
	}
	var findings []finding
	for _, text := range job.Inspect(head).Faults {
		findings = append(findings, fault("%s: %s: %s", flag, text, quote(path)))
	}
	return findings
}
