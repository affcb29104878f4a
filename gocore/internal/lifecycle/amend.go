// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"strconv"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
)

// A job that was cancelled or has run out of time is over for slurmctld while its tasks still end,
// and slurmctld takes no AdminComment for it any more. Accounting does, and sacct shows that.

const (
	// amendLimit bounds the attempts, of which each is bounded by the host (gocore.h).
	amendLimit = 3 * time.Second
	// stepsFirst is how much later than its steps, which end with it, a script's core comes.
	stepsFirst = 500 * time.Millisecond
)

var errNotTaken = errors.New("slurmdbd does not have the job yet, or others write there at the same time")

// amend writes the record for a job that is over. In the goroutine of s.writing.
func (s *Step) amend(record job.Record) error {
	if s.startedSteps() {
		s.Clock.Sleep(stepsFirst)
	}
	late := s.Clock.Now().Add(amendLimit)
	expected := ""
	for {
		present, changed, err := s.Slurm.Amend(s.id, s.amendment(record, expected))
		if err != nil || changed {
			return err
		}
		if s.Clock.Now().After(late) {
			return errNotTaken
		}
		if present == expected { // the job is not known there yet
			s.Clock.Sleep(usagePause)
		}
		there, _ := job.ParseAdminComment(present)
		record, expected = record.Join(there), present
	}
}

func (s *Step) amendment(record job.Record, expected string) []string {
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	fields := []string{"admin_comment=" + record.Encode(), "expected=" + expected, "user_id=" + number(s.Job.UID)}
	if s.Job.ArrayJobID != 0 {
		fields = append(fields, "array_job_id="+number(s.Job.ArrayJobID), "array_task_id="+number(s.Job.ArrayTaskID))
	}
	return fields
}
