// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Where the site names several Kubernetes clusters each step is in one of them. A batch script
// writes its own into the job's record before START, so that later runs, the job's steps, and who
// cleans up know it. Of a numbered step each Slurm node's core chooses for itself, so that only
// what all of them see alike may count: that record, the option, the site's file.

// chooseCluster finds out which cluster the step belongs to, or leaves it to seek.
func (s *Step) chooseCluster(jobNodes string) *outcome {
	asked := s.Job.Options.Cluster
	if asked != "" {
		if err := option.CheckCluster(asked, s.Site); err != nil {
			return failed(report.Refused(err))
		}
	}
	if len(s.Site.Clusters) == 0 {
		return s.findNamespace()
	}
	name := s.Site.ClusterFor(asked)
	if name == site.ClusterAuto && s.record.Cluster == "" && s.Job.Options.Claim != nil && s.Job.Options.Claim.Kept() {
		return failed(report.Refused(option.ErrKeptAnywhere))
	}
	recorded := s.record.Cluster
	if s.Job.Component != "" { // its job may be another one than the script's
		recorded = ""
	}
	switch {
	case recorded != "" && (s.Job.IsBatch() || asked == "" || asked == site.ClusterAuto):
		name = recorded
	case s.Job.Joins() && (asked == "" || asked == site.ClusterAuto):
		s.choices = s.Site.ClusterNames()
		return nil
	case name != site.ClusterAuto:
	case s.Job.IsBatch(), s.Job.Component == "" && jobNodes == "1":
		s.choices = s.Site.ClusterNames()
		return nil
	default:
		name = s.Site.Clusters[0].Name
		if asked == site.ClusterAuto && s.Job.NodeID == 0 {
			s.tell(report.ClusterOfAll(name))
		}
	}
	return s.enterCluster(name)
}

// enterCluster makes a cluster the step's. Nothing of the step may be in another one but what it has left behind.
func (s *Step) enterCluster(name string) *outcome {
	config, err := s.Site.In(name)
	if err != nil { // the file has changed since the job's first run
		return failed(report.Refused(err))
	}
	cluster, err := s.Open(config)
	if err != nil {
		return failed(report.Configuration(err))
	}
	s.Site, s.Cluster = config, cluster
	if s.record.Cluster != name {
		s.record.Namespace = "" // another cluster's
	}
	return s.findNamespace()
}

// pinCluster writes the cluster into the job's record, unless it stands there or another step's
// place would be said for the job's. nil: START may be sent.
func (s *Step) pinCluster() *outcome {
	name := s.Site.Kubernetes
	if name == "" || s.record.Cluster == name || !s.Job.IsBatch() && len(s.choices) == 0 {
		return nil
	}
	err := s.insist("the record of the job's cluster", func() error {
		record := s.record
		if s.numbered { // the job's other steps write there, too
			facts, err := s.Slurm.Facts(s.id)
			if err != nil {
				return err
			}
			record, record.Foreign = job.ParseAdminComment(fact(facts, "admin_comment"))
			record.Namespace = s.record.Namespace
		}
		record.Cluster = name
		return s.Slurm.Update(s.id, []string{"admin_comment=" + record.Encode()})
	})
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	if err != nil { // a later run might start beside this one
		return returned(report.NotRecorded(name, err))
	}
	s.record.Cluster = name
	return nil
}
