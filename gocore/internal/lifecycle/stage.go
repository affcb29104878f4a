// SPDX-License-Identifier: Apache-2.0

package lifecycle

// The stages of a step's life, in their usual order; some come again with another attempt, and
// start-sent and first-byte are the stream's.
const (
	stageCreated   = "created"
	stageScheduled = "scheduled"
	stageRunning   = "running"
	stageConnected = "connected"
	stageEndKnown  = "end-known"
	StageRelayGone = "relay-gone" // every relay's; the owner of their sockets tells it
	stagePodGone   = "pod-gone"   // or Kubernetes has taken its deletion: an ordinary end waits for no more
)

// Reached tells whoever looks where a job's time goes. Any goroutine may call it.
func (s *Step) Reached(stage string) {
	s.Log.Debugf("stage %s after %.3f s", stage, s.Clock.Since(s.since).Seconds())
}
