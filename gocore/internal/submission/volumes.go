// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// volumesPart judges what the job has mounted, by what is known of who it is. It is a courtesy:
// the node judges again, by Slurm's own word.
func volumesPart(r Request, config *site.Config, deps Deps) part {
	return part{
		run: func(context.Context) []finding { return checkVolumes(r, config, deps) },
		late: func() []finding {
			return []finding{warning("%s: who may use the site's volumes was not checked: no answer in time", option.Flag(option.Mount))}
		},
	}
}

func checkVolumes(r Request, config *site.Config, deps Deps) []finding {
	var options job.Options
	if value, given := r.Options[option.Mount]; given {
		mounts, err := option.ParseMounts(value)
		if err != nil {
			return nil // said already
		}
		options.Mounts = mounts
	}
	if value, given := r.Options[option.PVC]; given {
		claim, err := option.ParseClaim(value)
		if err != nil {
			return nil
		}
		options.Claim = &claim
	}
	var findings []finding
	if options.Claim != nil && options.Claim.Kept() && config.ClusterFor(r.Options[option.Cluster]) == site.ClusterAuto {
		findings = append(findings, fault("%s", option.ErrKeptAnywhere))
	}
	_, err := podspec.StorageFor(options, r.who(deps), config, deps.Directory)
	if err == nil {
		return findings
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		findings = append(findings, fault("%s", text))
	}
	return findings
}

// who submits, as far as it is known. The groups are those of this process, if it is the
// user's own: sbatch --uid submits for others.
func (r Request) who(deps Deps) site.Who {
	var who site.Who
	if deps.Self != nil && r.UIDKnown {
		if uid, gids, ok := deps.Self(); ok && uid == r.UID {
			who.UID, who.GIDs = &uid, gids
		}
	}
	if account, ok := r.given("account"); ok {
		who.Accounts = []string{account}
	}
	if partitions, ok := r.given("partition"); ok {
		who.Partitions = strings.Split(partitions, ",")
	}
	return who
}
