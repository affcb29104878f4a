// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
)

// levels of what a check finds.
func levels(t *testing.T, check Check) (found []Level, all []Finding) {
	t.Helper()
	all = check(t.Context())
	for _, f := range all {
		found = append(found, f.Level)
	}
	return found, all
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	faults := Run(t.Context(), &out,
		func(context.Context) []Finding {
			return []Finding{good("a", "fine"), fault("b", "mend it", "bad\nnews")}
		},
		func(context.Context) []Finding {
			return []Finding{warning("c", "", "hm"), skipped("d", "", "not from here")}
		})
	assert.Equal(t, 1, faults)
	assert.Equal(t, "ok       a            fine\nFAULT    b            bad news\n                      do: mend it\n"+
		"warning  c            hm\nskipped  d            not from here\n1 ok, 1 skipped, 1 warnings, 1 faults\n", out.String())
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestFindLines(t *testing.T) {
	folder := t.TempDir()
	stack := write(t, filepath.Join(folder, "plugstack.conf"), "# required /x/spank_k8s.so\noptional /x/other.so\ninclude plugstack.conf.d/*.conf\ninclude plugstack.conf\n", 0o644)
	lines, err := FindLines(stack)
	require.NoError(t, err, "one that includes itself ends, too")
	assert.Empty(t, lines)
	write(t, filepath.Join(folder, "plugstack.conf.d/k8s.conf"), "required /lib/spank_k8s.so config=/etc/k.yaml libexec=/opt/k # ours\n", 0o644)
	write(t, stack, "include plugstack.conf.d/*.conf\n", 0o644)
	lines, err = FindLines(stack)
	require.NoError(t, err)
	assert.Equal(t, []Line{{Required: true, Path: "/lib/spank_k8s.so", Arguments: map[string]string{"config": "/etc/k.yaml", "libexec": "/opt/k"},
		File: filepath.Join(folder, "plugstack.conf.d/k8s.conf")}}, lines)
	_, err = FindLines(filepath.Join(folder, "none"))
	assert.Error(t, err)
}

func TestSettings(t *testing.T) {
	s := ParseSettings("Configuration data as of x\nUnkillableStepTimeout   = 60 sec\nSLURM_CONF              = /etc/slurm/slurm.conf\nPlugStackConfig         = (null)\n")
	assert.Equal(t, "/etc/slurm/plugstack.conf", s.Plugstack())
	found, _ := levels(t, SlurmSettings(s))
	assert.Equal(t, []Level{Good}, found)
	found, _ = levels(t, SlurmSettings(Settings{"UnkillableStepTimeout": "10 sec", "SlurmdParameters": "config_overrides,contain_spank"}))
	assert.Equal(t, []Level{Warning, Fault}, found)
	assert.Equal(t, "/a/b.conf", Settings{"PlugStackConfig": "/a/b.conf"}.Plugstack())
}

func TestPlugin(t *testing.T) {
	for name, c := range map[string]struct {
		lines []Line
		want  Level
		text  string
	}{
		"none":       {nil, Fault, "no line"},
		"two":        {[]Line{{File: "a"}, {File: "b"}}, Fault, "in a and in b"},
		"optional":   {[]Line{{Path: "/x/spank_k8s.so"}}, Fault, "jobs run on the host"},
		"relative":   {[]Line{{Required: true, Path: "spank_k8s.so"}}, Skipped, "PluginDir"},
		"not there":  {[]Line{{Required: true, Path: "/none/spank_k8s.so"}}, Fault, "cannot be read"},
		"no library": {[]Line{{Required: true, Path: write(t, filepath.Join(t.TempDir(), "spank_k8s.so"), "text", 0o644)}}, Fault, "cannot be read"},
	} {
		_, all := levels(t, Plugin(c.lines, "plugstack.conf", "slurm 22.05.8"))
		require.Len(t, all, 1, name)
		assert.Equal(t, c.want, all[0].Level, name)
		assert.Contains(t, all[0].Text, c.text, name)
	}
	assert.Equal(t, "22.05", release("slurm 22.05.8\n"))
	assert.Equal(t, "22.05", releaseOf(22<<16|5<<8|8))
	assert.Empty(t, release("slurm"))
}

func TestLibexec(t *testing.T) {
	folder := t.TempDir()
	fine := func(*os.File) error { return nil }
	found, _ := levels(t, Libexec(folder, fine))
	assert.Equal(t, []Level{Fault, Fault, Fault}, found)
	for name, mode := range map[string]os.FileMode{"gocore.so": 0o755, "relay": 0o755, "podinit": 0o755} {
		write(t, filepath.Join(folder, name), "x", mode)
	}
	found, _ = levels(t, Libexec(folder, fine))
	assert.Equal(t, []Level{Good}, found)
	write(t, filepath.Join(folder, "relay"), "x", 0o700)
	_, all := levels(t, Libexec(folder, fine))
	assert.Contains(t, all[0].Text, "users need 0555")
	found, _ = levels(t, Libexec(folder, func(*os.File) error { return errors.New("others could write it") }))
	assert.Equal(t, []Level{Fault, Fault, Fault}, found)
}

func TestStateFolder(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]Level{
		filepath.Join(folder, "none"):               Good,
		write(t, filepath.Join(folder, "f"), "", 0): Fault,
		folder: Fault,
	} {
		require.NoError(t, os.Chmod(folder, 0o755))
		found, _ := levels(t, StateFolder(path))
		assert.Equal(t, []Level{want}, found, path)
	}
	require.NoError(t, os.Chmod(folder, 0o700))
	found, _ := levels(t, StateFolder(folder))
	assert.Equal(t, []Level{Good}, found)
}

func TestConfigAndClosed(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "k8s.yaml"), "namespace: No\ngates: {}\n", 0o666)
	found, _ := levels(t, Config(path))
	assert.Equal(t, []Level{Fault, Fault, Fault}, found, "its mode, and both faults in it")
	found, _ = levels(t, Config("/none"))
	assert.Equal(t, []Level{Fault}, found)
	found, _ = levels(t, Closed("/none"))
	assert.Equal(t, []Level{Skipped}, found)
	found, _ = levels(t, Closed(path))
	assert.Equal(t, []Level{Fault}, found)
	found, _ = levels(t, Unseen("x", "", errors.New("why")))
	assert.Equal(t, []Level{Skipped}, found)
}

// server is Kubernetes as an account sees it.
type server struct {
	refusesNamespace func(*corev1.Namespace) error
	namespaces       []corev1.Namespace
	may              func(Right) bool
	down             error
	refuses          func(*corev1.Pod) error
	nodes            []corev1.Node
	shapes           podspec.Shapes
}

func (s server) ServerVersion(context.Context) (string, error) { return "v1.37.1", s.down }

func (s server) MayI(_ context.Context, namespace, verb, resource, name string) (bool, error) {
	return s.may(Right{verb, resource, name, namespace == ""}), s.down
}
func (s server) DryRunPod(_ context.Context, pod *corev1.Pod) error { return s.refuses(pod) }
func (s server) EachNode(_ context.Context, see func(*corev1.Node)) error {
	for i := range s.nodes {
		see(&s.nodes[i])
	}
	return s.down
}
func (s server) Shapes(context.Context) (podspec.Shapes, error) { return s.shapes, s.down }

func TestRights(t *testing.T) {
	check := func(s server) []Level {
		found, _ := levels(t, Rights(Node, "slurm", func() (Asker, error) { return s, nil }))
		return found
	}
	exactly := func(r Right) bool { return slices.Contains(Node.Rights, r) }
	assert.Equal(t, []Level{Good}, check(server{may: exactly}))
	assert.Equal(t, []Level{Fault}, check(server{may: func(r Right) bool { return exactly(r) && r.Verb != "watch" }}))
	assert.Equal(t, []Level{Fault}, check(server{may: func(Right) bool { return true }}), "an administrator's")
	assert.Equal(t, []Level{Fault}, check(server{down: errors.New("refused")}))
	found, _ := levels(t, Rights(Node, "slurm", func() (Asker, error) { return nil, errors.New("no file") }))
	assert.Equal(t, []Level{Fault}, found)
}

// What is to be done about a right that lacks is in the folder that gives it.
func TestRightsNameTheFolder(t *testing.T) {
	for do, account := range map[string]Account{
		"kubectl apply -k deploy": Collector, "kubectl apply -k deploy/tenants": Tenants,
		"kubectl apply -k deploy; kubectl apply -k deploy/tenants": CollectorOfTenants,
	} {
		_, all := levels(t, Rights(account, "slurm", func() (Asker, error) { return server{may: func(Right) bool { return false }}, nil }))
		assert.Equal(t, do, all[0].Do, account.Name)
	}
	_, all := levels(t, Rights(CollectorOfTenants, "slurm", func() (Asker, error) {
		return server{may: func(r Right) bool { return slices.Contains(Collector.Rights, r) }}, nil
	}))
	assert.Equal(t, "kubectl apply -k deploy/tenants", all[0].Do)
}

// The accounts are those of deploy/: each right of a role is in the account, and the other way round.
func TestRightsAreThoseOfDeploy(t *testing.T) {
	for files, account := range map[string]Account{
		"node": Node, "collector": Collector, "reader": Reader, "tenants/tenants": Tenants, "collector tenants/collector": CollectorOfTenants,
	} {
		var text []byte
		for file := range strings.FieldsSeq(files) {
			of, err := os.ReadFile("../../../deploy/" + file + ".yaml")
			require.NoError(t, err)
			text = append(append(text, of...), "\n---\n"...)
		}
		var granted []Right
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			require.NoError(t, yaml.Unmarshal(document, &role))
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						for _, name := range append(rule.ResourceNames, "")[:max(1, len(rule.ResourceNames))] {
							if group := rule.APIGroups[0]; group != "" {
								resource = rule.Resources[0] + "." + group
							}
							granted = append(granted, Right{verb, resource, name, role.Kind == "ClusterRole"})
						}
					}
				}
			}
		}
		assert.ElementsMatch(t, granted, account.Rights, files)
	}
}

func TestAdmission(t *testing.T) {
	check := func(refuses func(*corev1.Pod) error) []Level {
		found, _ := levels(t, Admission(site.Default(), "lab", func() (Creator, error) { return server{refuses: refuses}, nil }))
		return found
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("ValidatingAdmissionPolicy 'slurm-k8s-pods' denied request"))
	isBad := func(p *corev1.Pod) bool {
		return *p.Spec.SecurityContext.RunAsUser == 0 || p.Spec.HostNetwork || p.Labels["app"] != "slurm-job" || p.Spec.Containers[0].SecurityContext.Privileged != nil && *p.Spec.Containers[0].SecurityContext.Privileged
	}
	assert.Equal(t, []Level{Good}, check(func(p *corev1.Pod) error {
		if isBad(p) {
			return forbidden
		}
		return nil
	}))
	assert.Equal(t, []Level{Fault, Fault, Fault, Fault}, check(func(*corev1.Pod) error { return nil }), "no policies")
	assert.Equal(t, []Level{Fault}, check(func(*corev1.Pod) error { return forbidden }))
	assert.Equal(t, []Level{Fault}, check(func(*corev1.Pod) error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "slurm")
	}))
	assert.Equal(t, []Level{Warning}, check(func(*corev1.Pod) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("exceeded quota: lab, requested: cpu=1, used: cpu=32, limited: cpu=32"))
	}))
	found, _ := levels(t, Admission(site.Default(), "lab", func() (Creator, error) { return nil, errors.New("no file") }))
	assert.Equal(t, []Level{Skipped}, found)
}

func TestNodesAndShapes(t *testing.T) {
	node := func(knows *bool) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "k1"}, Status: corev1.NodeStatus{Features: &corev1.NodeFeatures{SupplementalGroupsPolicy: knows}}}
	}
	for want, s := range map[Level]server{
		Good:  {nodes: []corev1.Node{node(new(true)), node(new(true))}},
		Fault: {nodes: []corev1.Node{node(new(true)), node(nil)}},
	} {
		found, _ := levels(t, Nodes(func() (NodeLister, error) { return s, nil }))
		assert.Equal(t, []Level{want}, found)
	}
	found, _ := levels(t, Nodes(func() (NodeLister, error) { return server{}, nil }))
	assert.Equal(t, []Level{Fault}, found, "none at all")
	found, _ = levels(t, Nodes(func() (NodeLister, error) { return nil, errors.New("no file") }))
	assert.Equal(t, []Level{Skipped}, found)
	found, _ = levels(t, Published(server{shapes: podspec.Shapes{Shapes: []podspec.Shape{{Count: 2}}}}))
	assert.Equal(t, []Level{Good}, found)
	found, _ = levels(t, Published(server{down: errors.New("forbidden")}))
	assert.Equal(t, []Level{Warning}, found)
	found, _ = levels(t, Image("a:1", func(context.Context, string) error { return nil }))
	assert.Equal(t, []Level{Good}, found)
	found, _ = levels(t, Image("a:1", func(context.Context, string) error { return errors.New("not found") }))
	assert.Equal(t, []Level{Fault}, found)
}

// What a tenant's role gives the node's account is what that has in its own namespace; of the
// collector's rights those are missing that it has everywhere.
func TestTenantRolesAreThoseOfDeploy(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/tenants/roles.yaml")
	require.NoError(t, err)
	roles := map[string][]Right{}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var role rbacv1.ClusterRole
		require.NoError(t, yaml.Unmarshal(document, &role))
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					roles[role.Name] = append(roles[role.Name], Right{Verb: verb, Resource: resource})
				}
			}
		}
	}
	assert.ElementsMatch(t, Node.Rights, roles["slurm-k8s-tenant-node"])
	assert.ElementsMatch(t, rights("delete pods", "list configmaps", "delete configmaps", "patch persistentvolumeclaims", "delete persistentvolumeclaims"), roles["slurm-k8s-tenant-collector"])
}

func (s server) DryRunTenant(_ context.Context, namespace *corev1.Namespace) error {
	return s.refusesNamespace(namespace)
}

func (s server) ListNamespaces(context.Context, string) ([]corev1.Namespace, error) {
	return s.namespaces, s.down
}

func TestMaking(t *testing.T) {
	config := site.Default()
	config.Namespace = "user-%u"
	check := func(refuses func(*corev1.Namespace) error) []Level {
		found, _ := levels(t, Making(config, "lab", func() (NamespaceCreator, error) { return server{refusesNamespace: refuses}, nil }))
		return found
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "x", errors.New("ValidatingAdmissionPolicy 'slurm-k8s-tenants' denied request"))
	assert.Equal(t, []Level{Good}, check(func(n *corev1.Namespace) error {
		if n.Labels["slurm-k8s/tenant-of"] != "slurm" || strings.HasPrefix(n.Name, "kube-") || n.Annotations[site.AllowAnnotation] != "" {
			return forbidden
		}
		return nil
	}))
	assert.Equal(t, []Level{Fault, Fault, Fault}, check(func(*corev1.Namespace) error { return nil }), "no policies")
	assert.Equal(t, []Level{Fault}, check(func(*corev1.Namespace) error { return forbidden }))
}

func TestMade(t *testing.T) {
	config := site.Default()
	config.Namespace = "user-%u"
	place, err := config.NamespaceOf(site.Owner{User: "alice", Cluster: "lab"})
	require.NoError(t, err)
	namespace := *tenant.Build(config, place).Namespace
	check := func(s server) []Level {
		found, _ := levels(t, Made(config, "lab", func() (NamespaceLister, error) { return s, nil }))
		return found
	}
	assert.Equal(t, []Level{Good}, check(server{namespaces: []corev1.Namespace{namespace}}))
	config.Tenants.Quota = map[string]string{"pods": "1"}
	assert.Equal(t, []Level{Warning}, check(server{namespaces: []corev1.Namespace{namespace}}))
	assert.Equal(t, []Level{Fault}, check(server{down: errors.New("refused")}))
}
