// SPDX-License-Identifier: Apache-2.0

package option

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestCheckCluster(t *testing.T) {
	several := &site.Config{Clusters: []site.Cluster{{Name: "lab"}, {Name: "cloud"}}}
	for value, want := range map[string]string{
		"lab": "", "cloud": "", "auto": "",
		"moon": `--k8s-cluster: no cluster of this site (there are: lab, cloud, or auto): "moon"`,
		"Lab":  `--k8s-cluster: no cluster of this site (there are: lab, cloud, or auto): "Lab"`,
		"":     "--k8s-cluster: a value is missing",
		"-N2":  `--k8s-cluster: the value starts with "-" (did you forget it? An option without a value takes the next word): "-N2"`,
		"a\nb": "--k8s-cluster: the value has a control character: \"a\\nb\"",
	} {
		if err := CheckCluster(value, several); want == "" {
			assert.NoError(t, err, value)
		} else {
			assert.EqualError(t, err, want, value)
		}
	}
	assert.EqualError(t, CheckCluster("auto", site.Default()), `--k8s-cluster: this site has one cluster and names none (leave the option out): "auto"`)
}

func FuzzCheckCluster(f *testing.F) {
	for _, value := range []string{"lab", "auto", "", "-", "../a", "a\x00b", "A"} {
		f.Add(value)
	}
	several := &site.Config{Clusters: []site.Cluster{{Name: "lab"}}}
	f.Fuzz(func(t *testing.T, value string) {
		if err := CheckCluster(value, several); (err == nil) != (value == "lab" || value == "auto") {
			t.Errorf("%q: %v", value, err)
		}
		if err := Check(Cluster, value); err == nil && len(value) > 63 {
			t.Errorf("%q is no label", value)
		}
	})
}
