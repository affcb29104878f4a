// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
)

// wanted says whether the request has anything to do with Pods.
func (r Request) wanted() bool { return len(r.Options) > 0 }

// checkOptions judges the plugin's own options; imageOK says that the image's form is right,
// so that its registry may be asked.
func checkOptions(r Request) (findings []finding, imageOK bool) {
	image, hasImage := r.Options[option.Image]
	workdir, hasWorkdir := r.Options[option.Workdir]
	if hasImage {
		if err := option.CheckImage(image); err != nil {
			findings = append(findings, fault("%s", err))
		} else {
			imageOK = true
		}
	}
	if hasWorkdir {
		if err := option.CheckWorkdir(workdir); err != nil {
			findings = append(findings, fault("%s", err))
		}
		if !hasImage {
			findings = append(findings, fault("%s: has no effect without %s: %s (give the image in which this directory is, or leave the option out)",
				option.Flag(option.Workdir), option.Flag(option.Image), quote(workdir)))
		}
	}
	return findings, imageOK
}

// checkUser refuses root: nothing in a Pod of ours runs with uid 0.
func checkUser(r Request) []finding {
	if !r.UIDKnown || r.UID != 0 {
		return nil
	}
	return []finding{fault("%s: not for root: uid 0 (submit as the user the job belongs to, or with sbatch --uid=USER)", option.Flag(option.Image))}
}
