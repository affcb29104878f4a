// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		pattern, comment string
		want, record     string
		updates          int
	}{
		"fixed":                            {"slurm", "", "slurm", "", 1},
		"of the user":                      {"user-%u", "", "user-alice", "user-alice", 1},
		"of the account, which may change": {"account-%a", "", "account-physics", "account-physics", 2},
		"that of the first run stays":      {"account-%a", `{"slurm-k8s":1,"namespace":"account-maths"}`, "account-maths", "account-maths", 1},
		"and when the site has another":    {"slurm", `{"slurm-k8s":1,"namespace":"account-maths"}`, "account-maths", "account-maths", 1},
		"what cannot be one is ignored":    {"account-%a", `{"slurm-k8s":1,"namespace":"../x"}`, "account-physics", "account-physics", 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.site.Namespace = test.pattern
				w.slurm.comment = test.comment
				w.slurm.facts = []string{"account=physics", "user_name=alice"}
				w.tasks.exit = someUsage
				w.runsPulled()
				w.at("CreatePod", func() {
					if test.updates > 1 {
						assert.Equal(t, test.want, w.slurm.record().Namespace, "before the Pod is made")
					}
				})
			}, func(t *testing.T, w *world) {
				assert.Equal(t, test.want, w.cluster.place.Name)
				assert.Equal(t, test.record, w.slurm.record().Namespace)
				assert.Equal(t, test.updates, w.count("Update"))
				assert.Len(t, w.slurm.record().Steps, 1)
			})
		})
	}
}

func TestNoNamespace(t *testing.T) {
	bubble(t, func(w *world) {
		w.site.Namespace = "account-%a"
		w.runsPulled()
	}, func(t *testing.T, w *world) {
		assert.Contains(t, w.notices(), "the job has no account")
		assert.EqualValues(t, 1<<8, w.exit().Status)
		assert.Empty(t, w.cluster.names())
		assert.Zero(t, w.requests())
	})
}
