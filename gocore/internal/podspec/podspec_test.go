// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

var update = flag.Bool("update", false, "write testdata/*.yaml anew")

// input is a small job's; change makes another one of it.
func input(change func(*Input)) Input {
	in := Input{
		Job: job.Job{
			ID: 7, Step: wellknown.StepBatch, Cluster: "lab", Node: "n1", UID: 1001, GID: 1002, Groups: []uint32{1002, 2000}, User: "alice",
			CPUs: 2, MemoryMiB: 512, Nodes: 1, Tasks: 1, TimeLimit: time.Hour, Requeue: true, Options: job.Options{Image: "debian:12"},
		},
		Site: site.Default(), Session: 0x1f, PodinitConfigMap: "slurm-k8s-podinit-0011223344556677",
	}
	if change != nil {
		change(&in)
	}
	in.Job.Namespace.Name = in.Site.Namespace
	return in
}

func TestGolden(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"small": nil,
		"gpu": func(in *Input) {
			in.Site.Resources.GRES["gpu:a100"] = site.GRES{Resource: "nvidia.com/gpu-a100"}
			in.Job.GRES = []job.GRES{{Name: "gpu", Count: 1}, {Name: "gpu", Type: "a100", Count: 2}, {Name: "gpu", Type: "h100", Count: 1}}
			in.Job.Restarts = 3
		},
		"other-gres": func(in *Input) {
			in.Site.Resources.GRES = map[string]site.GRES{"nvme": {Resource: "example.com/nvme"}}
			in.Job.GRES = []job.GRES{{Name: "nvme", Count: 1}}
		},
		"gpu-typed": func(in *Input) {
			in.Site.Resources.GRES["gpu:a100"] = site.GRES{
				Resource: "nvidia.com/gpu", RuntimeClass: "nvidia",
				Labels: site.NodeLabels{"nvidia.com/gpu.product": {"NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB"}, "gpu": {"yes"}},
			}
			in.Job.GRES = []job.GRES{{Name: "gpu", Type: "a100", Count: 2}}
		},
		"gpu-by-slurm": func(in *Input) {
			in.Site.Resources.GRES = map[string]site.GRES{"gpu": {RuntimeClass: "nvidia", Devices: site.DevicesSlurm}}
			in.Site.Placement.Mode = site.PlaceNode
			in.Job.GRES, in.GPUs = []job.GRES{{Name: "gpu", Count: 2}}, []int{1, 3}
		},
		"gres-table": func(in *Input) {
			in.Site.Resources.GRES = map[string]site.GRES{
				"shard": {Resource: "example.com/vgpu", Factor: 4}, "mig:1g": {Resource: "nvidia.com/mig-1g.10gb"},
				"rdma": {Resource: "rdma/hca", Labels: site.NodeLabels{"fabric": {"ib"}}}, "scratch": {Labels: site.NodeLabels{"disk": {"nvme"}}},
			}
			in.Job.GRES = []job.GRES{{Name: "shard", Count: 2}, {Name: "mig", Type: "1g", Count: 1}, {Name: "rdma", Count: 1}, {Name: "scratch", Count: 100}}
		},
		"placed": func(in *Input) {
			in.Job.Partition, in.Job.QOS, in.Job.Account = "gpu", "urgent", "physics"
			in.Job.Options.NodeSelector = "zone=east"
			in.Site.Placement.Mode, in.Site.Placement.Nodes = site.PlaceNode, map[string]string{"n1": "worker-1"}
			in.Site.Placement.UserLabels = site.NodeLabels{"zone": {"*"}}
			in.Site.Placement.Rules = []site.PlacementRule{
				{Labels: site.NodeLabels{"pool": {"a", "b"}}, PriorityClass: "normal", Spread: []site.Spread{{By: "zone"}, {By: "kubernetes.io/hostname", MaxSkew: 2, Required: true}}},
				{Partitions: []string{"gpu"}, QOS: []string{"urgent"}, PriorityClass: "urgent", Tolerations: []site.Toleration{{Key: "gpu", Value: "a100", Effect: "NoSchedule"}, {Key: "example.com/batch"}}},
				{Partitions: []string{"other"}, Mode: site.PlaceCluster, PriorityClass: "other"},
			}
		},
		"mirrored": func(in *Input) {
			in.Site.Registries = site.Registries{
				Rewrite: map[string]string{"docker.io/library": "mirror.example:5000/hub"}, Allow: []string{"mirror.example:5000"},
				PullSecrets: []string{"mirror", "lab.example"},
			}
		},
		"pull-secret": func(in *Input) {
			in.PullSecret, in.Site.Registries.PullSecrets = true, []string{"mirror"}
			in.Job.Step = "3"
		},
		"unlimited": func(in *Input) {
			in.Job.TimeLimit, in.Job.MemoryMiB, in.Job.Groups, in.Job.User = 0, 0, nil, ""
		},
		"odd-names": func(in *Input) {
			in.Job.User, in.Job.Cluster, in.Job.Node = "alice@EXAMPLE.ORG", "lab two", "n_1."
			in.Site.Namespace, in.Site.Pod.PullPolicy = "jobs", site.PullAlways
			in.Site.Pod.DeadlineMargin.Duration = 0
			in.Site.OrphanTimeout.Duration, in.Site.StartLimit.Duration = 90*time.Second, 1500*time.Millisecond
		},
		"clamped": func(in *Input) {
			in.Job.Exclusive, in.Job.CPUs, in.Job.MemoryMiB = true, 128, 1<<20
			in.Shapes = func() (Shapes, error) { return Shapes{Shapes: []Shape{{CPU: 64000, Memory: 256 << 30, Count: 4}}}, nil }
		},
		"step": func(in *Input) {
			in.Job.Step, in.Job.Node, in.Job.NodeID, in.Job.Nodes, in.Job.Tasks = "3", "n2", 1, 2, 4
			in.Job.CPUs, in.Job.Restarts, in.Job.GRES = 4, 1, []job.GRES{{Name: "gpu", Count: 2}}
		},
		"component": func(in *Input) { in.Job.Step, in.Job.Component, in.Job.NodeID, in.Job.Nodes = "3", "2", 1, 2 },
		"overlap":   func(in *Input) { in.Job.Step, in.Job.Overlap = "0", true },
		"shm":       func(in *Input) { in.Site.Pod.ShmSize = "8Gi" },
		"shm-part":  func(in *Input) { in.Site.Pod.ShmSize, in.Job.MemoryMiB = "50%", 4096 },
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := Build(input(change))
			require.NoError(t, err)
			invariants(t, input(change), pod)
			golden(t, name, pod)
		})
	}
}

func golden(t *testing.T, name string, pod *corev1.Pod) {
	t.Helper()
	got, err := yaml.Marshal(pod)
	require.NoError(t, err)
	path := filepath.Join("testdata", name+".yaml")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	assert.Empty(t, cmp.Diff(string(want), string(got)))
}

// invariants hold for every Pod of whatever job.
func invariants(t *testing.T, in Input, pod *corev1.Pod) {
	t.Helper()
	s := pod.Spec
	require.Equal(t, int64(in.Job.UID), *s.SecurityContext.RunAsUser)
	require.Equal(t, int64(in.Job.GID), *s.SecurityContext.RunAsGroup)
	require.Positive(t, *s.SecurityContext.RunAsUser)
	require.Positive(t, *s.SecurityContext.RunAsGroup)
	require.True(t, *s.SecurityContext.RunAsNonRoot)
	require.Equal(t, corev1.SupplementalGroupsPolicyStrict, *s.SecurityContext.SupplementalGroupsPolicy)
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, s.SecurityContext.SeccompProfile.Type)
	require.Nil(t, s.SecurityContext.FSGroup)
	require.Len(t, s.SecurityContext.SupplementalGroups, len(in.Job.Groups))
	require.False(t, *s.AutomountServiceAccountToken)
	require.False(t, *s.EnableServiceLinks)
	require.False(t, s.HostNetwork || s.HostPID || s.HostIPC)
	require.Nil(t, s.ShareProcessNamespace)
	require.Equal(t, corev1.RestartPolicyNever, s.RestartPolicy)
	require.Empty(t, s.InitContainers)
	require.Len(t, s.Containers, 1)
	c := s.Containers[0]
	require.Equal(t, wellknown.ContainerName, c.Name)
	image, err := option.Resolve(in.Job.Options.Image, in.Site.Registries)
	require.NoError(t, err)
	require.Equal(t, image, c.Image)
	secrets := len(in.Site.Registries.PullSecrets)
	if in.PullSecret {
		secrets++
	}
	require.Len(t, s.ImagePullSecrets, secrets)
	require.Equal(t, []string{wellknown.PodinitPath, "init"}, c.Command[:2])
	require.Len(t, c.Command, 6)
	require.Empty(t, c.Args)
	require.Empty(t, c.WorkingDir)
	require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	require.Nil(t, c.SecurityContext.Privileged)
	require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	require.Empty(t, c.SecurityContext.Capabilities.Add)
	require.Empty(t, c.SecurityContext.RunAsUser)
	require.Empty(t, cmp.Diff(c.Resources.Requests, c.Resources.Limits))
	want, err := in.request()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, RequestOf(pod), cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)))
	require.Equal(t, in.Job.Overlap, c.Resources.Requests.Cpu().IsZero())
	require.NotNil(t, s.Volumes[0].ConfigMap)
	require.Len(t, c.VolumeMounts, len(s.Volumes))
	require.Len(t, s.Volumes, map[bool]int{false: 2, true: 3}[in.Site.Pod.ShmSize != ""])
	for _, v := range s.Volumes[1:] {
		require.Equal(t, corev1.StorageMediumMemory, v.EmptyDir.Medium)
		require.False(t, v.EmptyDir.SizeLimit.IsZero())
	}
	for _, e := range c.Env {
		require.Regexp(t, `^NVIDIA_VISIBLE_DEVICES=(void|[0-9]+(,[0-9]+)*)$`, e.Name+"="+e.Value)
		require.Equal(t, e.Value == "void", len(in.GPUs) == 0)
	}
	if s.ActiveDeadlineSeconds != nil {
		require.Greater(t, *s.ActiveDeadlineSeconds, int64(in.Job.TimeLimit/time.Second))
		require.LessOrEqual(t, *s.ActiveDeadlineSeconds, int64(math.MaxInt32))
	}
	for key, value := range pod.Labels {
		require.Empty(t, validation.IsQualifiedName(key))
		require.Empty(t, validation.IsValidLabelValue(value), value)
	}
	for key := range pod.Annotations {
		require.Empty(t, validation.IsQualifiedName(key))
	}
	require.Empty(t, validation.IsDNS1123Subdomain(pod.Name))
	require.Equal(t, wellknown.PodName(in.Job.ID, pod.Labels[wellknown.LabelStep], in.Job.Component, in.Job.NodeID), pod.Name)
	_, numbered := pod.Labels[wellknown.LabelNodeID]
	require.Equal(t, !in.Job.IsBatch(), numbered)
}

func TestBuildRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"root":         {func(in *Input) { in.Job.UID = 0 }, "root's jobs"},
		"root's group": {func(in *Input) { in.Job.GID = 0 }, "root's jobs"},
		"no image":     {func(in *Input) { in.Job.Options.Image = "" }, "no image"},
		"bad shm":      {func(in *Input) { in.Site.Pod.ShmSize = "much" }, `pod.shm_size: "much" is neither`},
		"no session":   {func(in *Input) { in.Session = 0 }, "not complete"},
		"no podinit":   {func(in *Input) { in.PodinitConfigMap = "" }, "not complete"},
		"no cpus":      {func(in *Input) { in.Job.CPUs = 0 }, "0 cpus"},
		"unknown gres": {func(in *Input) { in.Job.GRES = []job.GRES{{Name: "fpga", Type: "x", Count: 1}} }, `no Kubernetes resource is configured for gres "fpga:x"`},
		"much memory":  {func(in *Input) { in.Job.MemoryMiB = math.MaxInt64 }, "MiB of memory"},
		"two runtime classes": {func(in *Input) {
			in.Site.Resources.GRES = map[string]site.GRES{"a": {Resource: "x.y/a", RuntimeClass: "one"}, "b": {Resource: "x.y/b", RuntimeClass: "two"}}
			in.Job.GRES = []job.GRES{{Name: "a", Count: 1}, {Name: "b", Count: 1}}
		}, `gres "b" needs the runtime class "two", and another of the job's gres "one"`},
		"two kinds of node": {func(in *Input) {
			in.Site.Resources.GRES["gpu:a100"] = site.GRES{Resource: "x.y/a", Labels: site.NodeLabels{"gpu": {"a100"}}}
			in.Site.Resources.GRES["gpu:h100"] = site.GRES{Resource: "x.y/h", Labels: site.NodeLabels{"gpu": {"h100"}}}
			in.Job.GRES = []job.GRES{{Name: "gpu", Type: "a100", Count: 1}, {Name: "gpu", Type: "h100", Count: 1}}
		}, `gres "gpu:h100": no node can be labelled gpu=a100 and gpu=h100`},
		"node not to be chosen": {func(in *Input) { in.Job.Options.NodeSelector = "zone=east" }, "--k8s-node-selector: this site does not let jobs choose their nodes"},
		"chosen against a rule": {func(in *Input) {
			in.Job.Options.NodeSelector = "zone=east"
			in.Site.Placement.UserLabels = site.NodeLabels{"zone": {"*"}}
			in.Site.Placement.Rules = []site.PlacementRule{{Labels: site.NodeLabels{"zone": {"west"}}}}
		}, "no node can be labelled zone=west and zone=east"},
		"image not allowed":     {func(in *Input) { in.Site.Registries.Allow = []string{"hub.lab"} }, "--k8s-image: this site does not take images of that name"},
		"image of a wrong form": {func(in *Input) { in.Job.Options.Image = "a//b" }, "not an image reference"},
		"much by a factor": {func(in *Input) {
			in.Site.Resources.GRES["gpu"] = site.GRES{Resource: "x.y/g", Factor: 2}
			in.Job.GRES = []job.GRES{{Name: "gpu", Count: math.MaxInt64/2 + 1}}
		}, "too many of x.y/g"},
		"much gres": {func(in *Input) {
			in.Job.GRES = []job.GRES{{Name: "gpu", Count: math.MaxInt64}, {Name: "gpu", Type: "a", Count: 1}}
		}, "too many of nvidia.com/gpu"},
	} {
		_, err := Build(input(c.change))
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestManyTasksHavePodinitsMemoryToo(t *testing.T) {
	for tasks, want := range map[int]int64{0: 528, 1: 528, 4: 528, 5: 529, 128: 559, 4096: 1551} {
		r, err := RequestFor(job.Job{CPUs: 1, MemoryMiB: 512, Tasks: tasks}, site.Default())
		require.NoError(t, err)
		assert.Equal(t, want*mebibyte, r.Memory, tasks)
	}
}

func TestOverlapAsksForNoCPUs(t *testing.T) {
	r, err := RequestFor(job.Job{Step: "0", CPUs: 4, MemoryMiB: 48, Tasks: 1, Overlap: true}, site.Default())
	require.NoError(t, err)
	assert.Equal(t, "no cpus and 64 MiB of memory", r.String())
	fits, _ := Shapes{Shapes: []Shape{{CPU: 1, Memory: 64 * mebibyte}}}.Holds(r)
	assert.True(t, fits)
}

func TestDeadline(t *testing.T) {
	assert.Nil(t, deadline(0, time.Hour))
	assert.Nil(t, deadline(time.Hour, 0))
	assert.Equal(t, int64(5401), *deadline(time.Hour+time.Nanosecond, 30*time.Minute))
	assert.Nil(t, deadline(math.MaxInt64, time.Hour))
	assert.Nil(t, deadline(99*365*24*time.Hour, time.Hour), "beyond Kubernetes' int32")
}

func TestClampIsForWholeNodesAlone(t *testing.T) {
	asked := 0
	shapes := func() (Shapes, error) {
		asked++
		return Shapes{Shapes: []Shape{{CPU: 4000, Memory: 8 << 30, Count: 1}}}, nil
	}
	for name, c := range map[string]struct {
		change func(*Input)
		asked  int
		cpus   int64
	}{
		"shared":       {func(in *Input) {}, 0, 128},
		"exclusive":    {func(in *Input) { in.Job.Exclusive = true }, 1, 3},
		"all memory":   {func(in *Input) { in.Job.WholeMemory = true }, 1, 3},
		"site refuses": {func(in *Input) { in.Job.Exclusive, in.Site.Resources.WholeNode = true, site.WholeNodeRefuse }, 0, 128},
		"unknown": {func(in *Input) {
			in.Job.Exclusive, in.Shapes = true, func() (Shapes, error) { return Shapes{}, errors.New("no") }
		}, 0, 128},
	} {
		asked = 0
		in := input(func(in *Input) { in.Job.CPUs, in.Shapes = 128, shapes; c.change(in) })
		pod, err := Build(in)
		require.NoError(t, err)
		assert.Equal(t, c.asked, asked, name)
		assert.Equal(t, c.cpus*1000, RequestOf(pod).CPUMilli, name)
	}
}

func FuzzBuild(f *testing.F) {
	f.Add(uint32(7), uint32(1001), uint32(1001), uint32(5), "alice", "lab", "n1", "debian", int64(2), int64(512), int64(1), int64(60), true, uint32(0), false)
	f.Add(uint32(7), uint32(1001), uint32(1001), uint32(5), "alice", "lab", "n1", "debian", int64(2), int64(512), int64(1), int64(60), false, uint32(3), true)
	f.Add(uint32(1), uint32(math.MaxUint32), uint32(1), uint32(0), "\xff@", "", "é", "x", int64(-1), int64(math.MaxInt64), int64(-5), int64(math.MaxInt64), false, uint32(1), false)
	f.Fuzz(func(t *testing.T, id, uid, gid, group uint32, user, cluster, node, image string, cpus, memory, gpus, limit int64, exclusive bool, step uint32, overlap bool) {
		in := input(func(in *Input) {
			in.Job.ID, in.Job.UID, in.Job.GID, in.Job.Groups = id, uid, gid, []uint32{group}
			in.Job.User, in.Job.Cluster, in.Job.Node, in.Job.Options.Image = user, cluster, node, image
			in.Job.CPUs, in.Job.MemoryMiB, in.Job.TimeLimit, in.Job.Exclusive = cpus, memory, time.Duration(limit), exclusive
			in.Job.GRES = []job.GRES{{Name: "gpu", Count: gpus}}
			if step > 0 {
				in.Job.Step, in.Job.NodeID, in.Job.Overlap = strconv.FormatUint(uint64(step), 10), int(step%7), overlap
			}
			in.Shapes = func() (Shapes, error) { return Shapes{Shapes: []Shape{{CPU: memory, Memory: cpus, Count: 1}}}, nil }
		})
		pod, err := Build(in)
		if err != nil {
			return
		}
		invariants(t, in, pod)
	})
}
