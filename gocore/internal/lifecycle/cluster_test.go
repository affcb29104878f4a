// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// pod is short for what the scripts change.
type pod = corev1.Pod

var podResource = schema.GroupResource{Resource: "pods"}

// fakeCluster is a namespace with its scheduler and kubelet.
type fakeCluster struct {
	w    *world
	name string // the site's, of one of several
	// script is what becomes of the n-th Pod that the step makes, from its creation on.
	script func(n int) []event
	shapes podspec.Shapes
	events []corev1.Event
	place  site.Namespace // that the step chose
	unseen bool           // nothing of it can be watched
	stuck  bool           // kubelet does not answer: what is deleted does not go
	absent bool           // the namespace is not there
	ending bool           // it is being deleted

	mu        sync.Mutex
	pods      map[string]*corev1.Pod
	secrets   []*corev1.Secret
	claims    map[string]*corev1.PersistentVolumeClaim
	version   int
	made      int
	changed   chan struct{}
	history   map[types.UID][]*corev1.Pod // every state; the last is nil where it is gone
	pumps     []*fakePump
	disrupted bool
	joined    map[types.UID]bool // the Pods of others that the step has joined
}

func newFakeCluster(w *world) *fakeCluster {
	return &fakeCluster{
		w: w, pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{}, changed: make(chan struct{}), history: map[types.UID][]*corev1.Pod{}, joined: map[types.UID]bool{},
		script: func(int) []event { return starts(time.Second) },
	}
}

// change puts a new state of a Pod, or none, and wakes who follows; with mu.
func (c *fakeCluster) change(pod *corev1.Pod, do func(*corev1.Pod)) {
	next := pod.DeepCopy()
	do(next)
	c.version++
	next.ResourceVersion = fmt.Sprint(c.version)
	if next.Status.ContainerStatuses == nil || next.Status.ContainerStatuses[0].State.Running == nil {
		c.hangUp(string(pod.UID))
	}
	c.disrupted = c.disrupted || disrupts(next)
	if next.Name == "" {
		c.hangUp(string(pod.UID))
		delete(c.pods, pod.Name)
		c.history[pod.UID] = append(c.history[pod.UID], nil)
	} else {
		c.pods[pod.Name] = next
		c.history[pod.UID] = append(c.history[pod.UID], next)
	}
	close(c.changed)
	c.changed = make(chan struct{})
	if pod.DeletionTimestamp == nil && next.Name != "" && next.DeletionTimestamp != nil {
		c.terminate(next)
	}
}

// terminate is what kubelet does with a Pod that is being deleted; with mu.
func (c *fakeCluster) terminate(pod *corev1.Pod) {
	uid := pod.UID
	switch {
	case c.stuck:
	case pod.Spec.NodeName == "":
		c.change(pod, goes)
	default:
		time.AfterFunc(300*time.Millisecond, func() {
			c.alter(uid, func(p *corev1.Pod) {
				if p.Status.ContainerStatuses == nil || p.Status.ContainerStatuses[0].State.Terminated == nil {
					ends(143, "Error", "")(p)
				}
			})
		})
		time.AfterFunc(400*time.Millisecond, func() { c.alter(uid, goes) })
	}
}

// alter changes the Pod of a uid, if it is there.
func (c *fakeCluster) alter(uid types.UID, do func(*corev1.Pod)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pod := range c.pods {
		if pod.UID == uid {
			c.change(pod, do)
			return
		}
	}
}

// put adds a Pod that was there before.
func (c *fakeCluster) put(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods[pod.Name] = pod
	c.history[pod.UID] = []*corev1.Pod{pod}
}

// predecessor is the Pod of an incarnation before, running.
func (w *world) predecessor(changes ...func(*corev1.Pod)) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: testPod, Namespace: "slurm", UID: "before",
		Labels: map[string]string{
			wellknown.LabelApp: wellknown.AppJob, wellknown.LabelJobID: "7", wellknown.LabelCluster: "lab", wellknown.LabelIncarnation: "0",
		},
		Annotations: map[string]string{wellknown.AnnotationSession: "0000000000000001"},
	}}
	scheduled(pod)
	runs(pod)
	for _, change := range changes {
		change(pod)
	}
	w.cluster.put(pod)
	w.slurm.restarts = 1
}

func notFound(name string) error { return apierrors.NewNotFound(podResource, name) }

func (c *fakeCluster) EnsurePodinit(ctx context.Context, podinit []byte) (string, error) {
	err := c.call(ctx, "EnsurePodinit", c.here)
	return "slurm-k8s-podinit-0", err
}

// In implements lifecycle.Cluster: there is one namespace.
// call is one call of a port; of the second cluster its name stands before it.
func (c *fakeCluster) call(ctx context.Context, name string, do func() error) error {
	if c.name == second {
		name = second + " " + name
	}
	return c.w.call(ctx, name, do)
}

func (c *fakeCluster) In(place site.Namespace) Cluster {
	c.place = place
	return c
}

func (c *fakeCluster) CreatePod(ctx context.Context, pod *corev1.Pod) (made *corev1.Pod, err error) {
	err = c.call(ctx, "CreatePod", func() error {
		if err := c.here(); err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pods[pod.Name] != nil {
			return apierrors.NewAlreadyExists(podResource, pod.Name)
		}
		made = pod.DeepCopy()
		c.made++
		made.UID = types.UID(fmt.Sprintf("made-%d", c.made))
		c.version++
		made.ResourceVersion = fmt.Sprint(c.version)
		made.CreationTimestamp = metav1.Time{Time: time.Now()}
		made.Status.Phase = corev1.PodPending
		c.pods[made.Name] = made
		c.history[made.UID] = []*corev1.Pod{made}
		close(c.changed)
		c.changed = make(chan struct{})
		if !podspec.IsSeat(made) {
			c.play(made.UID, c.script(c.made))
		}
		return nil
	})
	if err != nil {
		return &corev1.Pod{}, err
	}
	return made, nil
}

func (c *fakeCluster) CreateSecret(ctx context.Context, secret *corev1.Secret) error {
	return c.call(ctx, "CreateSecret", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.secrets = append(c.secrets, secret.DeepCopy())
		return nil
	})
}

func (c *fakeCluster) play(uid types.UID, script []event) {
	if len(script) == 0 {
		return
	}
	time.AfterFunc(script[0].after, func() {
		c.alter(uid, script[0].do)
		c.play(uid, script[1:])
	})
}

func (c *fakeCluster) GetPod(ctx context.Context, name string) (found *corev1.Pod, err error) {
	err = c.call(ctx, "GetPod", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if found = c.pods[name]; found == nil {
			return notFound(name)
		}
		found = found.DeepCopy()
		return nil
	})
	if err != nil {
		return &corev1.Pod{}, err
	}
	return found, nil
}

func (c *fakeCluster) DeletePod(ctx context.Context, name string, uid types.UID, grace int64) error {
	if c.joined[uid] {
		c.w.breaks("the Pod of another step was deleted")
	}
	if grace < 1 || uid == "" {
		c.w.breaks("deletion of %q (%s) with grace %d", name, uid, grace)
	}
	return c.call(ctx, "DeletePod", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		pod := c.pods[name]
		switch {
		case pod == nil:
			return notFound(name)
		case pod.UID != uid:
			return apierrors.NewConflict(podResource, name, errors.New("the UID in the precondition does not match"))
		case pod.Labels[wellknown.LabelApp] != wellknown.AppJob || pod.Labels[wellknown.LabelJobID] != "7" || pod.Labels[wellknown.LabelCluster] != "lab":
			c.w.breaks("a foreign Pod was deleted")
		}
		if pod.DeletionTimestamp == nil {
			c.change(pod, deleted)
		}
		return nil
	})
}

func (c *fakeCluster) WithdrawPod(ctx context.Context, pod *corev1.Pod) error {
	return c.call(ctx, "WithdrawPod", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := c.pods[pod.Name]
		if now == nil || now.UID != pod.UID || now.ResourceVersion != pod.ResourceVersion {
			return apierrors.NewConflict(podResource, pod.Name, errors.New("the ResourceVersion in the precondition does not match"))
		}
		c.change(now, deleted)
		return nil
	})
}

func (c *fakeCluster) FollowStep(ctx context.Context, pod *corev1.Pod, see func([]*corev1.Pod), log func(error)) {
	if c.unseen {
		<-ctx.Done()
		return
	}
	for {
		c.mu.Lock()
		pods, changed := []*corev1.Pod{}, c.changed
		for _, p := range c.pods {
			run, known := p.Labels[wellknown.LabelIncarnation]
			step := p.Labels[wellknown.LabelStep]
			if (step == pod.Labels[wellknown.LabelStep] || step == wellknown.StepBatch) && (!known || run == pod.Labels[wellknown.LabelIncarnation]) {
				pods = append(pods, p)
			}
		}
		c.mu.Unlock()
		see(pods)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// peer is the Pod of the other of the step's two nodes, from after the beginning on; do is what becomes of it.
func (c *fakeCluster) peer(after time.Duration, script ...event) {
	c.w.after(after, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.version++
		node := 1 - c.w.nodeID
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("slurm-job-7-step-3-%d-%d", node, c.version), UID: types.UID(fmt.Sprintf("peer-%d", c.version)), ResourceVersion: fmt.Sprint(c.version),
			Labels: map[string]string{wellknown.LabelStep: "3", wellknown.LabelNodeID: fmt.Sprint(node)},
		}}
		p.Status.PodIP = "10.0.0.2"
		c.pods[p.Name] = p
		c.history[p.UID] = []*corev1.Pod{p}
		close(c.changed)
		c.changed = make(chan struct{})
		c.play(p.UID, script)
	})
}

func (c *fakeCluster) Follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod), gone func(), log func(error)) {
	next := 0
	for {
		// An error is an interruption of the watch: it goes on with the newest state.
		if err := c.call(ctx, "Follow", func() error { return nil }); err != nil {
			log(err)
			c.mu.Lock()
			next = max(next, len(c.history[pod.UID])-1)
			c.mu.Unlock()
			if ctx.Err() != nil {
				return
			}
			continue
		}
		break
	}
	for {
		c.mu.Lock()
		states, changed := c.history[pod.UID][next:], c.changed
		c.mu.Unlock()
		for _, state := range states {
			next++
			if state == nil {
				gone()
				return
			}
			if state.ResourceVersion != pod.ResourceVersion {
				see(state)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (c *fakeCluster) Events(ctx context.Context, uid types.UID) ([]corev1.Event, error) {
	err := c.call(ctx, "Events", func() error { return nil })
	return c.events, err
}

func (c *fakeCluster) Shapes(ctx context.Context) (podspec.Shapes, error) {
	err := c.call(ctx, "Shapes", func() error { return nil })
	return c.shapes, err
}

func (c *fakeCluster) Pump(ctx context.Context, name string, session uint64) (pump io.ReadWriteCloser, err error) {
	err = c.call(ctx, "Pump", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		pod := c.pods[name]
		if pod == nil || !containerRuns(pod) || !c.joined[pod.UID] && pod.Annotations[wellknown.AnnotationSession] != podspec.Session(session) {
			return fmt.Errorf("container of %q is not running", name)
		}
		p := &fakePump{cluster: c, uid: string(pod.UID), broken: make(chan struct{})}
		c.pumps = append(c.pumps, p)
		pump = p
		return nil
	})
	return pump, err
}

// hangUp breaks the pumps into a Pod; with mu.
func (c *fakeCluster) hangUp(uid string) {
	kept := c.pumps[:0]
	for _, p := range c.pumps {
		if p.uid == uid {
			close(p.broken)
		} else {
			kept = append(kept, p)
		}
	}
	c.pumps = kept
}
