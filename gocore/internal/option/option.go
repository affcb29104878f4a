// SPDX-License-Identifier: Apache-2.0

// Package option checks the values of the plugin's own options. The same checks run as
// the user in sbatch and again as root in slurmstepd, since environment and REST
// submissions pass sbatch by. Pure.
package option

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of the options as they stand in requests (option.NAME).
const (
	Image        = "image"
	Workdir      = "workdir"
	Scope        = "scope"
	Rendezvous   = "rendezvous"
	NodeSelector = "node-selector"
	PullSecret   = "pull-secret"
	Mount        = "mount"
	PVC          = "pvc"
	Join         = "join"
	Cluster      = "cluster"
)

// Names are all of them.
var Names = []string{Image, Workdir, Scope, Rendezvous, NodeSelector, PullSecret, Mount, PVC, Join, Cluster}

// None, for an image, is no Pod: the plugin leaves such a job or step alone.
const None = "none"

// What of a batch job goes to Pods.
const (
	ScopeJob   = "job"   // its script
	ScopeSteps = "steps" // the steps of its script, which stays on the Slurm node
)

// choices are the values of the options that take one of a few words.
var choices = map[string][]string{
	Scope:      {ScopeJob, ScopeSteps},
	Rendezvous: {"none", "pytorch"},
}

// Flag is an option as the user types it.
func Flag(name string) string { return "--k8s-" + name }

// Variable is an option's equivalent in the environment.
func Variable(name string) string {
	return "SLURM_K8S_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// maxQuoted bounds what of a bad value is repeated to the user.
const maxQuoted = 200

// fault is one line: option, cause, the value quoted.
func fault(flag, value, format string, args ...any) error {
	if len(value) > maxQuoted {
		cut := maxQuoted
		for cut > 0 && !utf8.RuneStart(value[cut]) {
			cut--
		}
		value = value[:cut] + "..."
	}
	return fmt.Errorf("%s: %s: %q", flag, fmt.Sprintf(format, args...), value)
}

// common is what no value may be: empty, an option that was swallowed, or more than a line.
func common(flag, value string) error {
	switch {
	case value == "":
		return errors.New(flag + ": a value is missing")
	case strings.HasPrefix(value, "-"):
		// getopt gives "-n1" to the --k8s-image of "--k8s-image -n1".
		return fault(flag, value, "the value starts with \"-\" (did you forget it? An option without a value takes the next word)")
	case strings.ContainsFunc(value, isControl):
		return fault(flag, value, "the value has a control character")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// CheckWorkdir wants an absolute path that the kernel would take: below PATH_MAX, which
// counts the NUL.
func CheckWorkdir(value string) error {
	flag := Flag(Workdir)
	if err := common(flag, value); err != nil {
		return err
	}
	if !strings.HasPrefix(value, "/") {
		return fault(flag, value, "not an absolute path (it is a directory in the container)")
	}
	return checkPath(flag, value)
}

// Check checks the value of one of the options by its name, but for what only the site knows.
func Check(name, value string) (err error) {
	switch name {
	case Image:
		return CheckImage(value)
	case Workdir:
		return CheckWorkdir(value)
	case NodeSelector:
		_, err = ParseNodeSelector(value)
	case PullSecret:
		return CheckPullSecret(value)
	case Mount:
		_, err = ParseMounts(value)
	case PVC:
		_, err = ParseClaim(value)
	case Cluster:
		return checkClusterName(value)
	default:
		return CheckChoice(name, value)
	}
	return err
}

// CheckChoice wants one of the few words that the option takes.
func CheckChoice(name, value string) error {
	flag, words := Flag(name), choices[name]
	if err := common(flag, value); err != nil {
		return err
	}
	if !slices.Contains(words, value) {
		return fault(flag, value, "must be %s", strings.Join(words, " or "))
	}
	return nil
}

// JoinBatch, for a join, is the batch script's container; else it is a step's by number.
const JoinBatch = "batch"

// firstOwnStep: steps from here on are Slurm's own (slurm.h: BATCH, EXTERN, INTERACTIVE).
const firstOwnStep = 0xfffffff0

// CheckJoin wants what a step can join.
func CheckJoin(value string) error {
	flag := Flag(Join)
	if err := common(flag, value); err != nil {
		return err
	}
	if n, err := strconv.ParseUint(value, 10, 32); value == JoinBatch || err == nil && n < firstOwnStep && strconv.FormatUint(n, 10) == value {
		return nil
	}
	return fault(flag, value, "must be a step's number, or %s or nothing for the job's script", JoinBatch)
}

// CheckScript checks #K8S_SCRIPT=: a path in the container.
func CheckScript(value string) error {
	const flag = "#K8S_SCRIPT"
	if err := common(flag, value); err != nil {
		return err
	}
	return checkPath(flag, value)
}

func checkPath(flag, value string) error {
	const pathMax = 4096
	if len(value) >= pathMax {
		return fault(flag, value, "a path of %d bytes, at most %d are possible", len(value), pathMax-1)
	}
	return nil
}
