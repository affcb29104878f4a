// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

type people map[string]uint32

func (p people) UID(name string) (uint32, error) { return p.GID(name) }
func (p people) GID(name string) (uint32, error) {
	if n, ok := p[name]; ok {
		return n, nil
	}
	return 0, site.ErrNobody
}

func TestCheckVolumes(t *testing.T) {
	volumes, err := site.Parse([]byte(`
volumes:
  home: {host_path: /srv/home, mount: /home, default: yes}
  lab: {pvc: lab, mount: /lab, groups: [lab]}
  fast: {pvc: fast, mount: /fast, partitions: [gpu], accounts: [physics]}
claims: {allowed: yes, max_size: 10Gi, classes: [local]}
`))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		mount, pvc string
		sbatch     map[string]string
		uid        uint32 // of sbatch's process
		want       []string
	}{
		"mine":                 {"lab,home:ro", "1Gi", nil, 1001, nil},
		"a group I am not in":  {"lab", "", nil, 1003, nil}, // sbatch --uid: whose it is, is not known
		"partition not said":   {"fast", "", nil, 1001, nil},
		"another partition":    {"fast", "", map[string]string{"partition": "main"}, 1001, []string{`--k8s-mount: this job may not use the volume: "fast" (the site's partitions for it say who may)`}},
		"one of several":       {"fast", "", map[string]string{"partition": "main,gpu", "account": "Physics"}, 1001, nil},
		"another account":      {"fast", "", map[string]string{"account": "bio"}, 1001, []string{`--k8s-mount: this job may not use the volume: "fast" (the site's accounts for it say who may)`}},
		"malformed, said once": {"/etc", "", nil, 1001, []string{`--k8s-mount: a volume's name is wanted, not a directory: a path of the nodes cannot be mounted (the site's administrators name the volumes): "/etc"`}},
		"everything at once": {"nix,lab:/home/x", "11Gi:gold", nil, 1001, []string{
			`--k8s-mount: no volume of this name: "nix" (there are: fast, home, lab)`,
			`--k8s-mount: the mount point of volume "lab" lies inside that of volume "home": "/home/x"`,
			`--k8s-pvc: more than the site's 10Gi: "11Gi"`,
			`--k8s-pvc: no storage class of this site: "gold" (there are: local)`,
		}},
	} {
		request, _, deps := world()
		config := *volumes
		deps.Directory = people{"lab": 2000}
		deps.Self = func() (uint32, []uint32, bool) { return c.uid, []uint32{1001, 2000}, true }
		if c.mount != "" {
			request.Options["mount"] = c.mount
		}
		if c.pvc != "" {
			request.Options["pvc"] = c.pvc
		}
		for key, value := range c.sbatch {
			request.Sbatch[key] = value
		}
		assert.Equal(t, Result{Faults: c.want}, Check(t.Context(), request, &config, deps), name)
	}
	// Alone they do nothing.
	request, _, deps := world()
	request.Options = map[string]string{"mount": "home"}
	assert.Equal(t, []string{`--k8s-mount: has no effect without --k8s-image: "home" (give an image, or leave the option out)`},
		Check(t.Context(), request, volumes, deps).Faults)
	// In nobody's group.
	request, _, deps = world()
	request.Options["mount"] = "lab"
	deps.Directory = people{"lab": 2000}
	deps.Self = func() (uint32, []uint32, bool) { return 1001, []uint32{1001}, true }
	assert.Equal(t, []string{`--k8s-mount: this job may not use the volume: "lab" (the site's groups for it say who may)`},
		Check(t.Context(), request, volumes, deps).Faults)
}
