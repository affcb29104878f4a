// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"os"
	"path/filepath"
	"strings"
)

// pluginFile is how the plugin is called in plugstack.conf.
const pluginFile = "spank_k8s.so"

// maxIncludes bounds the files that a plugstack.conf includes: it may include itself.
const maxIncludes = 64

// Line is the plugin's line in plugstack.conf (Slurm's spank(8)).
type Line struct {
	Required  bool
	Path      string            // of the plugin, as it stands there
	Arguments map[string]string // config, libexec, state
	File      string            // where the line is
}

// FindLines reads plugstack.conf at path and what it includes, and gives the lines of the plugin.
func FindLines(path string) ([]Line, error) {
	var lines []Line
	seen := 0
	var read func(path string) error
	read = func(path string) error {
		if seen++; seen > maxIncludes {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(text), "\n") {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			switch {
			case len(words) < 2:
			case words[0] == "include":
				pattern := words[1]
				if !filepath.IsAbs(pattern) {
					pattern = filepath.Join(filepath.Dir(path), pattern)
				}
				found, err := filepath.Glob(pattern)
				if err != nil {
					return err
				}
				for _, other := range found {
					if err := read(other); err != nil {
						return err
					}
				}
			case filepath.Base(words[1]) == pluginFile:
				lines = append(lines, Line{Required: words[0] == "required", Path: words[1], Arguments: arguments(words[2:]), File: path})
			}
		}
		return nil
	}
	err := read(path)
	return lines, err
}

// arguments of a line, KEY=VALUE each.
func arguments(words []string) map[string]string {
	found := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		found[key] = value
	}
	return found
}
