// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestCluster(t *testing.T) {
	for name, test := range map[string]struct {
		byDefault, asked, comment, want string
	}{
		"the first":                     {"", "", "", first},
		"the site's default":            {second, "", "", second},
		"the job's choice":              {"", second, "", second},
		"that of the first run stays":   {"", "", `{"slurm-k8s":1,"cluster":"b"}`, second},
		"and for a job that says auto":  {"", site.ClusterAuto, `{"slurm-k8s":1,"cluster":"b"}`, second},
		"and when the site has another": {site.ClusterAuto, "", `{"slurm-k8s":1,"cluster":"b","namespace":"x"}`, second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.twoClusters(test.byDefault)
				w.options.Cluster, w.slurm.comment = test.asked, test.comment
				w.at("Start", func() { assert.Equal(t, test.want, w.slurm.record().Cluster) })
			}, func(t *testing.T, w *world) {
				assert.Equal(t, []string{test.want}, w.placed)
				assert.Equal(t, test.want, w.slurm.record().Cluster)
				assert.Zero(t, w.clusters()[map[string]int{first: 1, second: 0}[test.want]].made)
				if test.comment == "" { // with the usage, which none says here
					assert.Equal(t, 2, w.count("Update"))
				} else {
					assert.Equal(t, 1, w.count("Update"))
				}
			})
		})
	}
}

func TestClusterRefused(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(w *world)
		words string
	}{
		"unknown":         {func(w *world) { w.twoClusters(""); w.options.Cluster = "moon" }, `--k8s-cluster: no cluster of this site (there are: a, b, or auto): "moon"`},
		"of no site":      {func(w *world) { w.options.Cluster = "a" }, `--k8s-cluster: this site has one cluster and names none (leave the option out): "a"`},
		"gone since":      {func(w *world) { w.twoClusters(""); w.slurm.comment = `{"slurm-k8s":1,"cluster":"old"}` }, `no cluster of this site: "old" (there are: a, b)`},
		"bad credentials": {func(w *world) { w.twoClusters(""); w.unopened = map[string]error{first: errors.New("mode 0644")} }, "mode 0644"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, test.set, func(t *testing.T, w *world) {
				assert.Equal(t, failedStatus, w.exit().Status)
				assert.Contains(t, w.notices(), test.words)
				assert.Zero(t, w.requests())
			})
		})
	}
}

// TestClusterIsRecorded: without the record a later run could begin elsewhere beside this one.
func TestClusterIsRecorded(t *testing.T) {
	t.Run("Slurm comes back", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters("")
			w.fail("Update", fault{err: errSlurmDown}, fault{err: errSlurmDown})
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{first}, w.placed)
			assert.Equal(t, first, w.slurm.record().Cluster)
		})
	})
	t.Run("Slurm refuses", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters("")
			w.fail("Update", fault{err: errSlurmFinal})
		}, func(t *testing.T, w *world) {
			assert.Empty(t, w.placed)
			assert.Equal(t, 1, w.slurm.requeued())
			assert.Contains(t, w.notices(), "the job was not started in cluster a: Slurm does not record that")
			assert.Empty(t, w.cluster.names())
		})
	})
}

// step makes a numbered step of a job with so many nodes.
func (w *world) ofJob(nodes string) {
	w.stepID = "3"
	w.slurm.facts = []string{"nodes=" + nodes}
}

func TestClusterOfSteps(t *testing.T) {
	t.Run("the script's", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters(site.ClusterAuto)
			w.ofJob("2")
			w.slurm.comment = `{"slurm-k8s":1,"cluster":"b"}`
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{second}, w.placed)
			assert.Zero(t, w.count("EnsurePodinit"))
		})
	})
	t.Run("another one, by name", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters("")
			w.ofJob("1")
			w.options.Cluster = first
			w.slurm.comment = `{"slurm-k8s":1,"cluster":"b"}`
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{first}, w.placed)
			assert.Equal(t, second, w.slurm.record().Cluster, "the job's stays")
		})
	})
	t.Run("a job with one node chooses", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters("")
			w.ofJob("1")
			w.options.Cluster = site.ClusterAuto
			w.cluster.noRoom()
			w.slurm.comment = `{"slurm-k8s":1,"steps":[{"step":"1","nodes":1}]}`
		}, func(t *testing.T, w *world) {
			ranIn(t, w, second, 6*time.Second)
			assert.Contains(t, w.notices(), "cluster a does not place the Pod")
			assert.NotEmpty(t, w.slurm.record().Steps, "what other steps wrote is kept")
		})
	})
	t.Run("and goes round until there is room", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters(site.ClusterAuto)
			w.ofJob("1")
			w.cluster.noRoom()
			w.other.script = func(n int) []event {
				if n < 3 {
					return []event{{time.Millisecond, unschedulable(full)}}
				}
				return starts(time.Second)
			}
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{second}, w.placed)
			assert.Equal(t, 3, w.other.made)
			assert.Contains(t, w.notices(), "the next attempt is in 10s")
		})
	})
	t.Run("of several nodes none chooses", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.twoClusters("")
			w.ofJob("2")
			w.options.Cluster = site.ClusterAuto
		}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{first}, w.placed)
			assert.Contains(t, w.notices(), "this step is in the site's first cluster, a")
			assert.Empty(t, w.slurm.record().Cluster)
		})
	})
}

// TestJoinLooksEverywhere: a step may have named its cluster for itself alone.
func TestJoinLooksEverywhere(t *testing.T) {
	for name, silent := range map[string]bool{"there": false, "behind one that is down": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.twoClusters("")
				w.joins("2")
				there := w.cluster
				w.cluster = w.other
				w.host("2")
				w.cluster = there
				if silent {
					w.cluster.unseen = true
				}
			}, func(t *testing.T, w *world) {
				assert.Equal(t, []string{second}, w.placed)
			})
		})
	}
}
