// SPDX-License-Identifier: Apache-2.0

package option

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestParseMounts(t *testing.T) {
	mounts, err := ParseMounts("home,data:/mnt/data,sets:ro,old:/old:ro")
	require.NoError(t, err)
	assert.Equal(t, []VolumeMount{{"home", "", false}, {"data", "/mnt/data", false}, {"sets", "", true}, {"old", "/old", true}}, mounts)
	for value, want := range map[string]string{
		"":                                    "--k8s-mount: a value is missing",
		"-n1":                                 "takes the next word",
		"data,":                               "a volume's name is missing",
		",data":                               "a volume's name is missing",
		"a,,b":                                "a volume's name is missing",
		"/srv/data":                           `--k8s-mount: a volume's name is wanted, not a directory: a path of the nodes cannot be mounted (the site's administrators name the volumes): "/srv/data"`,
		"/etc:/etc2":                          "a volume's name is wanted",
		"nas:/export:/mnt":                    "too many colons",
		"nas.example:/export":                 `not NAME[:PATH][:ro] with the name of a volume: "nas.example:/export"`,
		"Data":                                "with the name of a volume",
		"da ta":                               "with the name of a volume",
		"data:rw":                             `not an absolute path: "data:rw"`,
		"data:":                               "a path is missing",
		"data::ro":                            "a path is missing",
		"data:mnt":                            "not an absolute path",
		"data:/":                              "nothing may be mounted over /",
		"data:/etc":                           "nothing may be mounted over /etc",
		"data:/etc/resolv.conf":               "nothing may be mounted over /etc/resolv.conf",
		"data:/proc/self":                     "nothing may be mounted in /proc",
		"data:/dev/shm":                       "nothing may be mounted in /dev",
		"data:/sys":                           "nothing may be mounted in /sys",
		"data:/.slurm-k8s/bin":                "nothing may be mounted in /.slurm-k8s",
		"data:/a/../proc":                     "not the plain form of a path (that would be /proc)",
		"data:/a/":                            "not the plain form",
		"data://proc":                         "not the plain form",
		"data:/a b":                           "a space",
		"a" + strings.Repeat(",a", maxMounts): "at most 64",
	} {
		_, err := ParseMounts(value)
		assert.ErrorContains(t, err, want, value)
	}
	for _, fine := range []string{"data:/etc/ssl/site", "data:/procfs", "data:/devel", "data:/home"} {
		_, err := ParseMounts(fine)
		assert.NoError(t, err, fine)
	}
}

func TestParseClaim(t *testing.T) {
	for value, want := range map[string]Claimed{
		"10Gi":                 {},
		"10Gi:fast":            {Class: "fast"},
		"10Gi:/big":            {Path: "/big"},
		"10Gi:fast.local:/big": {Class: "fast.local", Path: "/big"},
		"10Gi:keep":            {Keep: true},
		"10Gi:keep:keep":       {Class: "keep", Keep: true},
		"10Gi:/big:keep":       {Path: "/big", Keep: true},
		"10Gi:fast:/keep:keep": {Class: "fast", Path: "/keep", Keep: true},
		"job:7":                {Of: 7},
		"job:4294967295:/big":  {Of: 4294967295, Path: "/big"},
	} {
		c, err := ParseClaim(value)
		require.NoError(t, err, value)
		if want.Of == 0 {
			assert.Equal(t, "10Gi", c.Size.String())
		}
		c.Size = resource.Quantity{}
		assert.Equal(t, want, c, value)
	}
	for value, want := range map[string]string{
		"":                             "--k8s-pvc: a value is missing",
		"fast":                         `--k8s-pvc: "fast" is not a size, such as 10Gi: "fast"`,
		"10 GB":                        "is not a size",
		"10":                           `"10" is less than 1Mi (is its unit missing, as in 10Gi?)`,
		"0":                            "is less than 1Mi",
		"-5Gi":                         "starts with",
		"9Ei":                          "more than any storage has",
		"1e99":                         "more than any storage has",
		"10Gi:":                        "not SIZE[:CLASS][:PATH]",
		"10Gi:Fast":                    "not SIZE[:CLASS][:PATH]",
		"10Gi:/big:fast":               "not SIZE[:CLASS][:PATH]",
		"10Gi:a:b":                     "not SIZE[:CLASS][:PATH]",
		"10Gi:a:/b:/c":                 "not SIZE[:CLASS][:PATH]",
		"10Gi:/proc/x":                 `"/proc/x": reserved`,
		"10Gi:fast:/etc":               `"/etc": reserved`,
		"10Gi:keep:fast:/big":          "not SIZE[:CLASS][:PATH][:keep]",
		"keep":                         `"keep" is not a size`,
		"job":                          "not job:ID[:PATH] with the number of a job that kept its volume",
		"job:7:/a:/b":                  "not job:ID[:PATH]",
		"job:":                         `"" is not a job's number`,
		"job:0":                        `"0" is not a job's number`,
		"job:07":                       `"07" is not a job's number`,
		"job:-1":                       `"-1" is not a job's number`,
		"job:4294967296":               "is not a job's number",
		"job:7_1":                      "is not a job's number",
		"job:7:keep":                   `"keep": not an absolute path`,
		"job:7:/proc":                  `"/proc": reserved`,
		strings.Repeat("1", 40) + "Gi": "is not a size",
		"1e99999999":                   `"1e99999999" is not a size`,
		"1e-99999999:fast":             `"1e-99999999" is not a size`,
		".":                            `"." is not a size`,
	} {
		_, err := ParseClaim(value)
		assert.ErrorContains(t, err, want, value)
	}
}

func TestCheckKnowsEveryOption(t *testing.T) {
	for name, good := range map[string]string{Image: "a:1", Workdir: "/a", Scope: "job", Rendezvous: "none", NodeSelector: "a=b", Mount: "a", PVC: "1Gi"} {
		assert.NoError(t, Check(name, good), name)
		assert.ErrorContains(t, Check(name, "\x01"), Flag(name)+": ")
	}
}

func FuzzParseMounts(f *testing.F) {
	for _, seed := range []string{"home,data:/mnt:ro", "a:ro", "/x", "a:/b:/c", "a:/proc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		mounts, err := ParseMounts(value)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotEmpty(t, mounts)
		for _, m := range mounts {
			require.False(t, strings.ContainsAny(m.Volume, "/:,. \n") || m.Volume == "")
			if m.Path != "" {
				require.Empty(t, site.MountPathFault(m.Path))
				require.False(t, strings.ContainsAny(m.Path, ":,\n\x00") || slices.Contains(strings.Split(m.Path, "/"), ".."), m.Path)
			}
		}
	})
}

func FuzzParseClaim(f *testing.F) {
	for _, seed := range []string{"10Gi:fast:/big", "1e3Gi", "1Ei", "9999999999999999999Ei", "1Gi:keep", "job:7:/a", "1e99999999", "1e-99999999:keep", ".5Gi", "5.Gi"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, err := ParseClaim(value)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotEqual(t, c.Of != 0, c.Size.Value() > 0)
		require.False(t, c.Of != 0 && (c.Keep || c.Class != ""))
		require.NotContains(t, c.Class, "/")
	})
}
