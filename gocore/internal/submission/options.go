// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"fmt"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Wanted says whether the request has anything to do with Pods.
func (r Request) Wanted() bool { return len(r.Options) > 0 && r.Options[option.Image] != option.None }

// leavesScript says whether the script stays on the Slurm node, and only its steps go to Pods.
func (r Request) leavesScript() bool { return r.Options[option.Scope] == option.ScopeSteps }

// checkOptions judges the plugin's own options; imageOK says that the image's form is right,
// so that its registry may be asked.
func checkOptions(r Request, config *site.Config) (findings []finding, imageOK bool) {
	image, hasImage := r.Options[option.Image]
	if hasImage {
		if _, err := option.Resolve(image, config.Registries); err != nil {
			findings = append(findings, fault("%s", err))
		} else {
			imageOK = true
		}
	}
	for _, name := range option.Names[1:] {
		value, given := r.Options[name]
		if !given {
			continue
		}
		if err := checkOption(name, value, config); err != nil {
			findings = append(findings, fault("%s", err))
		}
		if !hasImage && name != option.Join {
			findings = append(findings, fault("%s: has no effect without %s: %s (give an image, or leave the option out)",
				option.Flag(name), option.Flag(option.Image), quote(value)))
		}
	}
	return findings, imageOK
}

func checkOption(name, value string, config *site.Config) error {
	switch name {
	case option.NodeSelector:
		return option.CheckNodeSelector(value, config.Placement)
	case option.Cluster:
		return option.CheckCluster(value, config)
	case option.Join:
		return fmt.Errorf("%s: only srun joins a running job: srun --jobid=JOB --overlap %s: %s", option.Flag(name), option.Flag(name), quote(value))
	}
	return option.Check(name, value)
}

// checkUser refuses root: nothing in a Pod of ours runs with uid 0.
func checkUser(r Request) []finding {
	if !r.UIDKnown || r.UID != 0 {
		return nil
	}
	return []finding{fault("%s: not for root: uid 0 (submit as the user the job belongs to, or with sbatch --uid=USER)", option.Flag(option.Image))}
}
