// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// somebody is a user of this machine who is not root, and in no group of root's.
func somebody(t *testing.T) *user.User {
	t.Helper()
	for _, name := range []string{"nobody", "alice", "games", "man"} {
		u, err := user.Lookup(name)
		if err == nil && u.Uid != "0" && u.Gid != "0" {
			return u
		}
	}
	t.Fatal("no user to render for: none of nobody, alice, games, man is on this machine")
	return nil
}

// siteOf writes a site file; owned by who runs the test, it is root's only in a test run by root.
func siteOf(t *testing.T, text string) (config, libexec string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("run it as root: the site file must be root's")
	}
	for _, name := range option.Names {
		t.Setenv(option.Variable(name), "")
	}
	libexec = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(libexec, "podinit"), []byte("a program"), 0o755))
	config = filepath.Join(libexec, "k8s.yaml")
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	require.NoError(t, os.Chmod(config, 0o644))
	return config, libexec
}

func TestRenderExamples(t *testing.T) {
	u := somebody(t)
	config, libexec := siteOf(t, "volumes: {datasets: {nfs: {server: nas, path: /sets}, mount: /datasets}, home: {host_path: /srv/home, mount: /home, default: yes}}\n"+
		"claims: {allowed: yes, max_size: 1Ti}\nnamespace: jobs\n")
	files, err := filepath.Glob("../../../examples/*.sh")
	require.NoError(t, err)
	require.Len(t, files, 3)
	code, out, faults := call(t, append([]string{"render", "--config=" + config, "--libexec=" + libexec, "--user=" + u.Username, "--job-id=40"}, files...)...)
	require.Equal(t, exitOK, code, faults)
	require.Empty(t, faults)
	pods := map[string]corev1.Pod{}
	for _, text := range strings.Split(out, "---\n") {
		var pod corev1.Pod
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &pod))
		assert.Equal(t, "Pod/v1/jobs", pod.Kind+"/"+pod.APIVersion+"/"+pod.Namespace)
		pods[pod.Name] = pod
	}
	require.Len(t, pods, 3)
	hello, sort, train := pods["slurm-job-40"], pods["slurm-job-41"], pods["slurm-job-42"]
	assert.Equal(t, u.Uid, strings.TrimSpace(yamlOf(t, hello.Spec.SecurityContext.RunAsUser)))
	assert.Equal(t, "debian:12", hello.Spec.Containers[0].Image)
	assert.Equal(t, "2 216Mi", hello.Spec.Containers[0].Resources.Limits.Cpu().String()+" "+hello.Spec.Containers[0].Resources.Limits.Memory().String())
	assert.Equal(t, wellknown.PodinitConfigMap([]byte("a program")), hello.Spec.Volumes[0].ConfigMap.Name)
	assert.NotNil(t, sort.Spec.Volumes[3].Ephemeral)
	gpus := train.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]
	assert.Equal(t, "2", gpus.String())
	assert.Contains(t, train.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "site-datasets", MountPath: "/data", ReadOnly: true})
	assert.Contains(t, train.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "site-home", MountPath: "/home"})
	assert.EqualValues(t, (24+720)*3600, *train.Spec.ActiveDeadlineSeconds)

	code, out, _ = call(t, "render", "--config="+config, "--libexec="+libexec, "--user="+u.Username, "--podinit", files[0])
	require.Equal(t, exitOK, code)
	assert.Contains(t, out, "kind: ConfigMap")
}

// The namespace with what belongs in it, as kubectl takes it: with a job's Pod, and alone.
func TestRenderNamespace(t *testing.T) {
	u := somebody(t)
	config, libexec := siteOf(t, "cluster: lab\nnamespace: account-%a\nsystem_namespace: hpc\ntenants: {quota: {pods: 3}}\n")
	file := filepath.Join(libexec, "job.sh")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n#SBATCH --account=Physics --k8s-image=a:1\necho\n"), 0o644))
	base := []string{"render", "--config=" + config, "--libexec=" + libexec, "--user=" + u.Username}
	kinds := func(out string) string {
		var all []string
		for _, text := range strings.Split(out, "---\n") {
			var object struct {
				Kind     string
				Metadata struct{ Name, Namespace string }
			}
			require.NoError(t, yaml.Unmarshal([]byte(text), &object))
			assert.Equal(t, object.Kind != "Namespace", strings.HasPrefix(object.Metadata.Namespace, "account-physics-x"), text)
			all = append(all, object.Kind)
		}
		return strings.Join(all, " ")
	}
	code, out, faults := call(t, append(base, "--namespace", "--podinit", file, file)...)
	require.Equal(t, exitOK, code, faults)
	assert.Equal(t, "Namespace ResourceQuota LimitRange RoleBinding RoleBinding ConfigMap Pod Pod", kinds(out))
	code, out, faults = call(t, append(base, "--namespace", "--account=Physics")...)
	require.Equal(t, exitOK, code, faults)
	assert.Equal(t, "Namespace ResourceQuota LimitRange RoleBinding RoleBinding", kinds(out))
	assert.Contains(t, out, "slurm-k8s/cluster: lab")
	assert.Contains(t, out, "slurm-k8s/namespace: account-Physics")
	code, _, faults = call(t, append(base, "--namespace")...)
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "--namespace: the job's namespace is not known: the job has no account")
}

// A volume that the job keeps is an object of its own, before the Pod that mounts it.
func TestRenderKeptClaim(t *testing.T) {
	u := somebody(t)
	config, libexec := siteOf(t, "claims: {allowed: yes, max_size: 1Gi, keep: 168h}\n")
	file := filepath.Join(libexec, "job.sh")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n#SBATCH --k8s-image=a:1\necho\n"), 0o644))
	base := []string{"render", "--config=" + config, "--libexec=" + libexec, "--user=" + u.Username, "--job-id=7"}
	code, out, faults := call(t, append(base, "--k8s-pvc=1Gi:keep", file)...)
	require.Equal(t, exitOK, code, faults)
	claim, pod, two := strings.Cut(out, "---\n")
	require.True(t, two, out)
	name := "slurm-claim-" + u.Uid + "-7"
	assert.Contains(t, claim, "kind: PersistentVolumeClaim\n")
	assert.Contains(t, claim, "name: "+name+"\n")
	assert.Contains(t, pod, "claimName: "+name+"\n")
	code, out, faults = call(t, append(base, "--k8s-pvc=job:3", file)...)
	require.Equal(t, exitOK, code, faults)
	assert.NotContains(t, out, "kind: PersistentVolumeClaim")
	assert.Contains(t, out, "claimName: slurm-claim-"+u.Uid+"-3\n")
}

func yamlOf(t *testing.T, value any) string {
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestRenderFaults(t *testing.T) {
	u := somebody(t)
	config, libexec := siteOf(t, "")
	file := filepath.Join(libexec, "job.sh")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n#SBATCH --k8s-mount=none,/etc\necho\n"), 0o644))
	base := []string{"render", "--config=" + config, "--libexec=" + libexec, "--user=" + u.Username}
	for _, test := range []struct {
		arguments []string
		code      int
		faults    string
	}{
		{base, exitUsage, "a job file is wanted"},
		{append(base, file), exitFault, "job.sh: has no --k8s-image"},
		{append(base, "--k8s-image=a:1", file), exitFault, `job.sh: --k8s-mount: a volume's name is wanted`},
		{append(base, "--k8s-image=a:1", "--k8s-mount=none", "--k8s-pvc=1Gi", file), exitFault,
			file + ": --k8s-mount: no volume of this name: \"none\" (this site has none for you)\nslurm-k8s render: " + file + ": --k8s-pvc: this site does not offer it: \"1Gi\""},
		{append(base, "--k8s-image=a:1", "--user=root", file), exitFault, "root's jobs do not run in a Pod"},
		{append(base, "--k8s-image=a:1", "--user=nobody-of-this-name", file), exitFault, "unknown user nobody-of-this-name"},
		{append(base, "--k8s-image=a:1", "--libexec=/none", file), exitFault, "podinit cannot be read"},
		{append(base, "--k8s-image=a:1", filepath.Join(libexec, "none.sh")), exitFault, "the job file cannot be read"},
	} {
		code, out, faults := call(t, test.arguments...)
		assert.Equal(t, test.code, code, test.arguments)
		assert.Contains(t, faults, test.faults)
		assert.Empty(t, out)
	}
}
