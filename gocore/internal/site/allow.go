// SPDX-License-Identifier: Apache-2.0

package site

import "slices"

// Allow is what the admission policies must let through for this configuration beyond the
// shape of every Pod: the words of the namespace's annotation slurm-k8s/allow, sorted.
func (c *Config) Allow() []string {
	var words []string
	for _, g := range c.Resources.GRES {
		if g.RuntimeClass != "" {
			words = append(words, "runtime-class:"+g.RuntimeClass)
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
	slices.Sort(words)
	return slices.Compact(words)
}
