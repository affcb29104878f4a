// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/submission"
)

// maxHead is what is read of a job file for its #SBATCH lines, as much as Slurm takes in all.
const maxHead = 4 << 20

// validate checks a job file that is not submitted. It exits with 1 where sbatch would refuse.
func validate(ctx context.Context, arguments []string, out, faults io.Writer) int {
	flags := newFlags("validate", faults)
	path := flags.String("config", defaultConfig, "the site's configuration, a `FILE` (default: "+defaultConfig+")")
	given := ownFlags(flags)
	if code, done := parse(flags, arguments, out, faults); done {
		return code
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(faults, "slurm-k8s validate: one job file is wanted (try: slurm-k8s validate --help)")
		return exitUsage
	}
	config, err := site.Load(*path)
	if err != nil {
		return complain(faults, "validate", err.Error())
	}
	request, refused, err := requestOf(flags.Arg(0), config, ownGiven(flags, given))
	if err != nil {
		return complain(faults, "validate", err.Error())
	}
	if !request.Wanted() {
		fmt.Fprintf(out, "%s: has no %s, the job would not run in a Pod: nothing to check\n", flags.Arg(0), option.Flag(option.Image))
		return exitOK
	}
	result := submission.Check(ctx, request, config, submission.LocalDeps(config, submission.ShapesOf(request.Places(config), shapesOf)))
	result.Faults = append(refused, result.Faults...)
	return tell(result, flags.Arg(0), out, faults)
}

// ownFlags are the plugin's options as flags of a command.
func ownFlags(flags *flag.FlagSet) map[string]*string {
	given := map[string]*string{}
	for name, about := range map[string]string{
		option.Image:        "as of sbatch: the `IMAGE` of the Pod",
		option.Workdir:      "as of sbatch: a `DIRECTORY` in the container",
		option.Scope:        "as of sbatch: what goes to Pods, `job|steps`",
		option.Rendezvous:   "as of sbatch: how tasks find each other, `none|pytorch`",
		option.NodeSelector: "as of sbatch: labels of Kubernetes nodes, `KEY=VALUE,...`",
		option.PullSecret:   "as of sbatch: a Docker configuration, `FILE`",
		option.Mount:        "as of sbatch: volumes of the site, `NAME[:PATH][:ro],...`",
		option.PVC:          "as of sbatch: a volume for the Pod, `SIZE[:CLASS][:PATH][:keep]|job:ID[:PATH]`",
		option.Cluster:      "as of sbatch: the site's Kubernetes cluster, `NAME|auto`",
	} {
		given[name] = flags.String("k8s-"+name, "", about)
	}
	return given
}

// ownGiven are those of the plugin's options that the command line has.
func ownGiven(flags *flag.FlagSet, values map[string]*string) map[string]string {
	given := map[string]string{}
	for name, value := range values {
		if isSet(flags, "k8s-"+name) {
			given[name] = *value
		}
	}
	return given
}

// tell prints a check's result.
func tell(result submission.Result, file string, out, faults io.Writer) int {
	for _, text := range result.Warnings {
		fmt.Fprintln(faults, "slurm-k8s: warning: "+text)
	}
	if result.Refused() {
		return complain(faults, "", result.Faults...)
	}
	fmt.Fprintf(out, "%s: may be submitted\n", file)
	return exitOK
}

// requestOf is what sbatch would ask of the check for a job file: Slurm's options and ours
// from its #SBATCH lines, ours also from old comment lines where the site allows them, from
// the environment, and from the command line (given). Who runs this is not who submits: the
// user is not checked. refused is what the plugin says before it asks for the check.
func requestOf(file string, config *site.Config, given map[string]string) (_ submission.Request, refused []string, _ error) {
	directory, err := os.Getwd()
	if err != nil {
		return submission.Request{}, nil, fmt.Errorf("the current directory is not known: %w", err)
	}
	script := file
	if !filepath.IsAbs(script) {
		script = filepath.Join(directory, script)
	}
	request := submission.Request{
		Tool: "sbatch", Script: script, Directory: directory,
		Options: map[string]string{}, Sbatch: map[string]string{},
	}
	head, err := submission.LocalFiles{}.Read(script, maxHead)
	if err != nil {
		return request, nil, fmt.Errorf("the job file cannot be read: %w", err)
	}
	typed := map[string]bool{}
	take := func(name, value string, byHand bool) { request.Options[name], typed[name] = value, byHand }
	facts := job.Inspect(head)
	if config.LegacyComments {
		for name, value := range map[string]string{option.Image: facts.Legacy.Image, option.Workdir: facts.Legacy.Workdir} {
			if value != "" {
				take(name, value, false)
			}
		}
	}
	for _, directive := range facts.Directives {
		if own, ok := strings.CutPrefix(directive.Name, "k8s-"); ok {
			take(own, directive.Value, true)
		} else {
			request.Sbatch[directive.Name] = directive.Value
		}
	}
	for _, name := range option.Names {
		if value := os.Getenv(option.Variable(name)); value != "" && name != option.Join { // that has none
			take(name, value, false)
		}
	}
	for name, value := range given {
		take(name, value, true)
	}
	// What is set for all jobs of a shell does nothing without an image, as in sbatch; what was typed is a fault.
	if _, hasImage := request.Options[option.Image]; !hasImage {
		maps.DeleteFunc(request.Options, func(name, _ string) bool { return !typed[name] })
	}
	return request, refusedBefore(request, facts.Later), nil
}

// refusedBefore are the faults that the plugin finds in sbatch by itself (spank/submit.c, component_options.c).
func refusedBefore(request submission.Request, later [][]job.Directive) (faults []string) {
	if _, given := request.Sbatch["container"]; given {
		faults = append(faults, option.Flag(option.Image)+" and --container exclude each other")
	}
	for i, directives := range later {
		for _, directive := range directives {
			name, own := strings.CutPrefix(directive.Name, "k8s-")
			first, given := request.Options[name]
			if !own || name == option.Join || given && first == directive.Value || os.Getenv(option.Variable(name)) != "" {
				continue // the same, or the environment's word counts for all
			}
			faults = append(faults, fmt.Sprintf("%s: sbatch can give a job only its first component's: give it to the script's srun --het-group=%d, or set %s_HET_GROUP_%d for sbatch",
				option.Flag(name), i+1, option.Variable(name), i+1))
		}
	}
	return faults
}
