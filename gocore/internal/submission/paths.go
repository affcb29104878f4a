// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// checkPaths looks at the files that Slurm will open for the job: the directories of --output
// and --error, and the file of --input, from --chdir or the directory of the submission.
func checkPaths(r Request, files Files) []finding {
	var findings []finding
	directory := r.workDirectory()
	if chdir, ok := r.given("chdir"); ok {
		if f, bad := checkDirectory("--chdir", chdir, directory, files); bad {
			return []finding{f} // all the others would only repeat it
		}
	}
	for _, name := range []string{"output", "error"} {
		value, ok := r.given(name)
		if !ok {
			continue
		}
		parent := filepath.Dir(value)
		if hasPattern(parent) {
			continue
		}
		path := absolute(parent, directory)
		if path == "" {
			continue
		}
		f, bad := checkDirectory("--"+name, value, path, files)
		if !bad {
			f, bad = checkWritable("--"+name, value, path, files)
		}
		if bad {
			findings = append(findings, f)
		}
	}
	if value, ok := r.given("input"); ok && !hasPattern(value) {
		findings = append(findings, checkInput(value, absolute(value, directory), files)...)
	}
	return findings
}

// checkDirectory wants a directory at path; value is what the user wrote.
func checkDirectory(flag, value, path string, files Files) (finding, bool) {
	info, err := files.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return finding{}, false
	case err == nil:
		return fault("%s: %s is not a directory: %s", flag, quote(path), quote(value)), true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault("%s: the directory %s does not exist: %s (mkdir -p %s)", flag, quote(path), quote(value), shellWord(path)), true
	case errors.Is(err, fs.ErrPermission):
		return fault("%s: the directory %s may not be entered by you: %s", flag, quote(path), quote(value)), true
	}
	return warning("%s: not checked, the directory %s %s", flag, quote(path), why(err)), true
}

// checkWritable wants a file that the user may write or make: value, in the directory. A file
// that is there already may be written in a directory that may not: /dev/null.
func checkWritable(flag, value, directory string, files Files) (finding, bool) {
	name, what := filepath.Base(value), "the directory"
	target := directory
	if !hasPattern(name) {
		file := filepath.Join(directory, name)
		if info, err := files.Stat(file); err == nil {
			if info.IsDir() {
				return fault("%s: is a directory: %s (give a file)", flag, quote(value)), true
			}
			target, what = file, "the file"
		}
	}
	switch err := files.Writable(target); {
	case errors.Is(err, syscall.EROFS):
		return warning("%s: %s %s is on a file system that is read-only on this machine: %s", flag, what, quote(target), quote(value)), true
	case errors.Is(err, fs.ErrPermission):
		return fault("%s: %s %s may not be written by you: %s", flag, what, quote(target), quote(value)), true
	}
	return finding{}, false
}

// checkInput wants something at --input that can be read. A device or pipe will do.
func checkInput(value, path string, files Files) []finding {
	if path == "" {
		return nil
	}
	info, err := files.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return []finding{fault("--input: is a directory: %s (give the file that the job shall read)", quote(value))}
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return []finding{fault("--input: does not exist: %s (looked for %s)", quote(value), quote(path))}
	case errors.Is(err, fs.ErrPermission):
		return []finding{fault("--input: %s: %s", why(err), quote(value))}
	}
	return []finding{warning("--input: not checked, %s %s", quote(path), why(err))}
}

// hasPattern says whether Slurm will replace something in a file name: %j and the like.
func hasPattern(path string) bool { return strings.ContainsAny(path, "%\\") }

// shellWord is a path as one could paste it into a shell.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
