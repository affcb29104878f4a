// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// judgeImage turns the registry's word into findings. What the registry cannot tell is the
// site's choice; a denial never refuses, since it is the cluster's credential that counts.
func judgeImage(image string, r registry.Result, unreachable string) []finding {
	flag := option.Flag(option.Image)
	switch r.Kind {
	case registry.Exists:
		return nil
	case registry.NotFound:
		return []finding{fault("%s: %s in registry %s: %s (look for a typing error, or push the image first)",
			flag, r.Reason, r.Registry, quote(image))}
	case registry.Denied:
		return []finding{warning("%s: not checked, registry %s denies access without credentials: %s (docker login gives some; the job uses the cluster's own)",
			flag, r.Registry, quote(image))}
	case registry.Malformed:
		return []finding{fault("%s: not an image reference: %s [%s]", flag, quote(image), r.Reason)}
	}
	text := "%s: not checked, registry %s cannot be asked, %s: %s"
	if unreachable == site.RegistryRefuse {
		return []finding{fault(text+" (this site refuses jobs whose image cannot be checked; try again later)",
			flag, r.Registry, r.Reason, quote(image))}
	}
	return []finding{warning(text, flag, r.Registry, r.Reason, quote(image))}
}

// lateImage is judgeImage for a registry that did not answer in time at all.
func lateImage(image, unreachable string) []finding {
	host := "of the image"
	if reference, err := option.Reference(image); err == nil {
		host = reference.Context().RegistryStr()
	}
	return judgeImage(image, registry.Result{Kind: registry.Unreachable, Registry: host, Reason: "no answer in time"}, unreachable)
}
