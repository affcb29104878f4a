// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Volume is one that the site offers to jobs, by its name in the file. Exactly one of the
// first six says what it is.
type Volume struct {
	// PVC is the name of a claim in the Pods' namespace.
	PVC string `json:"pvc,omitempty"`
	// CSI is an inline volume of a CSI driver.
	CSI *CSI `json:"csi,omitempty"`
	// NFS is an export that kubelet mounts.
	NFS *NFS `json:"nfs,omitempty"`
	// HostPath is a directory of the Kubernetes nodes, which must be there.
	HostPath string `json:"host_path,omitempty"`
	// Image is an OCI image or artifact; always read-only.
	Image string `json:"image,omitempty"`
	// EmptyDir is scratch space that goes with the Pod.
	EmptyDir *EmptyDir `json:"empty_dir,omitempty"`

	// Mount is where it is mounted unless the job says another path.
	Mount string `json:"mount"`
	// Default: every job that may use it has it, asked for or not.
	Default Offer `json:"default"`
	// ReadOnly for everybody.
	ReadOnly bool `json:"read_only"`

	// Who may use it: a job must be in each list that is not empty.
	Users      []string `json:"users,omitempty"`
	Groups     []string `json:"groups,omitempty"`
	Accounts   []string `json:"accounts,omitempty"`
	Partitions []string `json:"partitions,omitempty"`
}

// CSI is an inline (ephemeral) volume of a driver.
type CSI struct {
	Driver     string            `json:"driver"`
	FSType     string            `json:"fs_type,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	// Secret in the Pods' namespace that the driver needs to publish the volume.
	Secret string `json:"secret,omitempty"`
}

// NFS is an export.
type NFS struct {
	Server string `json:"server"`
	Path   string `json:"path"`
}

// EmptyDir is scratch space of a Kubernetes node.
type EmptyDir struct {
	// Size bounds it, a Kubernetes quantity.
	Size string `json:"size"`
	// Memory: it is in memory, and counts as the job's.
	Memory bool `json:"memory,omitempty"`
}

// Kinds of volumes, as keys of the file.
const (
	KindPVC      = "pvc"
	KindCSI      = "csi"
	KindNFS      = "nfs"
	KindHostPath = "host_path"
	KindImage    = "image"
	KindEmptyDir = "empty_dir"
)

// kinds that the volume names; a valid one has exactly one.
func (v Volume) kinds() []string {
	var all []string
	for _, k := range []struct {
		kind  string
		given bool
	}{
		{KindPVC, v.PVC != ""}, {KindCSI, v.CSI != nil}, {KindNFS, v.NFS != nil}, {KindHostPath, v.HostPath != ""},
		{KindImage, v.Image != ""}, {KindEmptyDir, v.EmptyDir != nil},
	} {
		if k.given {
			all = append(all, k.kind)
		}
	}
	return all
}

// Kind of a valid volume.
func (v Volume) Kind() string {
	if all := v.kinds(); len(all) > 0 {
		return all[0]
	}
	return ""
}

// VolumeNames in order.
func (c *Config) VolumeNames() []string { return slices.Sorted(maps.Keys(c.Volumes)) }

// Claims says what volumes of their own jobs may have made (--k8s-pvc).
type Claims struct {
	Allowed bool `json:"allowed"`
	// Classes (StorageClass) that a job may name; the first is for those that name none. Empty: the
	// cluster's default class, and no other.
	Classes []string `json:"classes,omitempty"`
	// MaxSize of one claim.
	MaxSize string `json:"max_size,omitempty"`
	// Path where it is mounted unless the job says another.
	Path string `json:"path"`
	// Keep is for how long the collector leaves one that a job has kept, after the last job that
	// used it. 0: none is kept.
	Keep Duration `json:"keep"`
}

// Offer is how a volume comes to a job: by default, or on request.
type Offer bool

const onRequest = "on request"

// UnmarshalJSON takes yes, no and "on request", which is no.
func (o *Offer) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	switch value {
	case true:
		*o = true
	case false, onRequest:
		*o = false
	default:
		return fmt.Errorf("%s is neither yes nor on request", data)
	}
	return nil
}

// MarshalJSON is the form that UnmarshalJSON takes.
func (o Offer) MarshalJSON() ([]byte, error) {
	if o {
		return []byte("true"), nil
	}
	return json.Marshal(onRequest)
}
