// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/identity"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// LocalDeps are the real registry, shells and files of this machine for a site. shapes may
// be nil.
func LocalDeps(config *site.Config, shapes Shapes) Deps {
	options := registry.Options{Insecure: config.Submission.InsecureRegistries}
	return Deps{
		Registry: RegistryFunc(func(ctx context.Context, image string) registry.Result {
			return registry.Check(ctx, image, options)
		}),
		Shapes: shapes,
		Shell:  LocalShell{},
		Files:  LocalFiles{},

		Directory: identity.System{}, Self: identity.Self,
	}
}
