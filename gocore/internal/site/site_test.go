// SPDX-License-Identifier: Apache-2.0

package site

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const sample = "../../../examples/k8s.yaml"

func TestSampleEqualsDefaults(t *testing.T) {
	data, err := os.ReadFile(sample)
	require.NoError(t, err)
	config, err := Parse(data)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(Default(), config, cmpopts.EquateEmpty()))
}

func TestSampleHasEveryKeyWithAComment(t *testing.T) {
	data, err := os.ReadFile(sample)
	require.NoError(t, err)
	tree := map[string]any{}
	require.NoError(t, yaml.Unmarshal(data, &tree))
	for _, path := range everyKey(reflect.TypeFor[Config](), "") {
		at := any(tree)
		for _, key := range strings.Split(path, ".") {
			below, ok := at.(map[string]any)
			require.True(t, ok, path)
			at, ok = below[key]
			require.Truef(t, ok, "%s is not in %s", path, sample)
		}
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "#") || !strings.Contains(text, ":") {
			continue
		}
		switch text { // sections of keys that have comments of their own
		case "tenants:", "pod:", "resources:", "placement:", "registries:", "submission:", "output:", "commands:", "claims:", "gpu: nvidia.com/gpu", "cpu: 500m", "memory: 1Gi":
			continue
		}
		assert.Truef(t, strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#"), "%q has no comment above it", line)
	}
}

func TestManualHasEveryKey(t *testing.T) {
	data, err := os.ReadFile("../../../man/k8s.yaml.5")
	require.NoError(t, err)
	page := strings.ReplaceAll(string(data), `\-`, "-")
	for _, path := range everyKey(reflect.TypeFor[Config](), "") {
		assert.Regexp(t, `(?m)^\.(SS|B|BR)( .*)? `+regexp.QuoteMeta(path)+`( |\.|$)`, page)
	}
}

func everyKey(t reflect.Type, prefix string) []string {
	var all []string
	for key, below := range keysOf(t) {
		all = append(all, prefix+key)
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[Duration]() {
			all = append(all, everyKey(below, prefix+key+".")...)
		}
	}
	return all
}

func TestParse(t *testing.T) {
	config, err := Parse([]byte("---\nlegacy_comments: yes\nrendezvous: pytorch\npod: {shm_size: 8Gi}\ngate: {wait: 1m}\nrequeue:\nresources: {gres: {shard: example.com/shard}}\n"))
	require.NoError(t, err)
	want := Default()
	want.LegacyComments, want.Rendezvous, want.Pod.ShmSize = true, RendezvousPyTorch, "8Gi"
	want.Gate.Wait = after(time.Minute)
	want.Resources.GRES = map[string]GRES{"shard": {Resource: "example.com/shard"}}
	assert.Empty(t, cmp.Diff(want, config))

	empty, err := Parse(nil)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(Default(), empty))

	none, err := Parse([]byte("resources: {gres: {}}"))
	require.NoError(t, err)
	assert.Empty(t, none.Resources.GRES)
}

func TestParseGRES(t *testing.T) {
	config, err := Parse([]byte(`resources:
  gres:
    gpu: nvidia.com/gpu
    gpu:a100: {resource: nvidia.com/gpu, runtime_class: nvidia, labels: {nvidia.com/gpu.product: [A100-40, A100-80], gpu: "yes"}}
    shard: {resource: example.com/vgpu, factor: 2}
    scratch: {labels: {disk: nvme}}
`))
	require.NoError(t, err)
	assert.Equal(t, map[string]GRES{
		"gpu":      {Resource: "nvidia.com/gpu"},
		"gpu:a100": {Resource: "nvidia.com/gpu", RuntimeClass: "nvidia", Labels: NodeLabels{"nvidia.com/gpu.product": {"A100-40", "A100-80"}, "gpu": {"yes"}}},
		"shard":    {Resource: "example.com/vgpu", Factor: 2},
		"scratch":  {Labels: NodeLabels{"disk": {"nvme"}}},
	}, config.Resources.GRES)
	assert.Equal(t, []string{"disk", "gpu", "nvidia.com/gpu.product"}, config.NodeLabels())
	for name, want := range map[string]string{"gpu:": "", "gpu:h100": "", "gpu:a100": "nvidia"} {
		gres, kind, _ := strings.Cut(name, ":")
		found, ok := config.Resources.Of(gres, kind)
		assert.True(t, ok)
		assert.Equal(t, want, found.RuntimeClass, name)
	}
	_, ok := config.Resources.Of("fpga", "x")
	assert.False(t, ok)
}

func TestParseRegistries(t *testing.T) {
	config, err := Parse([]byte(`registries:
  rewrite: {docker.io/library: "m.lab:5000/hub/", "127.0.0.1:5000": m.lab, localhost: "[::1]:5000/x"}
  allow: ["m.lab:5000", docker.io/library/debian:12, "a.b/c@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"]
  pull_secrets: [one]
`))
	require.NoError(t, err)
	assert.Equal(t, "m.lab:5000/hub/debian", config.Registries.Rewritten("docker.io/library/debian"))
	assert.Equal(t, []string{"pull-secret:one"}, config.Allow())
}

func TestParseFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":       {"gates: {}", `gates: unknown key, did you mean "gate"?`},
		"unknown below":     {"gate: {waitmax: 1s}", `gate.waitmax: unknown key, did you mean "wait_max"?`},
		"other case":        {"Namespace: x", `Namespace: unknown key, did you mean "namespace"?`},
		"nothing near":      {"frobnicate: 1", "frobnicate: unknown key"},
		"several":           {"zz: 1\nyy: 2", "line 1: zz: unknown key\nline 2: yy: unknown key"},
		"twice":             {"namespace: a\nnamespace: b", "line 2: namespace: given twice, first in line 1"},
		"bare number":       {"start_limit: 300", `300 is not a duration such as "30s" or "5m"`},
		"no duration":       {"start_limit: soon", `"soon" is not a duration`},
		"wrong type":        {"gate: 7", "gate: 7 is not a table of keys"},
		"a list":            {"- a", "not a table of keys"},
		"second document":   {"namespace: a\n---\nnamespace: b", "line 2: a second document"},
		"not yaml":          {"a: [", "did not find expected node content"},
		"grace too small":   {"gate: {grace: 4s}", "gate.grace: 4s, must be from 5s to 5m0s"},
		"jitter":            {"requeue: {jitter: 1.5}", "requeue.jitter: 1.5, must be from 0 to 1"},
		"too large":         {strings.Repeat("#", maxBytes+1), "larger than"},
		"negative":          {"start_limit: -5m", "start_limit: -5m0s"},
		"not an extended":   {"resources: {gres: {gpu: gpu}}", "resources.gres.gpu: \"gpu\" is not an extended resource"},
		"gres without":      {"resources: {gres: {gpu: {factor: 2}}}", `resources.gres.gpu: "" is not an extended resource`},
		"gres key":          {"resources: {gres: {gpu: {label: {}}}}", `resources.gres.gpu.label: unknown key, did you mean "labels"?`},
		"gres list":         {"resources: {gres: {gpu: [a]}}", `["a"] is neither an extended resource such as nvidia.com/gpu nor a table`},
		"devices of whom":   {"placement: {mode: node}\nresources: {gres: {gpu: {devices: mine}}}", `resources.gres.gpu.devices: "mine" is not slurm`},
		"devices of shards": {"placement: {mode: node}\nresources: {gres: {shard: {devices: slurm, labels: {a: b}}}}", "resources.gres.shard.devices: which devices Slurm has chosen is known of gpu alone"},
		"devices twice":     {"placement: {mode: node}\nresources: {gres: {gpu: {devices: slurm, resource: nvidia.com/gpu}}}", `resources.gres.gpu.devices: the device plugin of "nvidia.com/gpu" chooses its own`},
		"devices anywhere":  {"resources: {gres: {gpu: {devices: slurm}}}", "resources.gres.gpu.devices: needs Pods that stay on Slurm's own node (placement.mode: node)"},
		"gres factor":       {"resources: {gres: {gpu: {resource: a.b/c, factor: -1}}}", "resources.gres.gpu.factor: -1, must be from 1"},
		"gres class":        {"resources: {gres: {gpu: {resource: a.b/c, runtime_class: A_B}}}", `resources.gres.gpu.runtime_class: "A_B" is not the name`},
		"label's name":      {"resources: {gres: {gpu: {labels: {a/b/c: d}}}}", `resources.gres.gpu.labels: "a/b/c" is not a label's name`},
		"label's value":     {"resources: {gres: {gpu: {labels: {a: [b, c d]}}}}", `resources.gres.gpu.labels.a: "c d" is not a label's value`},
		"label of no text":  {"resources: {gres: {gpu: {labels: {a: yes}}}}", "resources.gres.gpu.labels.a: true is neither a text nor a list of texts"},
		"label of nothing":  {"resources: {gres: {gpu: {labels: {a: []}}}}", "resources.gres.gpu.labels.a: no value"},
		"mirror of no host": {"registries: {rewrite: {library: a.b}}", `registries.rewrite: "library" is not HOST`},
		"mirror with tag":   {"registries: {rewrite: {a.b: 'c.d/e:1'}}", `registries.rewrite.a.b: "c.d/e:1" is not HOST`},
		"mirror of index":   {"registries: {rewrite: {index.docker.io: c.d}}", `(debian:12 is docker.io/library/debian:12)`},
		"allow no host":     {"registries: {allow: [debian]}", `registries.allow: "debian" is not HOST`},
		"allow bad digest":  {"registries: {allow: ['a.b/c@sha256:12']}", `what follows "@" is not a digest`},
		"allow scheme":      {"registries: {allow: ['https://a.b']}", `registries.allow: "https://a.b" is not`},
		"pull secret":       {"registries: {pull_secrets: [A_b]}", `registries.pull_secrets: "A_b" is not the name`},
		"native":            {"resources: {gres: {gpu: kubernetes.io/gpu}}", "its domain is Kubernetes' own"},
		"dashes":            {"submission: {required_directives: [--time]}", "write it without dashes"},
		"registry":          {"submission: {insecure_registries: ['http://x']}", "is not HOST or HOST:PORT"},
		"pull policy":       {"pod: {pull_policy: always}", `pod.pull_policy: "always", must be one of IfNotPresent, Always, Never`},
		"shm size":          {"pod: {shm_size: 8 GB}", `pod.shm_size: "8 GB" is neither a Kubernetes quantity of at least 1Mi, such as "8Gi"`},
		"shm without unit":  {"pod: {shm_size: '8'}", `pod.shm_size: "8" is neither a Kubernetes quantity of at least 1Mi`},
		"shm below 0":       {"pod: {shm_size: -1Gi}", `pod.shm_size: "-1Gi" is neither`},
		"rendezvous":        {"rendezvous: torch", `rendezvous: "torch", must be one of none, pytorch`},
		"reader is node's":  {"reader_kubeconfig: /etc/slurm/k8s/node.kubeconfig", "which users must not read"},
		"commands":          {"commands: {allow: some}", `commands.allow: "some", must be one of none, queries, all`},
		"commands path":     {"commands: {path: [bin]}", `commands.path: "bin" is not an absolute path`},
		"no commands path":  {"commands: {path: []}", "commands.path: no directory"},
		"path back":         {"commands: {path: [/usr/../bin]}", `write "/bin"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	c := Default()
	c.Cluster, c.Namespace, c.Kubeconfig = "a b", "No", "node.kubeconfig"
	c.Gate.Wait, c.Gate.WaitMax = after(time.Hour), after(time.Minute)
	c.Requeue.Jitter = math.NaN()
	c.OrphanTimeout = after(0)
	c.Pod.DeadlineMargin, c.Pod.PullPolicy = after(time.Second), "Sometimes"
	c.Resources.GRES["a b"], c.Resources.WholeNode, c.Resources.Reserve.CPU = GRES{Resource: "x/y"}, "cut", "-1"
	c.Submission.UnreachableRegistry, c.Output.Rate = "ignore", 1
	err := c.Validate()
	require.Error(t, err)
	for _, key := range []string{
		"cluster:", "namespace:", "kubeconfig:", "gate.wait_max:", "requeue.jitter:", "orphan_timeout:", "pod.deadline_margin:",
		"pod.pull_policy:", "resources.gres:", "resources.whole_node:", "resources.reserve.cpu:", "submission.unreachable_registry:", "output.rate:",
	} {
		assert.Contains(t, "\n"+err.Error(), "\n"+key)
	}
	assert.NoError(t, Default().Validate())
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k8s.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestLoad(t *testing.T) {
	me := uint32(os.Getuid())
	path := write(t, "namespace: jobs\n", 0o644)
	config, err := load(path, me)
	require.NoError(t, err)
	assert.Equal(t, "jobs", config.Namespace)

	_, err = load(path, me+1)
	assert.ErrorContains(t, err, "must be owned by uid")

	_, err = load(write(t, "", 0o664), me)
	assert.ErrorContains(t, err, "mode 0664, others could write it: chmod go-w ")

	_, err = load(write(t, "nope: 1\nnone: 2\n", 0o644), me)
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		assert.Regexp(t, `k8s.yaml:[12]: no(p|n)e: unknown key$`, line)
	}

	_, err = load(filepath.Dir(path), me)
	assert.ErrorContains(t, err, "not a regular file")
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err = load(fifo, me)
	assert.ErrorContains(t, err, "not a regular file")
	_, err = Load("/nonexistent/k8s.yaml")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestCheckCredential(t *testing.T) {
	check := func(mode os.FileMode) error {
		f, err := os.Open(write(t, "secret", mode))
		require.NoError(t, err)
		defer f.Close()
		return checkFile(f, uint32(os.Getuid()), 0o077)
	}
	assert.NoError(t, check(0o600))
	assert.NoError(t, check(0o400))
	for _, mode := range []os.FileMode{0o640, 0o604, 0o601, 0o660, 0o644} {
		err := check(mode)
		require.Error(t, err, "%o", mode)
		assert.Regexp(t, `^/.*: mode 06\d\d, others could read the credential: chmod 600 /`, err.Error())
	}
	if os.Getuid() != 0 {
		f, err := os.Open(write(t, "secret", 0o600))
		require.NoError(t, err)
		defer f.Close()
		assert.ErrorContains(t, CheckCredential(f), "must be owned by uid 0")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(tenantsFile))
	data, err := os.ReadFile(sample)
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte("gate: {wait: 1m}\nresources: {gres: {a:b: x.y/z}}"))
	f.Add([]byte("resources: {gres: {a: {resource: x.y/z, factor: 3, runtime_class: r, labels: {a: [b, c], d: e}}}}"))
	f.Add([]byte(placementText))
	f.Add([]byte("registries: {rewrite: {docker.io: 'm.x:5/d'}, allow: ['m.x:5', 'a.b/c:1'], require_digest: yes, pull_secrets: [s]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("pod: {shm_size: 1e99999999}\nresources: {reserve: {memory: 1e-99999999}}\nclaims: {max_size: .5Ti}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse(data)
		if err != nil {
			return
		}
		require.NoError(t, config.Validate())
		// What was read can be written and read again.
		text, err := yaml.Marshal(config)
		require.NoError(t, err)
		again, err := Parse(text)
		require.NoError(t, err, string(text))
		require.Empty(t, cmp.Diff(config, again, cmpopts.EquateEmpty()))
	})
}
