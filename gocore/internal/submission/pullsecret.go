// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"errors"
	"io/fs"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// checkPullSecret looks at the user's Docker configuration where it is here too: what counts
// is the file on the Slurm node, where the job's relay reads it.
func checkPullSecret(r Request, config *site.Config, files Files) []finding {
	path, given := r.Options[option.PullSecret]
	if !given || option.CheckPullSecret(path) != nil || files == nil {
		return nil
	}
	flag := option.Flag(option.PullSecret)
	info, err := files.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{warning("%s: the file is not on this machine; it must be on the Slurm node: %s", flag, quote(path))}
	case err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return []finding{fault("%s: others may read the file, mode %04o: %s (chmod 600 %s)", flag, info.Mode().Perm(), quote(path), path)}
	}
	data, err := files.Read(path, option.MaxPullSecret+1)
	if err != nil {
		return []finding{fault("%s: the file %s: %s", flag, why(err), quote(path))}
	}
	image, err := option.Resolve(r.Options[option.Image], config.Registries)
	if err != nil {
		return nil // said elsewhere
	}
	if _, err := option.ReadPullSecret(path, data, image); err != nil {
		return []finding{fault("%s", err)}
	}
	return nil
}
