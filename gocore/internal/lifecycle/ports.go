// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// Cluster is Kubernetes as a step sees it: one namespace.
type Cluster interface {
	// In is the same cluster with another namespace for all the others but Shapes.
	In(place site.Namespace) Cluster
	// MakeNamespace makes the namespace as the site has it, or sees that it is there and the
	// site's own; others may do the same. Called where the site says so.
	MakeNamespace(ctx context.Context) error
	// EnsurePodinit makes sure that the ConfigMap with these bytes is there; its name.
	EnsurePodinit(ctx context.Context, podinit []byte) (string, error)
	CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	GetPod(ctx context.Context, name string) (*corev1.Pod, error)
	CreateSecret(ctx context.Context, secret *corev1.Secret) error
	CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error
	GetClaim(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, error)
	// DeletePod deletes the Pod of this uid; grace in seconds, at least 1.
	DeletePod(ctx context.Context, name string, uid types.UID, grace int64) error
	// Follow calls see with each state from pod on, and gone once; blocks until ctx ends or gone.
	Follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod), gone func(), log func(error))
	// WithdrawPod deletes the Pod if it is still as given; a conflict says that it is not.
	WithdrawPod(ctx context.Context, pod *corev1.Pod) error
	// FollowStep calls see with the Pods of the Pod's step on all its nodes, and that of the
	// job's script, after each change, until ctx ends; all cores of the step see the same moments in the same order.
	FollowStep(ctx context.Context, pod *corev1.Pod, see func([]*corev1.Pod), log func(error))
	// Events of the Pod, as Kubernetes' own words, oldest first.
	Events(ctx context.Context, uid types.UID) ([]corev1.Event, error)
	// Shapes of the cluster's nodes as the collector published them.
	Shapes(ctx context.Context) (podspec.Shapes, error)
	// Join execs a joined podinit by its command; nil: it listens.
	Join(ctx context.Context, pod string, command []string) error
	// Pump execs podinit's pump.
	Pump(ctx context.Context, pod string, session uint64) (io.ReadWriteCloser, error)
}

// Turns is what the steps of this Slurm node share: whose turn it is to wait for room, in each
// Kubernetes cluster of the site ("": the only one).
type Turns interface {
	// Take gives the turn until back is called or the process ends. No back and no error: it is another's.
	Take(cluster string, turn podspec.Turn) (back func(), err error)
	// Current is nobody's where it is nil.
	Current(cluster string) (*podspec.Turn, error)
}

// Slurm is slurmctld as a step sees it. The calls block for as long as Slurm does.
type Slurm interface {
	Facts(jobID uint32) ([]string, error)
	StepFacts(jobID, step uint32) ([]string, error)
	// EndStep ends a step on all its Slurm nodes, as scancel JOB.STEP does.
	EndStep(jobID, step uint32) error
	Requeue(jobID uint32) error
	Update(jobID uint32, fields []string) error
	CompleteOutOfMemory(jobID uint32) error
	// Final tells an error of Requeue or Update that no retry can mend.
	Final(err error) bool
	// NoRequeue tells an error of Requeue that says the job has --no-requeue.
	NoRequeue(err error) bool
	// Ended tells an error of Update that says the job is over.
	Ended(err error) bool
	// Amend changes what Slurm's accounting keeps of a job that is over, by the fields of gocore.h.
	// Not changed and no error: AdminComment is not as expected, but as present says.
	Amend(jobID uint32, fields []string) (present string, changed bool, err error)
}

// Relay is one task's relay on this node.
type Relay interface {
	Hello(ctx context.Context) (stream.Launch, error)
	Signals() <-chan stream.Signal
	// Done is closed when the relay is gone.
	Done() <-chan struct{}
	// Notice writes a line to the task's stderr.
	Notice(text string)
	// Exit ends the relay as the status says.
	Exit(stream.Exit)
}

// Commands runs Slurm's commands on the Slurm node for the tasks in the Pod.
type Commands interface {
	// Offer says what the tasks may call.
	Offer(stream.Offer)
	// Called: the tasks have called something.
	Called() bool
	// End ends what it runs, and it; bounded, and once more is harmless.
	End()
}

// Session is the stream to podinit over successive pumps.
type Session interface {
	// Run keeps a pump connected until ctx ends.
	Run(ctx context.Context) error
	Connected(ctx context.Context) error
	Start(ctx context.Context, launches []stream.Launch) error
	// StartSent: podinit may have started; the incarnation counts as started.
	StartSent() bool
	// Forward sends what the task's relay gets to podinit from now on: signals, input.
	Forward(task uint32)
	Signal(task uint32, signal stream.Signal)
	// Exit waits for the end of a task and for its output to be delivered.
	Exit(ctx context.Context, task uint32) (stream.Exit, error)
	// Exits waits for the end of every task and for its output to be delivered.
	Exits(ctx context.Context) ([]stream.Exit, error)
	// OutputCame: all output of all tasks is here, or with the relays.
	OutputCame() bool
	Detach(ctx context.Context)
}
