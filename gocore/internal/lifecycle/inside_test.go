// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

func (c *fakeCluster) Join(ctx context.Context, name string, command []string) error {
	return c.call(ctx, "Join", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		pod := c.pods[name]
		if pod == nil || !containerRuns(pod) {
			return errors.New("container not found")
		}
		if !slices.Equal(command, wellknown.JoinCommand(testSession, c.w.site.OrphanTimeout.Duration, c.w.site.StartLimit.Duration)) {
			c.w.breaks("join by %q", command)
		}
		c.joined[pod.UID] = true
		return nil
	})
}

var foreignError = podstatus.Foreign(errors.New("no such thing"))

const hostUID = types.UID("host")

// host is the Pod of another step of the job, running, as the changes say.
func (w *world) host(step string, changes ...func(*corev1.Pod)) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: wellknown.PodName(testJob, step, "", 0), Namespace: "slurm", UID: hostUID, ResourceVersion: "host",
		Labels: map[string]string{
			wellknown.LabelApp: wellknown.AppJob, wellknown.LabelJobID: "7", wellknown.LabelCluster: "lab",
			wellknown.LabelStep: step, wellknown.LabelNode: "n1", wellknown.LabelIncarnation: "0",
		},
	}}
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000)), RunAsGroup: new(int64(1000))}
	pod.Spec.Containers = []corev1.Container{{Name: wellknown.ContainerName, Image: "registry.lab/tiny:1"}}
	pod.Status.PodIP = "10.0.0.7"
	scheduled(pod)
	runs(pod)
	for _, change := range changes {
		change(pod)
	}
	w.cluster.put(pod)
}

// joins makes the world's a step that joins another one's container.
func (w *world) joins(step string) {
	w.numbered(1)
	w.options = job.Options{Join: step}
}

func TestJoin(t *testing.T) {
	for _, step := range []string{"batch", "2"} {
		bubble(t, func(w *world) {
			w.host(step)
			w.joins(step)
			w.addRelay()
			w.tasks = tasks{take: time.Minute, exit: stream.Exit{Status: 3 << 8}, early: map[uint32]time.Duration{1: time.Second}}
		}, func(t *testing.T, w *world) {
			assert.Equal(t, uint32(3<<8), w.exit().Status)
			assert.Empty(t, w.notices())
			assert.Equal(t, 1, w.starts)
			assert.Zero(t, w.cluster.made)
			assert.Zero(t, w.count("DeletePod"))
			assert.Zero(t, w.count("EnsurePodinit"))
			assert.Equal(t, []string{"10.0.0.7"}, w.step.addresses)
			assert.Equal(t, []string{wellknown.PodName(testJob, step, "", 0)}, w.cluster.names(), "its container runs on")
			assert.Equal(t, w.cluster.names()[0], w.slurm.record().Steps[0].Pod)
		})
	}
}

// The container's GPUs are named by its own Pod; those of a job's script by slurmctld.
func TestJoinIsToldItsGPUs(t *testing.T) {
	said := [][]string{{"SLURM_STEP_GPUS=5", "CUDA_VISIBLE_DEVICES=5"}, {"SLURM_STEP_GPUS=2", "CUDA_VISIBLE_DEVICES=2"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{wellknown.LabelStep: "2"}, Annotations: map[string]string{wellknown.AnnotationGPUs: "2,5"},
	}}
	s := &Step{}
	s.Job.NodeGPUs = []int{0, 2, 5}
	s.pod = &followed{last: pod, guest: true}
	assert.Equal(t, [][]string{{"CUDA_VISIBLE_DEVICES=1"}, {"CUDA_VISIBLE_DEVICES=0"}}, s.devices(said))
	pod.Labels[wellknown.LabelStep] = wellknown.StepBatch
	assert.Equal(t, [][]string{{"CUDA_VISIBLE_DEVICES=2"}, {"CUDA_VISIBLE_DEVICES=1"}}, s.devices(said))
}

func TestJoinWhatIsNotThere(t *testing.T) {
	pulls := func(p *corev1.Pod) { waits("ContainerCreating", "")(p); p.Status.Phase = corev1.PodPending }
	for name, c := range map[string]struct {
		set  func(w *world)
		says string
	}{
		"no Pod of the script":  {func(w *world) { w.joins("batch") }, "the script of job 7 has no Pod"},
		"no such step":          {func(w *world) { w.host("batch"); w.joins("5") }, "job 7 has no step 5 in a Pod"},
		"on another Slurm node": {func(w *world) { w.host("batch", elsewhere); w.joins("batch") }, "no Pod on Slurm node n1, but on n2"},
		"an earlier run's":      {func(w *world) { w.host("batch"); w.slurm.restarts = 1; w.joins("batch") }, "has no Pod"},
		"another user's":        {func(w *world) { w.host("batch", stranger); w.joins("batch") }, "is another user's"},
		"no room yet":           {func(w *world) { w.host("batch", waitsForRoom); w.joins("batch") }, "has not started yet; try again when it has [" + full},
		"its image comes yet":   {func(w *world) { w.host("batch", pulls); w.joins("batch") }, "has not started yet; try again when it has [ContainerCreating]"},
		"it has ended":          {func(w *world) { w.host("batch", ends(0, "Completed", "")); w.joins("batch") }, "has ended or is about to"},
		"it is being deleted":   {func(w *world) { w.host("batch", deleted); w.joins("batch") }, "has ended or is about to"},
		"its podinit says no": {func(w *world) {
			w.host("batch")
			w.joins("batch")
			w.fail("Join", fault{err: podstatus.Foreign(errors.New("exit code 64"))})
		}, "cannot be joined [exit code 64]"},
		"nobody answers": {func(w *world) {
			w.host("batch")
			w.joins("batch")
			w.fail("Join", fault{err: errSlurmDown, always: true})
		}, "cannot be joined ["},
		"the stream never comes": {func(w *world) {
			w.host("batch")
			w.joins("batch")
			w.fail("Pump", fault{err: errSlurmDown, always: true})
		}, "slurm-k8s: "},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.set, func(t *testing.T, w *world) {
				assert.Contains(t, w.notices(), c.says)
				assert.Equal(t, failedStatus, w.exit().Status)
				assert.Zero(t, w.starts)
				assert.Zero(t, w.cluster.made)
				assert.Zero(t, w.count("DeletePod"))
			})
		})
	}
}

func elsewhere(p *corev1.Pod) { p.Labels[wellknown.LabelNode] = "n2" }
func stranger(p *corev1.Pod)  { p.Spec.SecurityContext.RunAsUser = new(int64(1001)) }
func waitsForRoom(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.Phase, p.Status.ContainerStatuses = "", corev1.PodPending, nil
	unschedulable(full)(p)
}

func TestJoinIsTriedAgain(t *testing.T) {
	bubble(t, func(w *world) {
		w.host("batch")
		w.joins("batch")
		w.fail("Join", fault{err: errSlurmDown}, fault{err: errSlurmDown, done: true})
	}, func(t *testing.T, w *world) {
		assert.Equal(t, 1, w.starts)
		assert.Equal(t, 3, w.count("Join"))
		assert.Zero(t, w.exit().Status)
	})
}

func TestJoinedContainerEnds(t *testing.T) {
	const line = "slurm-k8s: the container of Pod slurm-job-7 ended, and with it what had joined it"
	at := func(w *world, do func(*corev1.Pod)) { w.after(10*time.Second, func() { w.cluster.alter(hostUID, do) }) }
	for name, c := range map[string]struct {
		do   func(*corev1.Pod)
		says string
	}{
		"with the script":    {ends(0, "Completed", ""), line},
		"by its deletion":    {deleted, line},
		"by force":           {goes, line},
		"for want of memory": {ends(137, "OOMKilled", ""), line + " [OOMKilled]"},
		"evicted":            {func(p *corev1.Pod) { disruption("EvictionByEvictionAPI")(p); deleted(p) }, line + " [EvictionByEvictionAPI: by the test]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.host("batch")
				w.joins("batch")
				w.tasks.take = time.Hour
				at(w, c.do)
			}, func(t *testing.T, w *world) {
				assert.Equal(t, c.says, w.notices())
				assert.Equal(t, uint32(9), w.exit().Status)
				assert.Less(t, w.exited, 2*time.Minute)
				assert.Zero(t, w.slurm.requeued())
			})
		})
	}
	t.Run("and its podinit could tell", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.host("batch")
			w.joins("batch")
			w.tasks = tasks{take: 10 * time.Second, exit: stream.Exit{Status: 9}}
			w.after(10500*time.Millisecond, func() { w.cluster.alter(hostUID, deleted) })
		}, func(t *testing.T, w *world) {
			assert.Equal(t, line, w.notices())
			assert.Equal(t, uint32(9), w.exit().Status)
		})
	})
	t.Run("but the tasks killed each other", func(t *testing.T) {
		bubble(t, func(w *world) {
			w.host("batch")
			w.joins("batch")
			w.tasks = tasks{take: 10 * time.Second, exit: stream.Exit{Status: 9}}
		}, func(t *testing.T, w *world) {
			assert.Empty(t, w.notices())
			assert.Equal(t, uint32(9), w.exit().Status)
		})
	})
}

// exited is the end of an exec by a code of its command.
type exited int

func (e exited) Error() string   { return fmt.Sprintf("exit code %d", int(e)) }
func (e exited) ExitStatus() int { return int(e) }

type brokenPump struct{ err error }

func (p brokenPump) Read([]byte) (int, error)  { return 0, p.err }
func (p brokenPump) Write([]byte) (int, error) { return 0, p.err }
func (p brokenPump) Close() error              { return nil }

func TestGuestPump(t *testing.T) {
	for code, gone := range map[int]bool{0: false, 1: false, 69: true} {
		pump := guestPump{brokenPump{fmt.Errorf("pump: %w", exited(code))}}
		_, err := pump.Read(nil)
		assert.Equal(t, gone, errors.Is(err, stream.ErrGone))
		_, err = pump.Write(nil)
		assert.Equal(t, gone, errors.Is(err, stream.ErrGone))
		assert.ErrorAs(t, err, new(exited))
	}
	_, err := guestPump{brokenPump{io.EOF}}.Read(nil)
	assert.Equal(t, io.EOF, err)
}

func TestJoinedPodinitIsKilledAlone(t *testing.T) {
	bubble(t, func(w *world) {
		w.host("batch")
		w.joins("batch")
		w.tasks.take = time.Hour
		w.fail("Exits", fault{err: fmt.Errorf("%w: exit code 69", stream.ErrGone), took: time.Minute})
		w.tasks.early = map[uint32]time.Duration{0: time.Second}
	}, func(t *testing.T, w *world) {
		assert.Equal(t, failedStatus, w.exit().Status)
		assert.Contains(t, w.notices(), "was killed there: how they ended is not known")
	})
}

func TestJoinUnderInterruption(t *testing.T) {
	for _, call := range []string{"Facts", "Join", "Pump", "Connected", "Start", "Exits"} {
		t.Run(call, func(t *testing.T) {
			for _, name := range []string{"scancel", "KILL", "srun's Ctrl-C"} {
				bubble(t, func(w *world) {
					w.host("batch")
					w.joins("batch")
					w.tasks.take = time.Hour
					w.at(call, map[string]func(){
						"scancel": func() { w.cancel("CANCELLED") }, "KILL": w.kill, "srun's Ctrl-C": func() { w.relays[0].signal(2) },
					}[name])
				}, func(t *testing.T, w *world) {
					assert.Len(t, w.cluster.names(), 1, "the container runs on")
					assert.Zero(t, w.count("DeletePod"))
				})
			}
		})
	}
}
