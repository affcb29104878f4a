// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// File is what a job file says about itself, read as sbatch reads it (sbatch's opt.c).
type File struct {
	// Interpreter is what follows "#!" on the first line, in words; empty: there is none.
	Interpreter []string
	// Directives are the options of the #SBATCH lines, in order; of a heterogeneous job the first
	// component's. Later are those of the others.
	Directives []Directive
	Later      [][]Directive
	// Legacy has the old comment lines; the last of a kind wins.
	Legacy Legacy
	// HasCommand: a line is there that is neither empty nor a comment.
	HasCommand bool
	// Faults are those for which sbatch refuses the file, each a line without a name.
	Faults []string
}

// Directive is one option of an #SBATCH line.
type Directive struct {
	Name  string // its long name, "time" for -t too
	Value string // what stands behind = or in the same word; else the next word, or ""
	Line  int    // from 1
}

// Legacy are the comment lines of the users' first system.
type Legacy struct {
	Image, Workdir, Script string
}

// Any tells whether one of them is there.
func (l Legacy) Any() bool { return l != Legacy{} }

// Given tells whether an #SBATCH line gives the long option.
func (f File) Given(long string) bool {
	return slices.ContainsFunc(f.All(), func(d Directive) bool { return d.Name == long })
}

// All are the options of all components.
func (f File) All() []Directive {
	return append(slices.Clone(f.Directives), slices.Concat(f.Later...)...)
}

const sbatchMagic = "#SBATCH"

// legacyKeys are the comment lines, in the order of legacyTarget.
var legacyKeys = []string{"K8S_IMAGE", "K8S_WORKDIR", "K8S_SCRIPT"}

// blanks of a legacy line, as in spank/legacy.c.
const blanks = " \t\r\v\f"

func (l *Legacy) target(key int) *string {
	return []*string{&l.Image, &l.Workdir, &l.Script}[key]
}

// Inspect reads a job file, or as much of its head as could be read. Directives and
// legacy lines count up to the first command, as in sbatch.
func Inspect(head []byte) File {
	var f File
	f.faults(head)
	for n := 1; len(head) > 0; n++ {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		text := string(bytes.TrimSuffix(line, []byte("\r")))
		switch {
		case n == 1 && strings.HasPrefix(text, "#!"):
			f.Interpreter = strings.Fields(text[2:])
		case strings.HasPrefix(text, sbatchMagic):
			f.directives(text[len(sbatchMagic):], n)
		case strings.HasPrefix(strings.TrimSpace(text), "#"):
			f.legacy(text)
		case strings.TrimSpace(text) != "":
			f.HasCommand = true
			return f
		}
	}
	return f
}

// directives takes the rest of an #SBATCH line, which may begin another component.
func (f *File) directives(text string, line int) {
	if words := strings.Fields(text); len(words) > 0 && (words[0] == "hetjob" || words[0] == "packjob") {
		f.Later = append(f.Later, nil)
	}
	to := &f.Directives
	if last := len(f.Later) - 1; last >= 0 {
		to = &f.Later[last]
	}
	*to = append(*to, directives(text, line)...)
}

// faults are sbatch's own reasons to refuse, in its order, and an empty "#!".
func (f *File) faults(head []byte) {
	add := func(format string, args ...any) { f.Faults = append(f.Faults, fmt.Sprintf(format, args...)) }
	lineOf := func(at int) int { return 1 + bytes.Count(head[:at], []byte("\n")) }
	first, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case len(head) == 0:
		add("the job file is empty")
		return
	case len(bytes.TrimSpace(head)) == 0:
		add("the job file has nothing but white space")
		return
	case !bytes.HasPrefix(first, []byte("#!")):
		add("the job file has no interpreter line: the first line must begin with #! and a path, as in #!/bin/bash")
	case len(bytes.TrimSpace(first[2:])) == 0:
		add("the job file's first line has no path after #!")
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		add("the job file has a NUL byte in line %d", lineOf(at))
	}
	if at := bytes.Index(head, []byte("\r\n")); at >= 0 {
		add("the job file has DOS line endings (\\r\\n) in line %d: convert it, for instance by dos2unix", lineOf(at))
	}
}

// legacy takes one comment line; what it is not is left alone. Blanks around "#" and "=" do not
// matter, as to the plugin, which reads these lines in sbatch (spank/legacy.c).
func (f *File) legacy(line string) {
	text := strings.Trim(strings.TrimPrefix(strings.Trim(line, blanks), "#"), blanks)
	for i, key := range legacyKeys {
		rest, found := strings.CutPrefix(text, key)
		if value, given := strings.CutPrefix(strings.TrimLeft(rest, blanks), "="); found && given {
			*f.Legacy.target(i) = unquoted(value)
		}
	}
}

// unquoted is the value of a legacy line: blanks around it, and a pair of quotes, go.
func unquoted(value string) string {
	value = strings.Trim(value, blanks)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}
