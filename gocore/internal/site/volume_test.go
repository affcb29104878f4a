// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const volumes = `
volumes:
  home: {host_path: /srv/home, mount: /home, default: yes}
  sets: {nfs: {server: nas.example, path: /export/sets}, mount: /sets, read_only: yes, default: on request}
  fast: {pvc: fast-claim, mount: /fast, users: [alice, "1002"], groups: [lab]}
  model: {image: "hub.example/model:1", mount: /model}
  tmp: {empty_dir: {size: 10Gi}, mount: /tmp}
  cifs:
    csi: {driver: smb.csi.k8s.io, attributes: {source: //nas/share}, secret: smb}
    mount: /cifs
    accounts: [physics]
    partitions: [main]
claims: {allowed: yes, classes: [fast, slow], max_size: 100Gi}
`

func TestVolumes(t *testing.T) {
	c, err := Parse([]byte(volumes))
	require.NoError(t, err)
	assert.Equal(t, []string{"cifs", "fast", "home", "model", "sets", "tmp"}, c.VolumeNames())
	assert.True(t, bool(c.Volumes["home"].Default))
	assert.False(t, bool(c.Volumes["sets"].Default))
	assert.False(t, bool(c.Volumes["fast"].Default))
	assert.Equal(t, "/scratch", c.Claims.Path)
	assert.Equal(t, "claim-size:100Gi claim:fast claim:slow csi-attribute:smb.csi.k8s.io:source=//nas/share csi-secret:smb.csi.k8s.io:smb "+
		"csi:smb.csi.k8s.io emptyDir hostPath:/srv/home image:hub.example/model:1:ro nfs:nas.example:/export/sets:ro pvc:fast-claim", strings.Join(c.Allow(), " "))
	assert.Empty(t, Default().Allow())

	level, why := c.Level()
	assert.Equal(t, []string{LevelPrivileged, `volume "home" is a host_path`}, []string{level, why})
	delete(c.Volumes, "home")
	level, why = c.Level()
	assert.Equal(t, []string{LevelBaseline, `volume "sets" is nfs`}, []string{level, why})
	delete(c.Volumes, "sets")
	level, why = c.Level()
	assert.Equal(t, []string{LevelRestricted, ""}, []string{level, why})
}

func TestVolumeFaults(t *testing.T) {
	_, faults := Check([]byte(`volumes:
  Home: {host_path: /srv/home, mount: /home}
  none: {mount: /none}
  two:
    pvc: a
    host_path: /b
    mount: /two
  root: {host_path: /, mount: /root}
  rel: {host_path: srv, mount: rel}
  proc: {pvc: a, mount: /proc/x, default: maybe}
  etc: {pvc: a, mount: /etc}
  dots: {host_path: /srv/../etc, mount: /a/../b}
  nfs: {nfs: {server: "nas:/x", path: x}, mount: /nfs}
  empty: {empty_dir: {}, mount: /empty}
  nothing:
  one: {pvc: a, mount: /same, default: yes}
  other: {pvc: b, mount: /same, default: yes}
  inner: {pvc: c, mount: /same/inner, default: yes}
  apart: {pvc: d, mount: /same, default: yes, users: [bob]}
  lists: {pvc: e, mount: /lists, users: ["a b"], groups: lab}
  image: {image: "A B", mount: /image}
  csi: {csi: {driver: "x y", attributes: {"a b": c}}, mount: /csi}
  key: {hostPath: /srv, mount: /key}
claims:
  allowed: yes
  classes: [Fast]
  path: /same/claim
`))
	assert.Equal(t, []string{
		`k8s.yaml:2: volumes.Home: "Home" is not a volume's name: small letters, digits and dashes, at most 50`,
		"k8s.yaml:3: volumes.none: says not what it is: one of pvc, csi, nfs, host_path, image, empty_dir",
		"k8s.yaml:4: volumes.two: is several things: pvc and host_path",
		`k8s.yaml:8: volumes.root.host_path: "/" is not the plain absolute path of a directory below /, without spaces and colons`,
		`k8s.yaml:9: volumes.rel.host_path: "srv" is not the plain absolute path of a directory below /, without spaces and colons`,
		`k8s.yaml:9: volumes.rel.mount: "rel": not an absolute path`,
		`k8s.yaml:10: volumes.proc.default: "maybe" is neither yes nor on request`,
		`k8s.yaml:10: volumes.proc.mount: "/proc/x": reserved: nothing may be mounted in /proc`,
		`k8s.yaml:11: volumes.etc.mount: "/etc": reserved: nothing may be mounted over /etc`,
		`k8s.yaml:12: volumes.dots.host_path: "/srv/../etc" is not the plain absolute path of a directory below /, without spaces and colons`,
		`k8s.yaml:12: volumes.dots.mount: "/a/../b": not the plain form of a path (that would be /b)`,
		`k8s.yaml:13: volumes.nfs.nfs.path: "x" is not the plain absolute path of a directory below /, without spaces and colons`,
		`k8s.yaml:13: volumes.nfs.nfs.server: "nas:/x" is not a server's name or address`,
		`k8s.yaml:14: volumes.empty.empty_dir.size: "" is not a Kubernetes quantity of at least 1Mi, such as "10Gi"`,
		"k8s.yaml:15: volumes.nothing: says not what it is: one of pvc, csi, nfs, host_path, image, empty_dir",
		`k8s.yaml:15: volumes.nothing.mount: "": a path is missing`,
		`k8s.yaml:16: volumes.one.mount: "/same" lies around that of volume "inner", which every job has`,
		`k8s.yaml:17: volumes.other.mount: "/same" lies around that of volume "inner", which every job has`,
		`k8s.yaml:17: volumes.other.mount: "/same" is also that of volume "one", which every job has`,
		`k8s.yaml:19: volumes.apart.mount: "/same" lies around that of volume "inner", which every job has`,
		`k8s.yaml:19: volumes.apart.mount: "/same" is also that of volume "one", which every job has`,
		`k8s.yaml:19: volumes.apart.mount: "/same" is also that of volume "other", which every job has`,
		`k8s.yaml:20: volumes.lists.groups: "lab" is not a list (["lab"])`,
		`k8s.yaml:20: volumes.lists.users: "a b" is not a name`,
		`k8s.yaml:21: volumes.image.image: "A B" is not an image reference`,
		`k8s.yaml:22: volumes.csi.csi.attributes: "a b": name and value must be texts without spaces`,
		`k8s.yaml:22: volumes.csi.csi.driver: "x y" is not a CSI driver's name`,
		"k8s.yaml:23: volumes.key: says not what it is: one of pvc, csi, nfs, host_path, image, empty_dir",
		`k8s.yaml:23: volumes.key.hostPath: unknown key, did you mean "host_path"?`,
		"k8s.yaml:24: claims.max_size: is missing: without it one job could ask for all there is",
		`k8s.yaml:26: claims.classes: "Fast" is not the name of a StorageClass`,
		`k8s.yaml:27: claims.path: "/same/claim" lies inside that of volume "one", which every job has`,
		`k8s.yaml:27: claims.path: "/same/claim" lies inside that of volume "other", which every job has`,
	}, said(faults))
}

// people is a Directory; "away" cannot be asked.
type people map[string]uint32

func (p people) UID(name string) (uint32, error) { return p.find("u:" + name) }
func (p people) GID(name string) (uint32, error) { return p.find("g:" + name) }
func (p people) find(name string) (uint32, error) {
	if name == "u:away" || name == "g:away" {
		return 0, errors.New("the server does not answer")
	}
	if n, ok := p[name]; ok {
		return n, nil
	}
	return 0, ErrNobody
}

func TestAllows(t *testing.T) {
	directory := people{"u:alice": 1001, "u:bob": 1002, "g:lab": 2000}
	uid := func(n uint32) *uint32 { return &n }
	alice := Who{UID: uid(1001), GIDs: []uint32{1001, 2000}, Accounts: []string{"physics"}, Partitions: []string{"main"}}
	bob := Who{UID: uid(1002), GIDs: []uint32{1002}, Accounts: []string{"bio"}, Partitions: []string{"main"}}
	nobody := Who{}
	for name, c := range map[string]struct {
		volume Volume
		who    Who
		want   Verdict
		why    string
	}{
		"no list":             {Volume{}, bob, Allowed, ""},
		"no list, not known":  {Volume{}, nobody, Allowed, ""},
		"user":                {Volume{Users: []string{"bob", "alice"}}, alice, Allowed, ""},
		"user by number":      {Volume{Users: []string{"1001"}}, alice, Allowed, ""},
		"another user":        {Volume{Users: []string{"alice"}}, bob, Refused, "users"},
		"nobody of this name": {Volume{Users: []string{"carol"}}, bob, Refused, "users"},
		"group":               {Volume{Groups: []string{"lab"}}, alice, Allowed, ""},
		"group by number":     {Volume{Groups: []string{"2000"}}, alice, Allowed, ""},
		"not in the group":    {Volume{Groups: []string{"lab"}}, bob, Refused, "groups"},
		"account":             {Volume{Accounts: []string{"Physics"}}, alice, Allowed, ""},
		"another account":     {Volume{Accounts: []string{"physics"}}, bob, Refused, "accounts"},
		"partition":           {Volume{Partitions: []string{"main"}}, alice, Allowed, ""},
		"another partition":   {Volume{Partitions: []string{"gpu"}}, alice, Refused, "partitions"},
		"one of partitions":   {Volume{Partitions: []string{"gpu"}}, Who{Partitions: []string{"main", "gpu"}}, Allowed, ""},
		"each list":           {Volume{Users: []string{"alice"}, Partitions: []string{"gpu"}}, alice, Refused, "partitions"},
		"who is not known":    {Volume{Users: []string{"alice"}}, nobody, Unknown, ""},
		"refused all the same": {Volume{Users: []string{"alice"}, Partitions: []string{"gpu"}},
			Who{Partitions: []string{"main"}}, Refused, "partitions"},
		"no account": {Volume{Accounts: []string{"physics"}}, Who{Accounts: []string{""}}, Refused, "accounts"},
	} {
		verdict, why, err := c.volume.Allows(c.who, directory)
		assert.NoError(t, err, name)
		assert.Equal(t, c.want, verdict, name)
		assert.Equal(t, c.why, why, name)
	}
	// A directory that does not answer lets nobody in, but who is found beside it.
	verdict, _, err := Volume{Groups: []string{"away"}}.Allows(alice, directory)
	assert.Equal(t, Refused, verdict)
	assert.ErrorContains(t, err, "the server does not answer")
	verdict, _, err = Volume{Groups: []string{"away", "lab"}}.Allows(alice, directory)
	assert.Equal(t, Allowed, verdict)
	assert.NoError(t, err)
}
