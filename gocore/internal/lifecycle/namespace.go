// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// findNamespace turns the step to the namespace of the job's Pods. Where the job's account says
// which, and an operator may change that before the next run, it is written down before the
// first Pod is made: the next run must find that Pod. In the record it always stands.
func (s *Step) findNamespace() *outcome {
	place, err := s.Job.NamespaceOf(s.Site)
	if err != nil {
		return failed(report.Refused(err))
	}
	s.Job.Namespace = place
	s.Cluster = s.Cluster.In(place)
	if !s.Site.ByPattern() || s.record.Namespace == place.Name {
		return nil
	}
	s.record.Namespace = place.Name
	// Among several clusters it is the job's with the cluster, which is written before START.
	if !s.Site.ByAccount() || s.Job.Joins() || s.Site.Kubernetes != "" {
		return nil
	}
	err = s.insist("the job's namespace", func() error {
		return s.Slurm.Update(s.Job.ID, []string{"admin_comment=" + s.record.Encode()})
	})
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	if err != nil {
		return failed(report.Refused(err))
	}
	return nil
}
