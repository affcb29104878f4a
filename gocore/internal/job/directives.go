// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"

	"github.com/mattn/go-shellwords"
)

// shortOptions are sbatch's, by their long names (slurm_opt.c, 22.05 to 26.05).
var shortOptions = map[byte]string{
	'a': "array", 'A': "account", 'b': "begin", 'B': "extra-node-info", 'c': "cpus-per-task", 'C': "constraint",
	'd': "dependency", 'D': "chdir", 'e': "error", 'F': "nodefile", 'G': "gpus", 'H': "hold", 'i': "input",
	'J': "job-name", 'k': "no-kill", 'L': "licenses", 'm': "distribution", 'M': "clusters", 'n': "ntasks",
	'N': "nodes", 'o': "output", 'O': "overcommit", 'p': "partition", 'q': "qos", 'Q': "quiet",
	's': "oversubscribe", 'S': "core-spec", 't': "time", 'v': "verbose", 'w': "nodelist", 'W': "wait", 'x': "exclude",
}

// withoutValue are the short options that take none, or only one in the same word.
const withoutValue = "HkOQsvW"

// words splits the rest of an #SBATCH line. Nothing in it is run or expanded, and the
// shell's separators are plain characters, as for sbatch.
func words(text string) []string {
	parser := shellwords.NewParser()
	parser.ParseEnv, parser.ParseBacktick, parser.ParseComment = false, false, true
	parser.SetExcludeSeparators(';', '&', '|', '<', '>', '(', ')', '`', '$')
	list, err := parser.Parse(text)
	if err != nil { // an open quote: sbatch refuses it itself
		return strings.Fields(text)
	}
	return list
}

// directives are the options in the rest of an #SBATCH line.
func directives(text string, line int) []Directive {
	list := words(text)
	var all []Directive
	for i := 0; i < len(list); i++ {
		word := list[i]
		d := Directive{Line: line}
		joined := true // the value cannot be the next word
		switch {
		case strings.HasPrefix(word, "--") && len(word) > 2:
			d.Name, d.Value, joined = strings.Cut(word[2:], "=")
		case len(word) >= 2 && word[0] == '-' && shortOptions[word[1]] != "":
			d.Name = shortOptions[word[1]]
			d.Value = word[2:]
			joined = d.Value != "" || strings.IndexByte(withoutValue, word[1]) >= 0
		default:
			continue
		}
		if !joined && i+1 < len(list) && !strings.HasPrefix(list[i+1], "-") {
			d.Value = list[i+1]
			i++
		}
		all = append(all, d)
	}
	return all
}
