// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Tenants is what a namespace has that the pattern names.
type Tenants struct {
	// Create those that are missing when a job needs them; else an administrator makes them.
	Create bool `json:"create"`
	// Kubeconfig of the credential that makes them: root's alone. Empty: tenants.kubeconfig beside the node's.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Labels and Annotations beside ours.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Quota is the hard of a ResourceQuota, Limits are the limits of a LimitRange.
	Quota  map[string]string `json:"quota,omitempty"`
	Limits []Limit           `json:"limits,omitempty"`
}

// Limit is an item of a LimitRange, by Kubernetes' own names.
type Limit struct {
	Type                 string            `json:"type"`
	Max                  map[string]string `json:"max,omitempty"`
	Min                  map[string]string `json:"min,omitempty"`
	Default              map[string]string `json:"default,omitempty"`
	DefaultRequest       map[string]string `json:"defaultRequest,omitempty"`
	MaxLimitRequestRatio map[string]string `json:"maxLimitRequestRatio,omitempty"`
}

// Amounts are the limit's tables by their names.
func (l Limit) Amounts() map[string]map[string]string {
	return map[string]map[string]string{
		"max": l.Max, "min": l.Min, "default": l.Default, "defaultRequest": l.DefaultRequest, "maxLimitRequestRatio": l.MaxLimitRequestRatio,
	}
}

// limitTypes are Kubernetes'.
var limitTypes = []string{"Container", "Pod", "PersistentVolumeClaim"}

// tenantsKubeconfig is the file's name where the site names none.
const tenantsKubeconfig = "tenants.kubeconfig"

// TenantsKubeconfig is where the credential lies that makes namespaces.
func (c *Config) TenantsKubeconfig() string {
	if c.Tenants.Kubeconfig != "" {
		return c.Tenants.Kubeconfig
	}
	return c.Beside(tenantsKubeconfig)
}

// Beside is a credential's file in the folder of the node's; where that is a Pod's own, of the
// default one. Of a cluster with a name it has that name before it, as those of several lie in one
// folder.
func (c *Config) Beside(name string) string {
	folder := filepath.Dir(c.Kubeconfig)
	if _, asked := InCluster(c.Kubeconfig); asked {
		folder = filepath.Dir(Default().Kubeconfig)
	}
	if c.Kubernetes != "" {
		name = c.Kubernetes + "-" + name
	}
	return filepath.Join(folder, name)
}

func (c *Config) validateTenants(f *faults) {
	byPattern := slices.ContainsFunc(c.Each(), (*Config).ByPattern)
	if c.Tenants.Create && !byPattern {
		f.add("tenants.create", "the namespace is fixed: nothing would be made (a pattern is wanted, as namespace: \"user-%%u\")")
	}
	if path := c.Tenants.Kubeconfig; path != "" {
		validateKubeconfig(f, "tenants.kubeconfig", path)
		switch path {
		case c.Kubeconfig:
			f.add("tenants.kubeconfig", "%q is also kubeconfig, which must not make namespaces", path)
		case c.ReaderKubeconfig:
			f.add("tenants.kubeconfig", "%q is also reader_kubeconfig, which users read", path)
		}
		if len(c.Clusters) > 0 {
			f.add("tenants.kubeconfig", "not beside clusters: each has its own, NAME-%s beside its kubeconfig", tenantsKubeconfig)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tenants.Labels)) {
		at, value := joined("tenants.labels", key), c.Tenants.Labels[key]
		checkMetadataKey(f, at, key)
		for _, problem := range validation.IsValidLabelValue(value) {
			f.add(at, "%q: %s", value, problem)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tenants.Annotations)) {
		checkMetadataKey(f, joined("tenants.annotations", key), key)
	}
	checkAmounts(f, "tenants.quota", c.Tenants.Quota)
	for i, limit := range c.Tenants.Limits {
		at := fmt.Sprintf("tenants.limits[%d]", i)
		f.oneOf(at+".type", limit.Type, limitTypes...)
		amounts := limit.Amounts()
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			checkAmounts(f, at+"."+name, amounts[name])
		}
	}
}

// ownDomains are of labels and annotations that the namespace has by itself, or that policies read.
var ownDomains = []string{"slurm-k8s", "pod-security.kubernetes.io", "kubernetes.io", "app.kubernetes.io"}

func checkMetadataKey(f *faults, at, key string) {
	for _, problem := range validation.IsQualifiedName(strings.ToLower(key)) {
		f.add(at, "%q: %s", key, problem)
	}
	if domain, _, found := strings.Cut(key, "/"); found && slices.Contains(ownDomains, domain) {
		f.add(at, "%q: names of %s are not the site's to set here", key, domain)
	}
}

func checkAmounts(f *faults, at string, amounts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		for _, problem := range validation.IsQualifiedName(name) {
			f.add(joined(at, name), "%q: %s", name, problem)
		}
		if q, err := ParseQuantity(amounts[name]); err != nil || q.Sign() < 0 {
			f.add(joined(at, name), "%q is not a Kubernetes quantity such as \"32\" or \"128Gi\"", amounts[name])
		}
	}
}
