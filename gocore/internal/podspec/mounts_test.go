// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// offered are a site's volumes of every kind.
const offered = `
namespace: slurm
volumes:
  home: {host_path: /srv/home, mount: /home, default: yes}
  sets: {nfs: {server: nas.example, path: /export/sets}, mount: /sets, read_only: yes}
  fast: {pvc: fast-claim, mount: /fast, groups: [lab]}
  model: {image: "hub.example/model:1", mount: /model}
  tmp: {empty_dir: {size: 10Gi}, mount: /tmp}
  ram: {empty_dir: {size: 1Gi, memory: yes}, mount: /ram}
  share: {csi: {driver: smb.csi.k8s.io, attributes: {source: //nas/share}, secret: smb, fs_type: cifs}, mount: /share}
  bobs: {pvc: bob, mount: /bobs, users: [bob], default: yes}
  ours: {pvc: alice, mount: /ours, users: [alice], default: yes}
  queue: {pvc: queue, mount: /queue, partitions: [gpu]}
claims: {allowed: yes, classes: [fast, slow], max_size: 100Gi, keep: 168h}
`

type people map[string]uint32

func (p people) UID(name string) (uint32, error) { return p.find(name) }
func (p people) GID(name string) (uint32, error) { return p.find(name) }
func (p people) find(name string) (uint32, error) {
	if n, ok := p[name]; ok {
		return n, nil
	}
	return 0, site.ErrNobody
}

// withVolumes is an input of such a site; change makes another one of it.
func withVolumes(t *testing.T, mounts, claim string, change func(*Input)) Input {
	t.Helper()
	config, err := site.Parse([]byte(offered))
	require.NoError(t, err)
	return input(func(in *Input) {
		in.Site, in.Directory = config, people{"alice": 1001, "bob": 1003, "lab": 2000}
		in.Job.Account, in.Job.Partition = "physics", "main"
		if mounts != "" {
			in.Job.Options.Mounts, err = option.ParseMounts(mounts)
			require.NoError(t, err)
		}
		if claim != "" {
			asked, err := option.ParseClaim(claim)
			require.NoError(t, err)
			in.Job.Options.Claim = &asked
		}
		if change != nil {
			change(in)
		}
	})
}

func TestGoldenVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		mounts, claim string
		change        func(*Input)
	}{
		"default":       {"", "", nil},
		"moved-default": {"home:/mnt/home:ro", "", nil},
		"every-kind":    {"sets,fast:/data/fast,model,tmp,ram,share:/share:ro", "", nil},
		"twice":         {"tmp:/a,tmp:/b:ro", "", nil},
		"claim":         {"", "10Gi", nil},
		"claim-class":   {"", "500Mi:slow:/big", nil},
		"claim-default": {"", "1Gi", func(in *Input) { in.Site.Claims.Classes = nil }},
		"claim-kept":    {"", "10Gi:keep", nil},
		"claim-of-job":  {"", "job:3:/earlier", nil},
		"everything": {"sets,tmp", "10Gi", func(in *Input) {
			in.Job.Step, in.Job.Node, in.Job.NodeID, in.Job.Nodes, in.Job.Tasks = "3", "n2", 1, 2, 4
			in.Site.Pod.ShmSize = "1Gi"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := withVolumes(t, c.mounts, c.claim, c.change)
			pod, err := Build(in)
			require.NoError(t, err)
			volumeInvariants(t, pod)
			got, err := yaml.Marshal(pod)
			require.NoError(t, err)
			path := filepath.Join("testdata", "volumes", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "go test -update writes it")
			assert.Empty(t, cmp.Diff(string(want), string(got)))
		})
	}
}

// volumeInvariants: what no volume may change.
func volumeInvariants(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	require.Nil(t, pod.Spec.SecurityContext.FSGroup)
	c := pod.Spec.Containers[0]
	require.Empty(t, c.WorkingDir)
	at := map[string]bool{}
	for _, m := range c.VolumeMounts {
		require.Empty(t, m.SubPath+m.SubPathExpr)
		require.Nil(t, m.MountPropagation)
		require.False(t, at[m.MountPath], m.MountPath)
		at[m.MountPath] = true
	}
	names := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		require.False(t, names[v.Name], v.Name)
		names[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		require.True(t, names[m.Name], m.Name)
	}
}

func TestBuildRefusesVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		mounts, claim string
		change        func(*Input)
		want          string
	}{
		"unknown":        {"none", "", nil, `--k8s-mount: no volume of this name: "none" (there are: fast, home, model, ours, ram, sets, share, tmp)`},
		"another user's": {"bobs", "", nil, `--k8s-mount: this job may not use the volume: "bobs" (the site's users for it say who may)`},
		"a group's": {"fast", "", func(in *Input) { in.Job.Groups = nil },
			`--k8s-mount: this job may not use the volume: "fast" (the site's groups for it say who may)`},
		"a partition's":   {"queue", "", nil, `the site's partitions for it say who may`},
		"on one path":     {"tmp:/home", "", nil, `--k8s-mount: the mount point of volume "tmp" is also that of volume "home": "/home"`},
		"inside":          {"tmp:/home/x", "", nil, `--k8s-mount: the mount point of volume "tmp" lies inside that of volume "home": "/home/x"`},
		"around":          {"sets:/d/sets,tmp:/d", "", nil, `"tmp" lies around that of volume "sets": "/d"`},
		"claim too large": {"", "101Gi", nil, `--k8s-pvc: more than the site's 100Gi: "101Gi"`},
		"claim's class":   {"", "1Gi:other", nil, `--k8s-pvc: no storage class of this site: "other" (there are: fast, slow)`},
		"claim's path":    {"tmp:/scratch", "1Gi", nil, `--k8s-pvc: the mount point is also that of volume "tmp": "/scratch"`},
		"none is kept": {"", "1Gi:keep", func(in *Input) { in.Site.Claims.Keep = site.Duration{} },
			`--k8s-pvc: this site keeps no volume of a job: "1Gi"`},
		"none was kept": {"", "job:3", func(in *Input) { in.Site.Claims.Keep = site.Duration{} },
			`--k8s-pvc: this site keeps no volume of a job: "job:3"`},
		"another's path":  {"tmp:/scratch", "job:3", nil, `--k8s-pvc: the mount point is also that of volume "tmp": "/scratch"`},
		"as it was typed": {"", "200G", nil, `--k8s-pvc: more than the site's 100Gi: "200G"`},
		"no claims":       {"", "1Gi", func(in *Input) { in.Site.Claims.Allowed = false }, `--k8s-pvc: this site does not offer it: "1Gi"`},
	} {
		_, err := Build(withVolumes(t, c.mounts, c.claim, c.change))
		assert.ErrorContains(t, err, c.want, name)
	}
	// Every fault at once.
	_, err := Build(withVolumes(t, "none,bobs,tmp:/home", "200Gi:other", nil))
	require.Error(t, err)
	for _, want := range []string{`"none"`, `"bobs"`, `"/home"`, `"200Gi"`, `"other"`} {
		assert.ErrorContains(t, err, want)
	}
}

func TestOnVolume(t *testing.T) {
	pod, err := Build(withVolumes(t, "", "", nil))
	require.NoError(t, err)
	for directory, want := range map[string]bool{"/home": true, "/home/alice/x": true, "/homes": false, "/": false, "": false, "/.slurm-k8s/run": false} {
		assert.Equal(t, want, OnVolume(pod, directory), directory)
	}
	assert.False(t, OnVolume(nil, "/home"))
}

// deploy/verify tries these Pods where the annotation is what the file says.
func TestPolicyDataAllowsTheGoldenVolumes(t *testing.T) {
	config, err := site.Parse([]byte(offered))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "testdata", "allow"))
	require.NoError(t, err)
	assert.Subset(t, strings.Fields(string(text)), config.Allow())
	config.Claims.Classes = nil // of claim-default.yaml
	assert.Subset(t, strings.Fields(string(text)), config.Allow())
}
