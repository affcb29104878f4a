// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// GRES says what one of Slurm's generic resources is in Kubernetes. In the file a resource
// alone may stand for it.
type GRES struct {
	// Resource is the extended resource that the Pod asks for; empty: none, labels alone.
	Resource string `json:"resource,omitempty"`
	// Factor is how many of the resource one of Slurm's is; 0 is 1.
	Factor int64 `json:"factor,omitempty"`
	// Labels that the Pod's node must have.
	Labels NodeLabels `json:"labels,omitempty"`
	// RuntimeClass of the Pod.
	RuntimeClass string `json:"runtime_class,omitempty"`
	// Devices: DevicesSlurm, or empty: Kubernetes' device plugin chooses.
	Devices string `json:"devices,omitempty"`
}

// DevicesSlurm: those that Slurm itself has chosen are handed on to NVIDIA's container runtime,
// of a Pod that stays on the Slurm node's own machine.
const DevicesSlurm = "slurm"

// maxFactor: the product with any count that Slurm has stays far below 2^63.
const maxFactor = 1 << 20

var gresKey = regexp.MustCompile(`^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?$`)

// plainGRES is GRES without its methods.
type plainGRES GRES

// UnmarshalJSON takes the name of a resource, or an object. Unknown keys have been found
// before (keys.go).
func (g *GRES) UnmarshalJSON(data []byte) error {
	var resource string
	if json.Unmarshal(data, &resource) == nil {
		*g = GRES{Resource: resource}
		return nil
	}
	var whole plainGRES
	if err := json.Unmarshal(data, &whole); err != nil {
		return fmt.Errorf("%s is neither an extended resource such as nvidia.com/gpu nor a table of resource, factor, labels, runtime_class and devices", data)
	}
	*g = GRES(whole)
	return nil
}

// MarshalJSON is the shortest form that UnmarshalJSON takes.
func (g GRES) MarshalJSON() ([]byte, error) {
	if g.Factor == 0 && len(g.Labels) == 0 && g.RuntimeClass == "" && g.Devices == "" {
		return json.Marshal(g.Resource)
	}
	return json.Marshal(plainGRES(g))
}

// Amount is how many of the resource stand for count of Slurm's.
func (g GRES) Amount(count int64) (int64, bool) {
	factor := max(g.Factor, 1)
	if count > math.MaxInt64/factor {
		return 0, false
	}
	return count * factor, true
}

// Of finds what is configured for a GRES: NAME:TYPE goes before NAME.
func (r Resources) Of(name, gresType string) (GRES, bool) {
	if gresType != "" {
		if g, ok := r.GRES[name+":"+gresType]; ok {
			return g, true
		}
	}
	g, ok := r.GRES[name]
	return g, ok
}

// NodeLabels are the keys of all node labels that the configuration names, sorted: what the
// published node shapes say of their nodes.
func (c *Config) NodeLabels() []string {
	keys := map[string]bool{}
	for _, g := range c.Resources.GRES {
		for key := range g.Labels {
			keys[key] = true
		}
	}
	for _, key := range c.Placement.nodeLabels() {
		keys[key] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

// defaultGRES is replaced as a whole by the file's own table.
func defaultGRES() map[string]GRES { return map[string]GRES{"gpu": {Resource: "nvidia.com/gpu"}} }

func (c *Config) validateGRES(f *faults) {
	for _, key := range slices.Sorted(maps.Keys(c.Resources.GRES)) {
		g, at := c.Resources.GRES[key], "resources.gres."+key
		if !gresKey.MatchString(key) {
			f.add("resources.gres", "%q is not NAME or NAME:TYPE of a Slurm GRES", key)
		}
		if problem := extendedResource(g.Resource); problem != "" && (g.Resource != "" || len(g.Labels) == 0 && g.Devices == "") {
			f.add(at, "%q %s", g.Resource, problem)
		}
		c.validateDevices(f, key, g)
		if g.Factor < 0 || g.Factor > maxFactor {
			f.add(at+".factor", "%d, must be from 1 to %d", g.Factor, maxFactor)
		}
		f.labels(at+".labels", g.Labels)
		if g.RuntimeClass != "" {
			f.objectName(at+".runtime_class", g.RuntimeClass)
		}
	}
}

// validateDevices: Slurm tells a task its devices of GPUs alone, and they mean something on one machine.
func (c *Config) validateDevices(f *faults, key string, g GRES) {
	at := "resources.gres." + key + ".devices"
	name, _, _ := strings.Cut(key, ":")
	switch {
	case g.Devices == "":
	case g.Devices != DevicesSlurm:
		f.add(at, "%q is not %s", g.Devices, DevicesSlurm)
	case name != "gpu":
		f.add(at, "which devices Slurm has chosen is known of gpu alone")
	case g.Resource != "":
		f.add(at, "the device plugin of %q chooses its own: leave resource out", g.Resource)
	case !c.Placement.everPinned():
		f.add(at, "needs Pods that stay on Slurm's own node (placement.mode: %s)", PlaceNode)
	}
}

// objectName is a name that Kubernetes gives to cluster-wide objects.
func (f *faults) objectName(key, value string) {
	if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
		f.add(key, "%q is not the name of an object in Kubernetes: %s", value, problems[0])
	}
}

// extendedResource follows Kubernetes' rule: a domain that is not kubernetes.io, and
// "requests." before it must still be a qualified name (quotas are written so).
func extendedResource(value string) string {
	domain, _, found := strings.Cut(value, "/")
	switch {
	case !found:
		return "is not an extended resource: it needs a domain, as in nvidia.com/gpu"
	case domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") || strings.HasPrefix(value, "requests."):
		return "is not an extended resource: its domain is Kubernetes' own"
	}
	if problems := validation.IsQualifiedName("requests." + value); len(problems) > 0 {
		return "is not an extended resource: " + problems[0]
	}
	return ""
}
