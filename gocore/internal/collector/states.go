// SPDX-License-Identifier: Apache-2.0

package collector

// class is what a job's state means for its Pod.
type class int

const (
	// stateUnclear: the Pod stays. Also COMPLETING, in which the core may still be collecting
	// the last output, and whatever a newer Slurm calls a state.
	stateUnclear class = iota
	stateRunning
	stateWaiting
	stateEnded
)

// states are those that squeue prints, base states and flags (slurm_protocol_defs.c,
// job_state_string).
var states = map[string]class{
	"RUNNING":     stateRunning,
	"SUSPENDED":   stateRunning,
	"STOPPED":     stateRunning,
	"SIGNALING":   stateRunning,
	"CONFIGURING": stateRunning,
	"RESIZING":    stateRunning,

	"PENDING":       stateWaiting,
	"REQUEUED":      stateWaiting,
	"REQUEUE_HOLD":  stateWaiting,
	"REQUEUE_FED":   stateWaiting,
	"SPECIAL_EXIT":  stateWaiting,
	"RESV_DEL_HOLD": stateWaiting,

	"COMPLETED":     stateEnded,
	"CANCELLED":     stateEnded,
	"FAILED":        stateEnded,
	"TIMEOUT":       stateEnded,
	"NODE_FAIL":     stateEnded,
	"PREEMPTED":     stateEnded,
	"BOOT_FAIL":     stateEnded,
	"DEADLINE":      stateEnded,
	"OUT_OF_MEMORY": stateEnded,
	"REVOKED":       stateEnded,
}

func classOf(state string) class { return states[state] }
