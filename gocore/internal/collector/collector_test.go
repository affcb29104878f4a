// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fake is a cluster and a Slurm in memory.
type fake struct {
	pods       []corev1.Pod
	nodes      []corev1.Node
	configMaps []metav1.ObjectMeta
	published  *corev1.ConfigMap
	claims     []metav1.ObjectMeta
	kept       map[string]string // until when, by name
	jobs       map[uint32]Job

	podsErr, jobsErr, nodesErr, deleteErr error

	asked, applied int
	deleted        []string
}

func (f *fake) ListPods(context.Context, string, string) ([]corev1.Pod, error) {
	return f.pods, f.podsErr
}

func (f *fake) DeletePod(_ context.Context, namespace, name string, uid types.UID, grace int64) error {
	if grace < 1 {
		return errors.New("by force")
	}
	if f.deleteErr == nil {
		f.deleted = append(f.deleted, namespace+"/"+name+"/"+string(uid))
	}
	return f.deleteErr
}

func (f *fake) EachNode(_ context.Context, see func(*corev1.Node)) error {
	for i := range f.nodes {
		see(&f.nodes[i])
	}
	return f.nodesErr
}

func (f *fake) ListConfigMaps(context.Context, string) ([]metav1.ObjectMeta, error) {
	return f.configMaps, nil
}

func (f *fake) GetConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	if f.published == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return f.published.DeepCopy(), nil
}

func (f *fake) ApplyConfigMap(_ context.Context, object *corev1.ConfigMap) error {
	f.applied++
	f.published = object.DeepCopy()
	f.published.ResourceVersion = "2"
	return nil
}

func (f *fake) DeleteConfigMap(_ context.Context, _, name string, uid types.UID) error {
	f.deleted = append(f.deleted, name+"/"+string(uid))
	return nil
}

func (f *fake) ListClaims(_ context.Context, _, selector string) ([]metav1.ObjectMeta, error) {
	if selector != "app=slurm-job,slurm-k8s/cluster=lab" {
		return nil, errors.New("of other clusters too")
	}
	return f.claims, nil
}

func (f *fake) KeepClaim(_ context.Context, claim metav1.ObjectMeta, until string) error {
	f.kept[claim.Name] = until
	return nil
}

func (f *fake) DeleteClaim(_ context.Context, _, name string, uid types.UID) error {
	f.deleted = append(f.deleted, name+"/"+string(uid))
	return nil
}

func (f *fake) Jobs(context.Context) (map[uint32]Job, error) {
	f.asked++
	return f.jobs, f.jobsErr
}

func (f *fake) run(t *testing.T, change func(*Collector)) (string, error) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	var out bytes.Buffer
	c := Collector{
		Config: Config{
			Namespace: "slurm", Cluster: "lab", Grace: 2 * time.Minute,
			Podinit: "slurm-k8s-podinit-00000000000000aa", PodinitAge: 24 * time.Hour, KeepClaims: 168 * time.Hour,
		},
		Kubernetes: f, Slurm: f, Out: &out, Log: log, Now: func() time.Time { return now },
	}
	if change != nil {
		change(&c)
	}
	err := c.Run(t.Context())
	return out.String(), err
}

// pod is one of ours, an hour old, of the job's first run.
func pod(job string, change func(*corev1.Pod)) corev1.Pod {
	none := int64(0)
	p := corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &none}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "slurm", Name: "slurm-job-" + job, UID: types.UID("uid-" + job),
		CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		Labels: map[string]string{
			wellknown.LabelApp: wellknown.AppJob, wellknown.LabelCluster: "lab",
			wellknown.LabelJobID: job, wellknown.LabelIncarnation: "1",
		},
	}}
	if change != nil {
		change(&p)
	}
	return p
}

func node(name string, change func(*corev1.Node)) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("7500m"), corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourcePods: resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("0"),
	}
	n.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), "nvidia.com/gpu": resource.MustParse("2"),
		"hugepages-2Mi": resource.MustParse("0"), "attachable.kubernetes.io/x": resource.MustParse("9"),
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if change != nil {
		change(&n)
	}
	return n
}

func TestOrphans(t *testing.T) {
	for _, test := range []struct {
		name   string
		state  string // empty: unknown to Slurm
		runs   uint32
		change func(*corev1.Pod)
		want   string
	}{
		{name: "unknown", want: "job 7 is unknown to Slurm"},
		{name: "running", state: "RUNNING", runs: 1},
		{name: "suspended", state: "SUSPENDED", runs: 1},
		{name: "completing", state: "COMPLETING", runs: 1},
		{name: "completing after a requeue", state: "COMPLETING", runs: 2},
		{name: "a state of tomorrow", state: "TELEPORTING", runs: 5},
		{name: "ended", state: "COMPLETED", runs: 1, want: "job 7 is COMPLETED"},
		{name: "cancelled", state: "CANCELLED", runs: 1, want: "job 7 is CANCELLED"},
		{name: "out of memory", state: "OUT_OF_MEMORY", runs: 1, want: "job 7 is OUT_OF_MEMORY"},
		{name: "waits again", state: "PENDING", runs: 2, want: "job 7 is PENDING again"},
		{name: "held", state: "REQUEUE_HOLD", runs: 2, want: "job 7 is REQUEUE_HOLD again"},
		{name: "runs again", state: "RUNNING", runs: 2, want: "the Pod is of run 1, the job in its run 2"},
		{name: "ahead of Slurm", state: "RUNNING", runs: 0},
		{name: "young", change: func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute)) }},
		{name: "another Slurm cluster's", change: func(p *corev1.Pod) { p.Labels[wellknown.LabelCluster] = "other" }},
		{name: "going already", change: func(p *corev1.Pod) { at := metav1.NewTime(now.Add(-time.Hour)); p.DeletionTimestamp = &at }},
		{name: "no job id", change: func(p *corev1.Pod) { p.Labels[wellknown.LabelJobID] = "x" }},
		{name: "no incarnation", change: func(p *corev1.Pod) { delete(p.Labels, wellknown.LabelIncarnation) }},
		{name: "foreign name", change: func(p *corev1.Pod) { p.Name = "mine" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{pods: []corev1.Pod{pod("7", test.change)}, jobs: map[uint32]Job{9: {State: "RUNNING"}}}
			if test.state != "" {
				f.jobs[7] = Job{State: test.state, Restarts: test.runs}
			}
			out, err := f.run(t, nil)
			require.NoError(t, err)
			if test.want == "" {
				assert.Empty(t, f.deleted)
				assert.Empty(t, out)
				return
			}
			assert.Equal(t, []string{"slurm/slurm-job-7/uid-7"}, f.deleted)
			assert.Contains(t, out, "deleted Pod slurm/slurm-job-7: ")
			assert.Contains(t, out, test.want)

			f.deleted = nil
			out, err = f.run(t, func(c *Collector) { c.DryRun = true })
			require.NoError(t, err)
			assert.Empty(t, f.deleted)
			assert.Contains(t, out, "would delete Pod slurm/slurm-job-7: ")
		})
	}
}

// TestOrphansOfSteps: the Pods of a numbered step go with their job, on every node of it.
func TestOrphansOfSteps(t *testing.T) {
	step := func(job, step, node string) corev1.Pod {
		return pod(job, func(p *corev1.Pod) {
			p.Name += "-step-" + step + "-" + node
			p.Labels[wellknown.LabelStep], p.Labels[wellknown.LabelNodeID] = step, node
		})
	}
	f := &fake{
		pods: []corev1.Pod{step("7", "0", "0"), step("7", "0", "1"), step("8", "12", "0"), step("9", "0", "0"), pod("9", nil)},
		jobs: map[uint32]Job{7: {State: "COMPLETED", Restarts: 1}, 8: {State: "RUNNING", Restarts: 1}, 9: {State: "RUNNING", Restarts: 2}},
	}
	_, err := f.run(t, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"slurm/slurm-job-7-step-0-0/uid-7", "slurm/slurm-job-7-step-0-1/uid-7", "slurm/slurm-job-9-step-0-0/uid-9", "slurm/slurm-job-9/uid-9",
	}, f.deleted)
}

func TestWithoutSlurmsWordNothingIsDeleted(t *testing.T) {
	f := &fake{pods: []corev1.Pod{pod("7", nil), pod("8", nil)}, jobsErr: errors.New("no slurmctld"), nodes: []corev1.Node{node("a", nil)}}
	out, err := f.run(t, nil)
	assert.ErrorContains(t, err, "no slurmctld")
	assert.ErrorContains(t, err, "no Pod is removed")
	assert.Empty(t, f.deleted)
	assert.Equal(t, 1, f.applied, "the rest is done all the same")
	assert.Contains(t, out, "updated ConfigMap slurm/slurm-k8s-nodes: shapes of 1 nodes")
}

func TestSlurmIsAskedOnceAndOnlyWhereThereIsAQuestion(t *testing.T) {
	f := &fake{pods: []corev1.Pod{pod("7", nil), pod("8", nil)}, jobs: map[uint32]Job{}}
	_, err := f.run(t, nil)
	require.NoError(t, err)
	assert.Equal(t, 1, f.asked)
	assert.Len(t, f.deleted, 2)

	f = &fake{pods: []corev1.Pod{}}
	_, err = f.run(t, nil)
	require.NoError(t, err)
	assert.Zero(t, f.asked)
}

func TestGoneMeanwhileIsNoFault(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, err := range []error{apierrors.NewNotFound(pods, "x"), apierrors.NewConflict(pods, "x", errors.New("uid"))} {
		f := &fake{pods: []corev1.Pod{pod("7", nil)}, deleteErr: err}
		out, err := f.run(t, nil)
		assert.NoError(t, err)
		assert.Empty(t, out)
	}
	f := &fake{pods: []corev1.Pod{pod("7", nil), pod("8", nil)}, deleteErr: errors.New("denied")}
	_, err := f.run(t, nil)
	assert.ErrorContains(t, err, "slurm-job-7")
	assert.ErrorContains(t, err, "slurm-job-8", "each is tried")
}

func TestPodsCannotBeListed(t *testing.T) {
	f := &fake{podsErr: errors.New("no API"), nodesErr: errors.New("no API either"),
		configMaps: []metav1.ObjectMeta{{Name: "slurm-k8s-podinit-0000000000000001"}}}
	_, err := f.run(t, nil)
	assert.ErrorContains(t, err, "no API")
	assert.ErrorContains(t, err, "no API either")
	assert.Empty(t, f.deleted)
	assert.Zero(t, f.applied)
}

func TestPodinits(t *testing.T) {
	at := func(name string, age time.Duration) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, UID: types.UID("u"), CreationTimestamp: metav1.NewTime(now.Add(-age))}
	}
	week := 7 * 24 * time.Hour
	f := &fake{
		configMaps: []metav1.ObjectMeta{
			at("slurm-k8s-podinit-00000000000000aa", week), // the current one
			at("slurm-k8s-podinit-00000000000000bb", week), // used, by another Slurm cluster
			at("slurm-k8s-podinit-00000000000000cc", time.Hour),
			at("slurm-k8s-podinit-00000000000000dd", week),
			at("slurm-k8s-podinit-mine", week),
			at("slurm-k8s-nodes", week),
		},
		pods: []corev1.Pod{pod("7", func(p *corev1.Pod) {
			p.Labels[wellknown.LabelCluster] = "other"
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "slurm-k8s-podinit-00000000000000bb"},
			}}}}
		})},
	}
	out, err := f.run(t, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"slurm-k8s-podinit-00000000000000dd/u"}, f.deleted)
	assert.Contains(t, out, "deleted ConfigMap slurm/slurm-k8s-podinit-00000000000000dd")

	f.deleted = nil
	_, err = f.run(t, func(c *Collector) { c.Podinit = "" })
	require.NoError(t, err)
	assert.Empty(t, f.deleted, "without knowing the current one, none")
}

func TestShapes(t *testing.T) {
	f := &fake{nodes: []corev1.Node{
		node("a", nil),
		node("b", func(n *corev1.Node) { n.Spec.Unschedulable = true }),
		node("new", func(n *corev1.Node) { n.Status = corev1.NodeStatus{} }),
		node("control", func(n *corev1.Node) {
			n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("64")
			n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
		}),
	}}
	out, err := f.run(t, func(c *Collector) { c.DryRun = true })
	require.NoError(t, err)
	assert.Equal(t, "would update ConfigMap slurm/slurm-k8s-nodes: shapes of 2 nodes\n", out)
	assert.Zero(t, f.applied)

	_, err = f.run(t, nil)
	require.NoError(t, err)
	got, err := podspec.ParseShapes([]byte(f.published.Data[wellknown.NodesKey]))
	require.NoError(t, err)
	assert.Equal(t, podspec.Shapes{V: podspec.ShapesVersion, At: now, Shapes: []podspec.Shape{
		{CPU: 7500, Memory: 16 << 30, Resources: map[string]int64{"nvidia.com/gpu": 2}, Count: 2},
	}}, got)

	out, err = f.run(t, func(c *Collector) { c.Now = func() time.Time { return now.Add(time.Hour) } })
	require.NoError(t, err)
	assert.Empty(t, out)
	assert.Equal(t, 1, f.applied, "nothing new, nothing written")

	_, err = f.run(t, func(c *Collector) { c.Autoscaler = true })
	require.NoError(t, err)
	assert.Equal(t, 2, f.applied)
	assert.Equal(t, "2", f.published.ResourceVersion)

	f.nodes[0].Labels = map[string]string{"gpu": "a100", "other": "x"}
	_, err = f.run(t, func(c *Collector) { c.NodeLabels = []string{"disk", "gpu"} })
	require.NoError(t, err)
	assert.Equal(t, 3, f.applied)
	got, err = podspec.ParseShapes([]byte(f.published.Data[wellknown.NodesKey]))
	require.NoError(t, err)
	assert.Equal(t, []string{"disk", "gpu"}, got.Labels)
	require.Len(t, got.Shapes, 2)
	assert.Equal(t, map[string]string{"gpu": "a100"}, got.Shapes[1].Labels)
	assert.Nil(t, got.Shapes[0].Labels)

	f.nodes = nil
	_, err = f.run(t, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, f.applied, "no node says nothing")
}
