// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
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
	path := flags.String("config", defaultConfig, "the site's configuration, a `FILE`")
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
	request, err := requestOf(flags.Arg(0), config)
	if err != nil {
		return complain(faults, "validate", err.Error())
	}
	for name, value := range given {
		if isSet(flags, "k8s-"+name) {
			request.Options[name] = *value
		}
	}
	if !request.Wanted() {
		fmt.Fprintf(out, "%s: has no %s, the job would not run in a Pod: nothing to check\n", flags.Arg(0), option.Flag(option.Image))
		return exitOK
	}
	return tell(submission.Check(ctx, request, config, submission.LocalDeps(config, submission.ShapesOf(request.Places(config), shapesOf))), flags.Arg(0), out, faults)
}

// ownFlags are the plugin's options as flags of a command.
func ownFlags(flags *flag.FlagSet) map[string]*string {
	given := map[string]*string{}
	for name, about := range map[string]string{
		option.Image:        "as of sbatch: the `IMAGE` of the Pod",
		option.Workdir:      "as of sbatch: a `DIRECTORY` in the container",
		option.Scope:        "as of sbatch: `job|steps`",
		option.Rendezvous:   "as of sbatch: `none|pytorch`",
		option.NodeSelector: "as of sbatch: labels of Kubernetes nodes, `KEY=VALUE,...`",
		option.PullSecret:   "as of sbatch: a Docker configuration, `FILE`",
		option.Mount:        "as of sbatch: volumes of the site, `NAME[:PATH][:ro],...`",
		option.PVC:          "as of sbatch: a volume for the Pod, `SIZE[:CLASS][:PATH]`",
		option.Cluster:      "as of sbatch: the site's Kubernetes cluster, `NAME|auto`",
	} {
		given[name] = flags.String("k8s-"+name, "", about)
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
// from its #SBATCH lines, ours also from old comment lines where the site allows them, and
// from the environment. Who runs this is not who submits: the user is not checked.
func requestOf(file string, config *site.Config) (submission.Request, error) {
	directory, err := os.Getwd()
	if err != nil {
		return submission.Request{}, fmt.Errorf("the current directory is not known: %w", err)
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
		return request, fmt.Errorf("the job file cannot be read: %w", err)
	}
	facts := job.Inspect(head)
	if config.LegacyComments {
		for name, value := range map[string]string{option.Image: facts.Legacy.Image, option.Workdir: facts.Legacy.Workdir} {
			if value != "" {
				request.Options[name] = value
			}
		}
	}
	for _, directive := range facts.Directives {
		if own, ok := strings.CutPrefix(directive.Name, "k8s-"); ok {
			request.Options[own] = directive.Value
		} else {
			request.Sbatch[directive.Name] = directive.Value
		}
	}
	for _, name := range option.Names {
		if value := os.Getenv(option.Variable(name)); value != "" {
			request.Options[name] = value
		}
	}
	return request, nil
}
