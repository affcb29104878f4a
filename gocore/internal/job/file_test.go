// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInspect(t *testing.T) {
	file := Inspect([]byte(`#!/bin/bash -l
# a comment
#SBATCH --job-name="my job" --time=10:00
#SBATCH -A physics -n4 -c 2 --mem 4G   # why
   # indented
#K8S_IMAGE=debian:12
#K8S_WORKDIR= "/data/my dir"

#K8S_SCRIPT=/data/run.sh
#SBATCH --comment=a;b|c --k8s-image=h.io/x
##SBATCH --off
#SBATCH -H --exclusive
echo hello
#SBATCH --partition=late
#K8S_IMAGE=late
`))
	assert.Empty(t, file.Faults)
	assert.Equal(t, []string{"/bin/bash", "-l"}, file.Interpreter)
	assert.True(t, file.HasCommand)
	assert.Equal(t, Legacy{"debian:12", "/data/my dir", "/data/run.sh"}, file.Legacy)
	want := []Directive{
		{"job-name", "my job", 3}, {"time", "10:00", 3}, {"account", "physics", 4}, {"ntasks", "4", 4}, {"cpus-per-task", "2", 4},
		{"mem", "4G", 4}, {"comment", "a;b|c", 10}, {"k8s-image", "h.io/x", 10}, {"hold", "", 12}, {"exclusive", "", 12},
	}
	assert.Empty(t, cmp.Diff(want, file.Directives))
	assert.True(t, file.Given("time"))
	assert.False(t, file.Given("partition"))
}

func TestInspectTellsComponentsApart(t *testing.T) {
	file := Inspect([]byte("#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2 --mem=1\n#SBATCH -t1\n#SBATCH packjob\n"))
	assert.Equal(t, []Directive{{"ntasks", "1", 2}}, file.Directives)
	assert.Equal(t, [][]Directive{{{"ntasks", "2", 4}, {"mem", "1", 4}, {"time", "1", 5}}, nil}, file.Later)
	assert.True(t, file.Given("mem"))
}

func TestInspectRunsNothing(t *testing.T) {
	t.Setenv("SECRET", "leak")
	file := Inspect([]byte("#!/bin/sh\n#SBATCH --comment=$SECRET --name=`id` --x=$(id) -J '$SECRET'\n"))
	want := []Directive{{"comment", "$SECRET", 2}, {"name", "`id`", 2}, {"x", "$(id)", 2}, {"job-name", "$SECRET", 2}}
	assert.Empty(t, cmp.Diff(want, file.Directives))
}

func TestInspectWithoutCommand(t *testing.T) {
	file := Inspect([]byte("#!/bin/bash\n#K8S_IMAGE='debian'\n#K8S_IMAGE=alpine \n\n# done\n"))
	assert.False(t, file.HasCommand)
	assert.Equal(t, Legacy{Image: "alpine"}, file.Legacy)
	assert.True(t, file.Legacy.Any())
}

// The plugin reads them in sbatch (tests/c/spank_legacy_test.c); validate and render must find the same.
func TestLegacyFormsAreThePlugins(t *testing.T) {
	for text, want := range map[string]Legacy{
		"  # K8S_IMAGE =  a:1  \r\n":                  {Image: "a:1"},
		"#K8S_IMAGE=\"a b\"\n#K8S_WORKDIR='/w d'":     {Image: "a b", Workdir: "/w d"},
		"#K8S_IMAGE=\"a\n":                            {Image: `"a`},
		"#K8S_IMAGE=a=b\n\t#\tK8S_SCRIPT\t=\t/s.sh\n": {Image: "a=b", Script: "/s.sh"},
		"#K8S_IMAGES=a\n#K8S_IMAGE\n#K8S_IMAGE a\n##K8S_IMAGE=a\n#xK8S_IMAGE=a\n#k8s_image=a\n": {},
	} {
		assert.Equal(t, want, Inspect([]byte("#!/bin/sh\n"+text)).Legacy, "%q", text)
	}
}

func TestInspectFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "is empty",
		" \n\t\n":                   "nothing but white space",
		"echo hello\n":              "no interpreter line",
		"\n#!/bin/sh\n":             "no interpreter line",
		"#!\necho\n":                "no path after #!",
		"#!/bin/sh\necho a\r\n":     "DOS line endings (\\r\\n) in line 2",
		"#!/bin/sh\n\n\necho\x00\n": "NUL byte in line 4",
	} {
		file := Inspect([]byte(text))
		require.NotEmpty(t, file.Faults, text)
		assert.Contains(t, file.Faults[0], want)
	}
	both := Inspect([]byte("echo \x00\r\n"))
	assert.Len(t, both.Faults, 3, "every fault at once")
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("#!/bin/bash\n#SBATCH -n1 --x='a\n#K8S_IMAGE=\"x\n"))
	f.Add([]byte("#!/bin/sh\r\n#SBATCH \\\n\x00"))
	f.Fuzz(func(t *testing.T, head []byte) {
		file := Inspect(head)
		for _, fault := range file.Faults {
			require.NotContains(t, fault, "\n")
		}
		for _, d := range file.Directives {
			require.NotEmpty(t, d.Line)
		}
		require.NotContains(t, file.Legacy.Image+file.Legacy.Workdir+file.Legacy.Script, "\n")
		if len(file.Interpreter) > 0 {
			require.True(t, strings.HasPrefix(string(head), "#!"))
		}
	})
}
