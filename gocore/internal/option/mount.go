// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// VolumeMount is one part of --k8s-mount: a volume of the site's.
type VolumeMount struct {
	Volume   string
	Path     string // empty: the site's
	ReadOnly bool
}

// maxMounts bounds what one job may ask for.
const maxMounts = 64

// ParseMounts reads NAME[:PATH][:ro],...; of the names it knows only the form.
func ParseMounts(value string) ([]VolumeMount, error) {
	flag := Flag(Mount)
	if err := common(flag, value); err != nil {
		return nil, err
	}
	parts := strings.Split(value, ",")
	if len(parts) > maxMounts {
		return nil, fault(flag, value, "%d volumes, at most %d are possible", len(parts), maxMounts)
	}
	mounts := make([]VolumeMount, 0, len(parts))
	for _, part := range parts {
		words := strings.Split(part, ":")
		m := VolumeMount{Volume: words[0]}
		words = words[1:]
		if n := len(words); n > 0 && words[n-1] == "ro" {
			m.ReadOnly, words = true, words[:n-1]
		}
		switch {
		case part == "":
			return nil, fault(flag, value, "a volume's name is missing between two commas or at an end")
		case strings.HasPrefix(m.Volume, "/"):
			return nil, fault(flag, part, "a volume's name is wanted, not a directory: a path of the nodes cannot be mounted (the site's administrators name the volumes)")
		case !isVolumeName(m.Volume):
			return nil, fault(flag, part, "not NAME[:PATH][:ro] with the name of a volume")
		case len(words) > 1:
			return nil, fault(flag, part, "too many colons for NAME[:PATH][:ro]")
		case len(words) == 1:
			if problem := site.MountPathFault(words[0]); problem != "" {
				return nil, fault(flag, part, "%s", problem)
			}
			m.Path = words[0]
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// isVolumeName: small letters, digits and dashes, as the site's names are.
func isVolumeName(name string) bool {
	return name != "" && len(name) <= 63 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}
