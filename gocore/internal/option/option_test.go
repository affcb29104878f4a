// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestReference(t *testing.T) {
	for value, want := range map[string]string{
		"debian":                         "index.docker.io/library/debian:latest",
		"debian:12":                      "index.docker.io/library/debian:12",
		"user/app":                       "index.docker.io/user/app:latest",
		"docker.io/library/debian:12":    "index.docker.io/library/debian:12",
		"nas-hub.local:5407/lab/cuda:11": "nas-hub.local:5407/lab/cuda:11",
		"localhost/x":                    "localhost/x:latest",
		"127.0.0.1:5000/a/b__c/d-e.f":    "127.0.0.1:5000/a/b__c/d-e.f:latest",
		"debian@" + digest:               "index.docker.io/library/debian@" + digest,
		"h.io/x:1@" + digest:             "h.io/x@" + digest,
	} {
		reference, err := Reference(value)
		if assert.NoError(t, err, value) {
			assert.Equal(t, want, reference.Name(), value)
		}
	}
}

func TestCheckImageFaults(t *testing.T) {
	for value, want := range map[string]string{
		"":                         "--k8s-image: a value is missing",
		"-n1":                      `takes the next word): "-n1"`,
		"--time=1":                 "An option without a value takes the next word",
		"debian\n":                 `control character: "debian\n"`,
		"a\x00b":                   "control character",
		"Debian:12":                "no capital letters",
		"h.io/Debian:12":           "no capital letters",
		"docker://debian":          "no scheme",
		"./":                       "a file cannot be run",
		"./a.sqsh":                 "a file cannot be run",
		"../a":                     "a file cannot be run",
		"/dev/urandom":             "a file cannot be run",
		"ubuntu.sqsh":              "a file cannot be run",
		"nvcr.io#nvidia/pytorch":   `no "#"`,
		"my image":                 "no spaces",
		"debian:":                  "not a tag",
		"debian:a b":               "no spaces",
		"debian:-1":                "not a tag",
		"debian@sha256:12":         "not a digest",
		"a//b":                     "not an image reference",
		"a/../b":                   "not an image reference",
		".a/b":                     "not a registry's HOST",
		"h.io:99999999/x":          "not a registry's HOST",
		"h.io/":                    "the name is missing",
		":tag":                     "the name is missing",
		strings.Repeat("a", 256):   "longer than 255 bytes",
		"d\u00e9bian":              "not an image reference",
		strings.Repeat("a", 250):   "longer than 255 bytes",
		strings.Repeat("0", 64):    "an image's ID is not a name",
		"debian:$(touch /tmp/x)":   "no spaces",
		"debian;reboot":            "not an image reference",
		strings.Repeat("A", 10000): "longer than 255 bytes",
	} {
		err := CheckImage(value)
		if assert.Error(t, err, value) {
			assert.Contains(t, err.Error(), want)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 600)
		}
	}
}

func TestCheckWorkdir(t *testing.T) {
	for _, value := range []string{"/", "/data", "/a b/../c", "/" + strings.Repeat("x", 4094), "/d\u00e9"} {
		assert.NoError(t, CheckWorkdir(value), value)
	}
	for value, want := range map[string]string{
		"":                              "a value is missing",
		"data":                          `--k8s-workdir: not an absolute path (it is a directory in the container): "data"`,
		"~/x":                           "not an absolute path",
		"-n1":                           "An option without a value",
		"/a\nb":                         "control character",
		"/a\x00":                        "control character",
		"/" + strings.Repeat("x", 4095): "a path of 4096 bytes",
	} {
		assert.ErrorContains(t, CheckWorkdir(value), want)
	}
}

func TestCheckChoice(t *testing.T) {
	assert.NoError(t, CheckChoice(Scope, ScopeJob))
	assert.NoError(t, CheckChoice(Scope, ScopeSteps))
	assert.NoError(t, CheckChoice(Rendezvous, "pytorch"))
	assert.EqualError(t, CheckChoice(Scope, "Steps"), `--k8s-scope: must be job or steps: "Steps"`)
	assert.EqualError(t, CheckChoice(Rendezvous, "steps"), `--k8s-rendezvous: must be none or pytorch: "steps"`)
	assert.EqualError(t, CheckChoice(Scope, ""), "--k8s-scope: a value is missing")
	assert.ErrorContains(t, CheckChoice(Scope, "-n1"), "takes the next word")
}

func TestNodeSelector(t *testing.T) {
	labels, err := ParseNodeSelector("nvidia.com/gpu.product=A100,zone=east,empty=,zone=east")
	require.NoError(t, err)
	assert.Equal(t, site.NodeLabels{"nvidia.com/gpu.product": {"A100"}, "zone": {"east"}, "empty": {""}}, labels)
	for value, want := range map[string]string{
		"":                               "a value is missing",
		"-n1":                            "takes the next word",
		"zone":                           `--k8s-node-selector: not KEY=VALUE (KEY=VALUE,... of a node's labels): "zone"`,
		"zone=a,":                        `not KEY=VALUE`,
		"=a":                             `"" is not a label's name: "=a"`,
		"a/b/c=d":                        "not a label's name",
		"zone=a b":                       `"a b" is not a label's value`,
		"zone==a":                        `"=a" is not a label's value`,
		"zone=a,zone=b":                  `two values for "zone"`,
		"zone!=a":                        "not a label's name",
		"a=" + strings.Repeat("b", 5000): "longer than 4096 bytes",
		"zone=a\nb":                      "control character",
	} {
		_, err := ParseNodeSelector(value)
		assert.ErrorContains(t, err, want)
	}
	placement := site.Placement{UserLabels: site.NodeLabels{"zone": {"east", "west"}, "rack": {"*"}}}
	assert.NoError(t, CheckNodeSelector("zone=west,rack=7", placement))
	for value, want := range map[string]string{
		"zone=north": `--k8s-node-selector: this site does not let jobs choose "north" for "zone" (but east, west): "zone=north"`,
		"disk=ssd":   `this site does not let jobs choose their nodes by "disk" (but by rack, zone): "disk=ssd"`,
	} {
		assert.ErrorContains(t, CheckNodeSelector(value, placement), want)
	}
	assert.ErrorContains(t, CheckNodeSelector("a=b", site.Placement{}), "this site does not let jobs choose their nodes (placement.user_labels in k8s.yaml)")
}

func FuzzParseNodeSelector(f *testing.F) {
	f.Add("a=b,c/d=e")
	f.Add("a==b,,=")
	f.Fuzz(func(t *testing.T, value string) {
		labels, err := ParseNodeSelector(value)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotEmpty(t, labels)
		for key, values := range labels {
			require.Empty(t, validation.IsQualifiedName(key))
			require.Len(t, values, 1)
			require.Empty(t, validation.IsValidLabelValue(values[0]))
		}
	})
}

func TestNames(t *testing.T) {
	assert.Equal(t, "--k8s-image", Flag(Image))
	assert.Equal(t, "SLURM_K8S_IMAGE", Variable(Image))
	assert.Equal(t, "SLURM_K8S_WORKDIR", Variable(Workdir))
	assert.NoError(t, CheckScript("run.sh"))
	assert.ErrorContains(t, CheckScript("-c"), "#K8S_SCRIPT: ")
}

func TestJoin(t *testing.T) {
	for _, good := range []string{"batch", "0", "17", "4294967279"} {
		assert.NoError(t, CheckJoin(good), good)
	}
	for _, bad := range []string{"", "-1", "1.0", "01", "+1", "4294967280", "99999999999", "extern", "7 ", "\n"} {
		err := CheckJoin(bad)
		require.Error(t, err, bad)
		assert.Contains(t, err.Error(), "--k8s-join: ")
		assert.NotContains(t, err.Error(), "\n")
	}
}

func FuzzCheckImage(f *testing.F) {
	for _, seed := range []string{"debian", "a.b:5/c:d@" + digest, "-x", "a//b", "[::1]:5000/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		reference, err := Reference(value)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		// What passes is harmless in a line, a URL and a command, and means itself.
		require.False(t, strings.ContainsAny(value, " \t\r\n\x00'\"\\`$;&|<>()#%?*"), value)
		require.LessOrEqual(t, len(value), 512)
		again, err := Reference(reference.Name())
		require.NoError(t, err)
		require.Equal(t, reference.Name(), again.Name())
	})
}

func FuzzCheckWorkdir(f *testing.F) {
	f.Add("/data")
	f.Add("../x")
	f.Fuzz(func(t *testing.T, value string) {
		if CheckWorkdir(value) == nil {
			require.True(t, strings.HasPrefix(value, "/") && len(value) < 4096 && !strings.ContainsAny(value, "\x00\n"))
		}
	})
}
