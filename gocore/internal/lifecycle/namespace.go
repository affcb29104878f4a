// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
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
	s.Job.Namespace, s.namespace = place, tried{}
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

const (
	// namespacePatience is how long an answer that the job's namespace may not be there is not
	// believed: a kube-apiserver that has just started says so of all.
	namespacePatience = 5 * time.Second
	// rightsPatience is how long one may take to learn of the rights in a namespace that was made.
	rightsPatience = 30 * time.Second
)

// tried is what was done about a namespace that may not be there.
type tried struct {
	since time.Time // the first answer that said so, or that the namespace was made after
	made  bool
}

// noNamespace acts on an answer that the job's namespace may not be there. nil: try again.
func (s *Step) noNamespace(refusal error, limit time.Time) *outcome {
	now := s.Clock.Now()
	if s.namespace.since.IsZero() {
		s.namespace.since = now
	}
	place := s.Job.Namespace
	// One that an earlier run was in is not made: its name may be anybody's word by now.
	makes := s.Site.Tenants.Create && place.Exact != ""
	switch {
	case podstatus.NamespaceEnds(refusal):
		return s.namespaceEnds(refusal, limit)
	case makes && !s.namespace.made:
		return s.makeNamespace(limit)
	case now.Sub(s.namespace.since) < namespacePatience, s.namespace.made && now.Sub(s.namespace.since) < rightsPatience:
		s.Log.WithError(refusal).Infof("namespace %s may not be there; trying again", place.Name)
		return nil
	case makes:
		return failed(report.NamespaceWithoutRights(place.Name, refusal))
	}
	return failed(report.NoNamespace(place.Name, s.Site.Tenants.Create, refusal))
}

// makeNamespace asks once. nil: the namespace is there, or try again.
func (s *Step) makeNamespace(limit time.Time) *outcome {
	name := s.Job.Namespace.Name
	ctx, cancel := s.asking()
	err := s.Cluster.MakeNamespace(ctx)
	cancel()
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	now := s.Clock.Now()
	switch class := podstatus.ClassifyError(err); {
	case err == nil:
		s.Log.Infof("namespace %s was not there and is made", name)
		s.namespace = tried{since: now, made: true}
		return nil
	case podstatus.NamespaceEnds(err):
		return s.namespaceEnds(err, limit)
	case class == podstatus.ClassFinal, podstatus.NoNamespace(err) && now.Sub(s.namespace.since) >= namespacePatience:
		return failed(report.NamespaceNotMade(name, err))
	}
	s.Log.WithError(err).Infof("namespace %s could not be made; trying again", name)
	if now.After(limit) {
		return returned(report.NamespaceNotMade(name, err))
	}
	return nil
}

// namespaceEnds waits for a namespace that is being deleted. nil: go on waiting.
func (s *Step) namespaceEnds(refusal error, limit time.Time) *outcome {
	s.namespace = tried{}
	s.Log.WithError(refusal).Infof("namespace %s is being deleted; the step waits for that", s.Job.Namespace.Name)
	if s.Clock.Now().After(limit) {
		return returned(report.NamespaceEnds(s.Job.Namespace.Name))
	}
	return nil
}
