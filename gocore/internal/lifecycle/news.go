// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

const (
	// newsPatience: a Pod that starts in less has nothing to tell.
	newsPatience = 3 * time.Second
	// newsPause between two lines: the scheduler's words change with each Pod of the cluster.
	newsPause = 30 * time.Second
)

// news tells the user of srun what the step waits for, a line when that changes. A batch
// script's output is a file, which shall not depend on how full the cluster was.
type news struct {
	step  *Step
	timer clock.Timer // nil: nothing is told
	ready bool
	kind  string // of what was told last
}

func newNews(s *Step) *news {
	n := &news{step: s}
	if s.numbered {
		n.timer = s.Clock.NewTimer(newsPatience)
	}
	return n
}

func (n *news) stop() {
	if n.timer != nil {
		n.timer.Stop()
	}
}

// due fires when the next line may be told; the caller receives from it and sets ready.
func (n *news) due() <-chan time.Time {
	if n.timer == nil || n.ready {
		return nil
	}
	return n.timer.C()
}

// tell tells why the Pod waits, where that is new and the last line is not fresh.
func (n *news) tell(r podstatus.Reading) {
	if n.timer == nil || r.State > podstatus.Starting {
		return
	}
	kind, text := report.StepWaiting(n.step.podName(), r)
	if !n.ready || kind == n.kind || text == "" {
		return
	}
	if kind == report.StepStarts {
		text = report.StepStarting(n.step.podName(), r, n.step.events())
	}
	n.step.tell(text)
	n.kind, n.ready = kind, false
	n.timer.Reset(newsPause)
}
