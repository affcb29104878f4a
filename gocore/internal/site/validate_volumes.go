// SPDX-License-Identifier: Apache-2.0

package site

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxVolumeName leaves room for what the Pod's names of volumes begin with.
const maxVolumeName = 50

// plainText: what the policies' annotation can carry, and no line or shell is confused by.
func plainText(value string) bool {
	return value != "" && len(value) <= 1024 && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

func (c *Config) validateVolumes(f *faults) {
	for _, volume := range c.VolumeNames() {
		v, key := c.Volumes[volume], "volumes."+volume
		if problems := validation.IsDNS1123Label(volume); len(problems) > 0 || len(volume) > maxVolumeName {
			f.add(key, "%q is not a volume's name: small letters, digits and dashes, at most %d", volume, maxVolumeName)
		}
		switch kinds := v.kinds(); len(kinds) {
		case 0:
			f.add(key, "says not what it is: one of pvc, csi, nfs, host_path, image, empty_dir")
		case 1:
			v.validateKind(key, f)
		default:
			f.add(key, "is several things: %s", strings.Join(kinds, " and "))
		}
		if problem := MountPathFault(v.Mount); problem != "" {
			f.add(key+".mount", "%q: %s", v.Mount, problem)
		}
		for _, list := range []struct {
			key   string
			names []string
		}{{"users", v.Users}, {"groups", v.Groups}, {"accounts", v.Accounts}, {"partitions", v.Partitions}} {
			for _, one := range list.names {
				if !plainText(one) || strings.ContainsAny(one, ",:") {
					f.add(key+"."+list.key, "%q is not a name", one)
				}
			}
		}
	}
	c.validateDefaults(f)
	c.validateClaims(f)
}

func (v Volume) validateKind(key string, f *faults) {
	switch v.Kind() {
	case KindPVC:
		if problems := validation.IsDNS1123Subdomain(v.PVC); len(problems) > 0 {
			f.add(key+".pvc", "%q is not the name of a PersistentVolumeClaim", v.PVC)
		}
	case KindHostPath:
		f.hostDirectory(key+".host_path", v.HostPath)
	case KindNFS:
		if !plainText(v.NFS.Server) || strings.Contains(v.NFS.Server, "/") {
			f.add(key+".nfs.server", "%q is not a server's name or address", v.NFS.Server)
		}
		f.hostDirectory(key+".nfs.path", v.NFS.Path)
	case KindImage:
		if _, err := name.ParseReference(v.Image, name.WeakValidation); err != nil || !plainText(v.Image) {
			f.add(key+".image", "%q is not an image reference", v.Image)
		}
	case KindEmptyDir:
		f.size(key+".empty_dir.size", v.EmptyDir.Size)
	case KindCSI:
		if problems := validation.IsDNS1123Subdomain(strings.ToLower(v.CSI.Driver)); len(problems) > 0 {
			f.add(key+".csi.driver", "%q is not a CSI driver's name", v.CSI.Driver)
		}
		if v.CSI.Secret != "" && len(validation.IsDNS1123Subdomain(v.CSI.Secret)) > 0 {
			f.add(key+".csi.secret", "%q is not the name of a Secret", v.CSI.Secret)
		}
		if v.CSI.FSType != "" && !plainText(v.CSI.FSType) {
			f.add(key+".csi.fs_type", "%q is not a file system's type", v.CSI.FSType)
		}
		for _, attribute := range slices.Sorted(maps.Keys(v.CSI.Attributes)) {
			if !plainText(attribute) || strings.Contains(attribute, "=") || !plainText(v.CSI.Attributes[attribute]) {
				f.add(key+".csi.attributes", "%q: name and value must be texts without spaces", attribute)
			}
		}
	}
}

// hostDirectory is one of a node or a server; "/" would be all of it.
func (f *faults) hostDirectory(key, value string) {
	if !plainText(value) || !path.IsAbs(value) || path.Clean(value) != value || value == "/" || strings.Contains(value, ":") {
		f.add(key, "%q is not the plain absolute path of a directory below /, without spaces and colons", value)
	}
}

// size wants a whole number of bytes, at least 1Mi: less is "10" where "10Gi" was meant.
func (f *faults) size(key, value string) {
	if q, err := ParseQuantity(value); err != nil || q.Cmp(resource.MustParse(minShm)) < 0 {
		f.add(key, "%q is not a Kubernetes quantity of at least %s, such as \"10Gi\"", value, minShm)
	}
}

// validateDefaults looks for volumes in the way of those that every job has. Two that have lists
// may be meant for different jobs: then the job that has both is told.
func (c *Config) validateDefaults(f *faults) {
	everyJob := func(name string) bool { return bool(c.Volumes[name].Default) && !c.Volumes[name].restricted() }
	for _, a := range c.VolumeNames() {
		if MountPathFault(c.Volumes[a].Mount) != "" {
			continue
		}
		for _, b := range c.VolumeNames() {
			if a == b || !everyJob(b) || everyJob(a) && a < b || MountPathFault(c.Volumes[b].Mount) != "" {
				continue
			}
			if problem := MountsFault(c.Volumes[a].Mount, c.Volumes[b].Mount); problem != "" {
				f.add("volumes."+a+".mount", "%q %s that of volume %q, which every job has", c.Volumes[a].Mount, problem, b)
			}
		}
		if !c.Claims.Allowed || !everyJob(a) {
			continue
		}
		if problem := MountsFault(c.Claims.Path, c.Volumes[a].Mount); problem != "" {
			f.add("claims.path", "%q %s that of volume %q, which every job has", c.Claims.Path, problem, a)
		}
	}
}

func (v Volume) restricted() bool {
	return len(v.Users)+len(v.Groups)+len(v.Accounts)+len(v.Partitions) > 0
}

// MountsFault says in what way two mount points cannot be together; "" where they can. One
// inside the other would have the container runtime make a directory in the outer volume, as root.
func MountsFault(a, b string) string {
	switch {
	case a == b:
		return "is also"
	case Below(a, b):
		return "lies inside"
	case Below(b, a):
		return "lies around"
	}
	return ""
}

func (c *Config) validateClaims(f *faults) {
	if problem := MountPathFault(c.Claims.Path); problem != "" {
		f.add("claims.path", "%q: %s", c.Claims.Path, problem)
	}
	for _, class := range c.Claims.Classes {
		if problems := validation.IsDNS1123Subdomain(class); len(problems) > 0 {
			f.add("claims.classes", "%q is not the name of a StorageClass", class)
		}
	}
	if c.Claims.Keep.Duration != 0 {
		f.between("claims.keep", c.Claims.Keep, time.Hour, maxKeep)
	}
	switch {
	case c.Claims.MaxSize != "":
		f.size("claims.max_size", c.Claims.MaxSize)
	case c.Claims.Allowed:
		f.add("claims.max_size", "is missing: without it one job could ask for all there is")
	}
}
