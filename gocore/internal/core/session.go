// SPDX-License-Identifier: Apache-2.0

package core

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// session is a stream.Session whose relays are named by task. It implements
// lifecycle.Session.
type session struct {
	*stream.Session
	relays []*stream.Relay
}

// Forward implements lifecycle.Session.
func (s session) Forward(task uint32) { s.Session.Forward(s.relays[task]) }
