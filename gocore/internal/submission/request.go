// SPDX-License-Identifier: Apache-2.0

// Package submission checks a job before Slurm queues it, as the user who submits:
// what is wrong is said at once and whole, what cannot be asked is skipped with a line.
// The judging is pure (tables of fields in, findings out); registry, cluster, shell and
// files stand behind the interfaces of Deps.
package submission

import (
	"path/filepath"
	"strconv"
	"strings"
)

// hostHead is how much of a job file on standard input the host reads (spank/script.h).
const hostHead = 64 << 10

// Request is what sbatch knows when it asks (include/gocore.h, validate).
type Request struct {
	Tool    string            // sbatch, srun, salloc
	Options map[string]string // the plugin's own, as given: image, workdir, ...
	Sbatch  map[string]string // Slurm's own options by their long names

	Script  string // absolute path of the job file; empty with Stdin or HasWrap
	Stdin   bool   // the job file came by standard input
	Head    string // what of it could still be read
	Whole   bool   // Head is all of it
	HasWrap bool   // sbatch makes the script of Wrap
	Wrap    string

	LegacyScript string // K8S_SCRIPT where the host has read it from the job file
	Directory    string // current directory of the submission
	UID          uint32
	UIDKnown     bool
}

// ParseRequest reads the "key=value" fields of a request. Unknown keys are ignored, the
// last of a key counts.
func ParseRequest(fields []string) Request {
	request := Request{Tool: "sbatch", Options: map[string]string{}, Sbatch: map[string]string{}}
	for _, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			continue
		}
		if name, ok := strings.CutPrefix(key, "option."); ok {
			request.Options[name] = value
			continue
		}
		if name, ok := strings.CutPrefix(key, "sbatch."); ok {
			request.Sbatch[name] = value
			continue
		}
		switch key {
		case "tool":
			request.Tool = value
		case "script":
			request.Script = value
		case "stdin":
			request.Stdin = value == "1"
		case "head":
			request.Head, request.Whole = value, len(value) < hostHead
		case "wrap":
			request.HasWrap, request.Wrap = true, value
		case "legacy_script":
			request.LegacyScript = value
		case "directory":
			request.Directory = value
		case "uid":
			if uid, err := strconv.ParseUint(value, 10, 32); err == nil {
				request.UID, request.UIDKnown = uint32(uid), true
			}
		}
	}
	return request
}

// given returns one of Slurm's options where it carries a value: the words with which
// Slurm prints what was never set count as none.
func (r Request) given(name string) (string, bool) {
	value, ok := r.Sbatch[name]
	value = strings.TrimSpace(value)
	switch value {
	case "", "unset", "(null)", "NULL", "invalid-context-for-get":
		return "", false
	}
	return value, ok
}

// workDirectory is where the job's relative paths start: --chdir, else where sbatch ran.
func (r Request) workDirectory() string {
	if chdir, ok := r.given("chdir"); ok {
		return absolute(chdir, r.Directory)
	}
	return r.Directory
}

// absolute resolves path from directory; "" where the directory is not known.
func absolute(path, directory string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if !filepath.IsAbs(directory) {
		return ""
	}
	return filepath.Join(directory, path)
}
