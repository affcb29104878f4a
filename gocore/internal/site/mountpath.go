// SPDX-License-Identifier: Apache-2.0

package site

import (
	"path"
	"strings"
)

// reservedTrees may be mounted over neither themselves nor below: the container runtime's,
// and ours. /dev has /dev/shm and the termination message.
var reservedTrees = []string{"/proc", "/sys", "/dev", "/.slurm-k8s", "/run/secrets", "/var/run/secrets"}

// reservedPaths alone: /etc has files that kubelet mounts (hosts, hostname, resolv.conf) and without
// which an image's programs know neither users nor addresses; one directory in it may be replaced.
var reservedPaths = []string{"/", "/etc", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run", "/var", "/var/run"}

// maxMountPath is below the kernel's PATH_MAX, with room for what lies below.
const maxMountPath = 1024

// MountPathFault says why nothing may be mounted there; "" where it may.
func MountPathFault(at string) string {
	switch {
	case at == "":
		return "a path is missing"
	case len(at) > maxMountPath:
		return "the path is longer than 1024 bytes"
	case !strings.HasPrefix(at, "/"):
		return "not an absolute path"
	case strings.ContainsFunc(at, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' || r == ',' || r == '�' }):
		return "the path has a space, a comma, a colon or a control character"
	case path.Clean(at) != at:
		return "not the plain form of a path (that would be " + path.Clean(at) + ")"
	}
	for _, reserved := range reservedPaths {
		if at == reserved {
			return "reserved: nothing may be mounted over " + reserved
		}
	}
	for _, tree := range reservedTrees {
		if Below(at, tree) {
			return "reserved: nothing may be mounted in " + tree
		}
	}
	return ""
}

// Below tells whether a clean path is the directory or in it.
func Below(at, directory string) bool {
	return at == directory || strings.HasPrefix(at, strings.TrimSuffix(directory, "/")+"/")
}
