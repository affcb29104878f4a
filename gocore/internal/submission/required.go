// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"strings"
)

// checkRequired names the options that the site wants of every job and this one lacks. They
// may stand in the job file, in the environment (sbatch has put that into its options) or on
// the command line.
func checkRequired(r Request, directives map[string]string, required []string) []finding {
	var missing []string
	for _, name := range required {
		name = strings.TrimLeft(strings.TrimSpace(name), "-")
		if name == "" || r.has(name) {
			continue
		}
		if _, ok := directives[name]; ok {
			continue
		}
		missing = append(missing, "--"+name)
	}
	if len(missing) == 0 {
		return nil
	}
	return []finding{fault("%s: required by this site and not given (add a line \"#SBATCH %s=...\" to the job file, or give it to %s)",
		strings.Join(missing, ", "), missing[0], r.Tool)}
}

// has says whether an option was given to sbatch, Slurm's or ours.
func (r Request) has(name string) bool {
	if own, ok := strings.CutPrefix(name, "k8s-"); ok {
		_, given := r.Options[own]
		return given
	}
	value, given := r.given(name)
	if name == "nodes" && value == "1-0" {
		return false
	}
	return given
}
