// SPDX-License-Identifier: Apache-2.0

package site

import "slices"

// AllowAnnotation is the annotation of the jobs' namespace that deploy/policy-pod-create.yaml
// reads. A node's credential can make Pods with what it names, and with nothing else beyond the
// shape of every Pod.
const AllowAnnotation = "slurm-k8s/allow"

// Allow is what the admission policies must let through for this configuration beyond the
// shape of every Pod: the words of the annotation, sorted. That of a volume ends with ":ro"
// where it may only be mounted read-only.
func (c *Config) Allow() []string {
	var words []string
	for _, g := range c.Resources.GRES {
		if g.RuntimeClass != "" {
			words = append(words, "runtime-class:"+g.RuntimeClass)
		}
		if g.Devices != "" {
			words = append(words, "devices:"+g.Devices)
		}
	}
	for _, rule := range c.Placement.Rules {
		for _, t := range rule.Tolerations {
			words = append(words, "toleration:"+t.Key)
		}
	}
	for _, secret := range c.Registries.PullSecrets {
		words = append(words, "pull-secret:"+secret)
	}
	for _, volume := range c.VolumeNames() {
		words = append(words, c.Volumes[volume].allow()...)
	}
	if c.Claims.Allowed {
		words = append(words, "claim-size:"+c.Claims.MaxSize)
		for _, class := range c.Claims.Classes {
			words = append(words, "claim:"+class)
		}
		if len(c.Claims.Classes) == 0 {
			words = append(words, "claim:")
		}
		if c.Claims.Keep.Duration > 0 {
			words = append(words, "claim-keep")
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func (v Volume) allow() []string {
	mode := ""
	if v.ReadOnly {
		mode = ":ro"
	}
	switch v.Kind() {
	case KindPVC:
		return []string{"pvc:" + v.PVC + mode}
	case KindNFS:
		return []string{"nfs:" + v.NFS.Server + ":" + v.NFS.Path + mode}
	case KindHostPath:
		return []string{"hostPath:" + v.HostPath + mode}
	case KindImage:
		return []string{"image:" + v.Image + ":ro"}
	case KindEmptyDir:
		return []string{"emptyDir" + mode}
	case KindCSI:
		words := []string{"csi:" + v.CSI.Driver + mode}
		for key, value := range v.CSI.Attributes {
			words = append(words, "csi-attribute:"+v.CSI.Driver+":"+key+"="+value)
		}
		if v.CSI.Secret != "" {
			words = append(words, "csi-secret:"+v.CSI.Driver+":"+v.CSI.Secret)
		}
		return words
	}
	return nil
}
