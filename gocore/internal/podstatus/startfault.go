// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Class says what is to be done about a fault before the start.
type Class int

const (
	ClassNone     Class = iota // no fault
	ClassRetry                 // may mend itself: wait, or try again
	ClassCapacity              // there is no room: gate
	ClassExists                // create: the name is taken
	ClassFinal                 // will fail again: tell the user
)

func (c Class) String() string {
	if c < ClassNone || c > ClassFinal {
		return "unknown"
	}
	return [...]string{"none", "retry", "capacity", "exists", "final"}[c]
}

// Kind is what went wrong before the start.
type Kind int

const (
	KindUnknown       Kind = iota
	KindImageName          // kubelet cannot parse the reference
	KindImageAbsent        // pull policy Never, and the node has not got it
	KindImageNotFound      // the registry has no such name or tag
	KindImageDenied        // the registry refuses
	KindImagePlatform      // not for this node's architecture
	KindImagePull          // pull failed otherwise: network, registry, disk
	KindConfig             // kubelet cannot make the container's configuration
	KindCreate             // the runtime cannot create or start it
	KindRejected           // the node did not admit the Pod after all
	KindNeverStarted       // podinit ran, and gave up waiting for the order to start
)

// StartFault is why the container did not start.
type StartFault struct {
	Class Class
	Kind  Kind
	Words Words
	// Ended: this Pod will never start; another one must be made to try again.
	Ended bool
}

// Waiting reasons (k8s.io/kubernetes: pkg/kubelet/images, kuberuntime, container).
const (
	reasonInvalidImage = "InvalidImageName"
	reasonNeverPull    = "ErrImageNeverPull"
	reasonConfig       = "CreateContainerConfigError"
	reasonStartError   = "StartError"
	reasonCannotRun    = "ContainerCannotRun"
)

// waitingFault reads why the container waits; ContainerCreating and their like are no faults.
func waitingFault(words Words, image string) *StartFault {
	f := &StartFault{Class: ClassFinal, Words: words}
	switch words.Reason {
	case reasonInvalidImage:
		f.Kind = KindImageName
	case reasonNeverPull:
		f.Kind = KindImageAbsent
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
		f.Class, f.Kind = pullFault(words.Message, image)
	case reasonConfig, "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "CrashLoopBackOff":
		f.Kind = KindCreate
		if words.Reason == reasonConfig {
			f.Kind = KindConfig
		}
		if temporary(words.Message) {
			f.Class = ClassRetry
		}
	default:
		return nil
	}
	return f
}

// endedFault reads why a Pod ended without its container having run. nil: it ran.
func endedFault(pod *corev1.Pod, status *corev1.ContainerStatus) *StartFault {
	if t := termination(status); t != nil {
		if report, _ := ParseReport(t.Message); report.NeverStarted {
			return &StartFault{Class: ClassRetry, Kind: KindNeverStarted, Words: Words{Reason: t.Reason}, Ended: true}
		}
		if t.Reason != reasonStartError && t.Reason != reasonCannotRun {
			return nil
		}
		f := &StartFault{Class: ClassFinal, Kind: KindCreate, Words: Words{t.Reason, t.Message}, Ended: true}
		if temporary(t.Message) {
			f.Class = ClassRetry
		}
		return f
	}
	if status != nil && status.State.Running != nil {
		return nil // Failed beside running: it ran
	}
	f := &StartFault{Class: ClassRetry, Kind: KindRejected, Words: Words{pod.Status.Reason, pod.Status.Message}, Ended: true}
	switch {
	case finalRejections[pod.Status.Reason]:
		f.Class = ClassFinal
	case pod.Status.Reason == "" && disruption(pod).Any():
		f.Words = disruption(pod)
	}
	return f
}

// finalRejections: what another try could not mend. All else is a race between
// kube-scheduler and the node or the node's own trouble, and retried: OutOfcpu,
// OutOfmemory, OutOfpods, UnexpectedAdmissionError, NodeAffinity, TopologyAffinityError,
// NodeShutdown, Preempting, Evicted; SupplementalGroupsPolicyNotSupported too, since
// another node may know Strict.
var finalRejections = map[string]bool{
	reasonDeadline: true, // never started in all the job's time
	"AppArmor":     true,
}

// temporary tells kubelet's and the runtime's own troubles from a container that cannot be.
func temporary(message string) bool {
	return containsAny(strings.ToLower(message), []string{
		"context deadline exceeded", "deadlineexceeded", "timed out waiting", "failed to sync", "is reserved for",
		"no space left on device", "connection refused", "resource temporarily unavailable", "too many open files",
		"transport is closing", "code = unavailable", "i/o timeout", "ttrpc: closed",
		// containerd, its shim or runc ended meanwhile.
		"context canceled", "code = canceled", "error while dialing", "error reading from server", ": eof", "signal: killed",
	})
}
