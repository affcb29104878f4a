// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
)

// slurmError is an error in slurmctld's own words.
type slurmError string

func (e slurmError) Error() string { return string(e) }

const (
	errSlurmDown      = slurmError("Unable to contact slurm controller")
	errSlurmFinal     = slurmError("Invalid job id specified")
	errSlurmPending   = slurmError("Job is pending execution")
	errSlurmNoRequeue = slurmError("Requested operation is presently disabled")
	errSlurmEnded     = slurmError("Job has already finished")
	errNoAccounting   = slurmError("no slurmdbd")
)

// fakeSlurm is slurmctld with the one job.
type fakeSlurm struct {
	w *world

	mu        sync.Mutex
	state     string
	requeue   bool
	asked     bool // what the user said about requeue
	comment   string
	kept      *string // by slurmdbd, once it was amended
	unknown   int     // so many times slurmdbd does not have the job yet
	begin     string
	restarts  int
	requeues  int
	memory    int
	stepEnds  int
	facts     []string // more of them
	refuseOOM bool
}

func newFakeSlurm(w *world) *fakeSlurm {
	return &fakeSlurm{w: w, state: "RUNNING", requeue: true, asked: true}
}

func (s *fakeSlurm) noRequeue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requeue, s.asked = false, false
}

func (s *fakeSlurm) set(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

func (s *fakeSlurm) requeued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requeues
}

// record is what stands in AdminComment.
func (s *fakeSlurm) record() job.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	record, _ := job.ParseAdminComment(s.comment)
	return record
}

func (s *fakeSlurm) Facts(id uint32) (facts []string, err error) {
	err = s.w.call(context.Background(), "Facts", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if id != testJob {
			return errSlurmFinal
		}
		requeue := map[bool]string{true: "1", false: "0"}[s.requeue]
		facts = append([]string{
			"user_id=1000", "group_id=1000", "cpus=1", "memory_mb=100", "state=" + s.state, "requeue=" + requeue,
			"admin_comment=" + s.comment, fmt.Sprintf("restart_count=%d", s.restarts), "time_limit=60",
		}, s.facts...)
		return nil
	})
	return facts, err
}

func (s *fakeSlurm) StepFacts(id, step uint32) (facts []string, err error) {
	if fmt.Sprint(step) != s.w.stepID {
		s.w.breaks("step %d", step)
	}
	err = s.w.call(context.Background(), "StepFacts", func() error {
		facts = []string{"tres=cpu=2,mem=400M,node=" + fmt.Sprint(s.w.nodes), "nodes=" + fmt.Sprint(s.w.nodes)}
		return nil
	})
	return facts, err
}

func (s *fakeSlurm) EndStep(id, step uint32) error {
	return s.w.call(context.Background(), "EndStep", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stepEnds++
		return nil
	})
}

func (s *fakeSlurm) Requeue(id uint32) error {
	return s.w.call(context.Background(), "Requeue", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.state == "PENDING":
			return errSlurmPending
		case s.state != "RUNNING":
			return errSlurmFinal
		case !s.requeue:
			return errSlurmNoRequeue
		}
		s.requeues++
		s.state = "PENDING"
		s.w.checkRequeue()
		// Slurm ends the incarnation as it ends any job.
		time.AfterFunc(10*time.Millisecond, s.w.term)
		time.AfterFunc(killWait, s.w.kill)
		return nil
	})
}

func (s *fakeSlurm) Update(id uint32, fields []string) error {
	return s.w.call(context.Background(), "Update", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over() {
			return errSlurmEnded
		}
		for _, field := range fields {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "admin_comment":
				s.w.checkComment(value)
				s.comment = value
			case "begin_time":
				s.begin = value
			case "requeue":
				s.requeue = value == "1"
			default:
				s.w.breaks("update of %q", field)
			}
		}
		return nil
	})
}

// over: slurmctld takes no update any more.
func (s *fakeSlurm) over() bool { return s.state != "RUNNING" && s.state != "PENDING" }

func (s *fakeSlurm) Amend(id uint32, fields []string) (present string, changed bool, err error) {
	err = s.w.call(context.Background(), "Amend", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.over() {
			s.w.breaks("amended in state %s", s.state)
		}
		if s.kept == nil { // slurmctld has handed over what it had
			s.kept = new(string)
			*s.kept = s.comment
		}
		comment := fact(fields, "admin_comment")
		s.w.checkComment(comment)
		if fact(fields, "user_id") != "1000" {
			s.w.breaks("amended without the user")
		}
		if s.unknown > 0 {
			s.unknown--
			return nil
		}
		if present = *s.kept; present == fact(fields, "expected") {
			changed, *s.kept = true, comment
		}
		return nil
	})
	return present, changed, err
}

// amended is what stands in slurmdbd's AdminComment, where it was amended.
func (s *fakeSlurm) amended() job.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return job.Record{}
	}
	record, _ := job.ParseAdminComment(*s.kept)
	return record
}

func (s *fakeSlurm) Ended(err error) bool { return errors.Is(err, errSlurmEnded) }

func (s *fakeSlurm) CompleteOutOfMemory(id uint32) error {
	return s.w.call(context.Background(), "CompleteOutOfMemory", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuseOOM {
			return errSlurmFinal
		}
		s.memory++
		return nil
	})
}

func (s *fakeSlurm) Final(err error) bool {
	return errors.Is(err, errSlurmFinal) || errors.Is(err, errSlurmNoRequeue) || errors.Is(err, errSlurmPending) || errors.Is(err, errSlurmEnded)
}
func (s *fakeSlurm) NoRequeue(err error) bool { return errors.Is(err, errSlurmNoRequeue) }

// checkComment: AdminComment always parses, and is one of ours.
func (w *world) checkComment(text string) {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil || len(text) > job.MaxAdminComment || object["slurm-k8s"] == nil {
		w.breaks("AdminComment %q (%v)", text, err)
	}
}

// checkRequeue: a started job is requeued only when Kubernetes ended it.
func (w *world) checkRequeue() {
	w.mu.Lock()
	starts := w.starts
	w.mu.Unlock()
	if starts > 0 && !slices.ContainsFunc(w.clusters(), (*fakeCluster).wasDisrupted) {
		w.breaks("the job was requeued after START, and not for a disruption")
	}
}

func (s *fakeSlurm) check() {
	s.mu.Lock()
	requeues, requeue, asked, over := s.requeues, s.requeue, s.asked, s.over()
	s.mu.Unlock()
	if requeues > 1 {
		s.w.breaks("requeued %d times", requeues)
	}
	// Of a job that is over slurmctld takes no change.
	if requeue != asked && !over && !s.w.updateFailed() && !s.w.cut {
		s.w.breaks("the job's requeue flag was left changed")
	}
}

// updateFailed tells whether an Update was made to fail: then what it was for is lost.
func (w *world) updateFailed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.calls, "Update") && w.faults["Update"] != nil
}
