// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
)

// An srun, sbatch or salloc that a task called in its Pod ran on the Slurm node. It carried the
// caller's variables under a prefix, since the image's must not rule there, and said where it
// was called (include/commands.h).
const (
	carriedPrefix   = "SLURM_K8S_ENV_"
	insidePrefix    = "SLURM_K8S_INSIDE_"
	insideImage     = insidePrefix + "IMAGE"
	insideDirectory = insidePrefix + "DIRECTORY"
	insideExport    = insidePrefix + "EXPORT"
)

// Inside is what a command that is called in this job's Pod knows of it.
func (j Job) Inside() []string { return []string{insideImage + "=" + j.Options.Image} }

// InsideDirectory is where the command that made this step or job was called, if that was in a
// Pod. It is the directory to start in, as far as the image has it.
func InsideDirectory(env []string) string {
	directory := lookup(env, insideDirectory)
	if directory == "" || option.CheckWorkdir(directory) != nil {
		return ""
	}
	return directory
}

// withCarried adds what the caller's Pod had to what passes from the Slurm node: `kept` of `env`.
// In Pods of the same image that is all of it, of another image what would pass from a Slurm
// node too. What srun was told to export is not overruled.
func (j Job) withCarried(kept, env []string) []string {
	kept = slices.DeleteFunc(kept, func(entry string) bool {
		return strings.HasPrefix(entry, carriedPrefix) || strings.HasPrefix(entry, insidePrefix)
	})
	export := readExport(lookup(env, insideExport))
	sameImage := lookup(env, insideImage) == j.Options.Image
	at := make(map[string]int, len(kept))
	for i, entry := range kept {
		name, _, _ := strings.Cut(entry, "=")
		at[name] = i
	}
	for _, entry := range env {
		entry, carried := strings.CutPrefix(entry, carriedPrefix)
		name, _, found := strings.Cut(entry, "=")
		if !carried || !found || name == "" || strings.IndexByte(entry, 0) >= 0 || !export.passes(name) || !travels(name, sameImage) {
			continue
		}
		if i, there := at[name]; there {
			kept[i] = entry
			continue
		}
		at[name] = len(kept)
		kept = append(kept, entry)
	}
	return kept
}

// ofPod are variables of one Pod or one shell in it, wherever its image runs.
var ofPod = []string{"HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_"}

// travels says whether a variable means the same in another Pod.
func travels(name string, sameImage bool) bool {
	reason := Dropped(name)
	switch {
	case slices.Contains(ofPod, name), strings.HasPrefix(name, "SLURM_"), strings.HasPrefix(name, "SLURMD_"), reason == devices, reason == kubernetes, reason == spank:
		return false
	}
	return sameImage || reason == ""
}

// export is what of the caller's environment --export lets pass.
type export struct {
	all   bool
	names []string // where not all
	given []string // with a value of its own
}

// readExport reads the list of --export: ALL, NONE, NIL, NAME or NAME=VALUE, comma between.
func readExport(text string) export {
	if text == "" {
		return export{all: true}
	}
	var e export
	for item := range strings.SplitSeq(text, ",") {
		name, _, valued := strings.Cut(item, "=")
		switch {
		case valued:
			e.given = append(e.given, name)
		case strings.EqualFold(item, "ALL"):
			e.all = true
		case strings.EqualFold(item, "NONE"), strings.EqualFold(item, "NIL"):
		default:
			e.names = append(e.names, name)
		}
	}
	return e
}

func (e export) passes(name string) bool {
	return !slices.Contains(e.given, name) && (e.all || slices.Contains(e.names, name))
}

// lookup is the first value of a variable, or "".
func lookup(env []string, name string) string {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}
