// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/collector"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/submission"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

func call(t *testing.T, arguments ...string) (code int, out, faults string) {
	t.Helper()
	var o, f bytes.Buffer
	code = run(t.Context(), arguments, &o, &f)
	return code, o.String(), f.String()
}

func TestDispatch(t *testing.T) {
	for _, test := range []struct {
		arguments   []string
		code        int
		out, faults string
	}{
		{nil, exitUsage, "", "Usage: slurm-k8s COMMAND"},
		{[]string{"help"}, exitOK, "validate     check a job file", ""},
		{[]string{"--help"}, exitOK, "Usage:", ""},
		{[]string{"version"}, exitOK, "slurm-k8s ", ""},
		{[]string{"--version"}, exitOK, "slurm-k8s ", ""},
		{[]string{"fly"}, exitUsage, "", `no such command: "fly"`},
		{[]string{"gc", "--help"}, exitOK, "--dry-run", ""},
		{[]string{"gc", "--force"}, exitUsage, "", "-force"},
		{[]string{"gc", "now"}, exitUsage, "", `takes no argument: "now"`},
		{[]string{"gc", "--config=/none/k8s.yaml"}, exitFault, "", "/none/k8s.yaml"},
		{[]string{"validate"}, exitUsage, "", "one job file is wanted"},
		{[]string{"validate", "--config=/none/k8s.yaml", "job.sh"}, exitFault, "", "/none/k8s.yaml"},
	} {
		code, out, faults := call(t, test.arguments...)
		assert.Equal(t, test.code, code, test.arguments)
		assert.Contains(t, out, test.out, test.arguments)
		assert.Contains(t, faults, test.faults, test.arguments)
		if test.out == "" {
			assert.Empty(t, out, test.arguments)
		}
	}
}

func TestCheckConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k8s.yaml")
	require.NoError(t, os.WriteFile(path, []byte("gate:\n  wait: 30\nnamspace: x\n"), 0o664))
	code, out, faults := call(t, "check-config", path)
	assert.Equal(t, exitFault, code)
	assert.Empty(t, out)
	assert.Equal(t, path+":2: gate.wait: 30 is not a duration such as \"30s\" or \"5m\"\n"+path+":3: namspace: unknown key, did you mean \"namespace\"?\n", faults)

	// A draft may be anybody's; that it cannot stay so is a warning.
	require.NoError(t, os.WriteFile(path, []byte("namespace: x\n"), 0o664))
	require.NoError(t, os.Chmod(path, 0o664))
	code, out, faults = call(t, "check-config", path)
	assert.Equal(t, exitOK, code)
	assert.Equal(t, path+": no fault found\nnamespace x: Pod Security level restricted\n", out)
	assert.Contains(t, faults, "warning: the plugin would refuse the file as it lies there")

	require.NoError(t, os.WriteFile(path, []byte("volumes: {home: {host_path: /srv/home, mount: /home}}\nclaims: {allowed: yes, max_size: 1Gi}\n"), 0o644))
	code, out, _ = call(t, "check-config", path)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "namespace slurm: Pod Security level privileged, since volume \"home\" is a host_path\n")
	code, out, _ = call(t, "check-config", "--policy", path)
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "claim-size:1Gi claim: hostPath:/srv/home\n", out)

	code, _, faults = call(t, "check-config", "/none/k8s.yaml")
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "/none/k8s.yaml")
	code, _, faults = call(t, "check-config", filepath.Dir(path))
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "not a regular file")
	code, _, _ = call(t, "check-config", "a", "b")
	assert.Equal(t, exitUsage, code)
}

func TestRequestOf(t *testing.T) {
	for _, name := range []string{"SLURM_K8S_IMAGE", "SLURM_K8S_WORKDIR", "SLURM_K8S_SCOPE", "SLURM_K8S_RENDEZVOUS"} {
		t.Setenv(name, "")
	}
	directory := t.TempDir()
	t.Chdir(directory)
	require.NoError(t, os.WriteFile("job.sh", []byte("#!/bin/sh\n#SBATCH -N 2 --mem=4G\n#SBATCH --k8s-image=a/b:1\n#K8S_IMAGE=old:1\n#K8S_WORKDIR=/old\necho\n#SBATCH --time=1\n"), 0o600))
	config := site.Default()

	got, _, err := requestOf("job.sh", config, nil)
	require.NoError(t, err)
	assert.Equal(t, submission.Request{
		Tool: "sbatch", Script: filepath.Join(directory, "job.sh"), Directory: directory,
		Options: map[string]string{"image": "a/b:1"}, Sbatch: map[string]string{"nodes": "2", "mem": "4G"},
	}, got)

	config.LegacyComments = true
	t.Setenv("SLURM_K8S_IMAGE", "env:1")
	got, _, err = requestOf("job.sh", config, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"image": "env:1", "workdir": "/old"}, got.Options)

	_, _, err = requestOf("none.sh", config, nil)
	assert.Error(t, err)
}

func TestTell(t *testing.T) {
	var out, faults bytes.Buffer
	assert.Equal(t, exitOK, tell(submission.Result{Warnings: []string{"w"}}, "job.sh", &out, &faults))
	assert.Equal(t, "job.sh: may be submitted\n", out.String())
	assert.Equal(t, "slurm-k8s: warning: w\n", faults.String())
	out.Reset()
	faults.Reset()
	assert.Equal(t, exitFault, tell(submission.Result{Faults: []string{"a", "b"}}, "job.sh", &out, &faults))
	assert.Empty(t, out.String())
	assert.Equal(t, "slurm-k8s: a\nslurm-k8s: b\n", faults.String())
}

// As root only: site.Load wants root's file.
func TestValidate(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("run it as root: the site's configuration must be root's")
	}
	for _, name := range []string{"SLURM_K8S_IMAGE", "SLURM_K8S_WORKDIR", "SLURM_K8S_SCOPE", "SLURM_K8S_RENDEZVOUS"} {
		t.Setenv(name, "")
	}
	directory := t.TempDir()
	t.Chdir(directory)
	require.NoError(t, os.WriteFile("k8s.yaml", []byte("namespace: slurm\n"), 0o644))
	require.NoError(t, os.WriteFile("plain.sh", []byte("#!/bin/sh\n"), 0o600))
	require.NoError(t, os.WriteFile("bad.sh", []byte("#!/bin/sh\n#SBATCH -N2\nif\n"), 0o600))

	code, out, faults := call(t, "validate", "--config=k8s.yaml", "plain.sh")
	assert.Equal(t, exitOK, code, faults)
	assert.Contains(t, out, "has no --k8s-image")
	code, out, faults = call(t, "validate", "--config=k8s.yaml", "--k8s-image=none", "--k8s-scope=x", "bad.sh")
	assert.Equal(t, exitOK, code, faults)
	assert.Contains(t, out, "nothing to check")

	// What is set for all jobs of a shell means nothing to one without an image; what stands in the file does.
	t.Setenv("SLURM_K8S_RENDEZVOUS", "pytorch")
	t.Setenv("SLURM_K8S_JOIN", "1") // no variable of the plugin's
	code, out, faults = call(t, "validate", "--config=k8s.yaml", "plain.sh")
	assert.Equal(t, exitOK, code, faults)
	assert.Contains(t, out, "has no --k8s-image")
	require.NoError(t, os.WriteFile("idle.sh", []byte("#!/bin/sh\n#SBATCH --k8s-workdir=/w\n"), 0o600))
	code, _, faults = call(t, "validate", "--config=k8s.yaml", "idle.sh")
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "--k8s-workdir: has no effect without --k8s-image")
	t.Setenv("SLURM_K8S_RENDEZVOUS", "")

	// What the plugin refuses in sbatch before it asks the core.
	require.NoError(t, os.WriteFile("het.sh", []byte("#!/bin/sh\n#SBATCH --k8s-image=127.0.0.1:1/a:1 --mem=1G --k8s-workdir=/w\n"+
		"#SBATCH hetjob\n#SBATCH --k8s-workdir=/w\n#SBATCH hetjob\n#SBATCH --container=x --k8s-image=127.0.0.1:1/b:1\n"), 0o600))
	code, _, faults = call(t, "validate", "--config=k8s.yaml", "het.sh")
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "127.0.0.1:1/a:1")
	assert.Contains(t, faults, "slurm-k8s: --k8s-image: sbatch can give a job only its first component's: give it to the script's srun --het-group=2, or set SLURM_K8S_IMAGE_HET_GROUP_2 for sbatch\n")
	assert.NotContains(t, faults, "k8s-workdir")
	assert.NotContains(t, faults, "exclude each other")
	require.NoError(t, os.WriteFile("container.sh", []byte("#!/bin/sh\n#SBATCH --k8s-image=127.0.0.1:1/a:1 --container=x\n"), 0o600))
	code, _, faults = call(t, "validate", "--config=k8s.yaml", "container.sh")
	assert.Equal(t, exitFault, code)
	assert.Contains(t, faults, "slurm-k8s: --k8s-image and --container exclude each other\n")

	// A loopback port that nobody listens on: the registry is a warning.
	code, out, faults = call(t, "validate", "--config=k8s.yaml", "--k8s-image=127.0.0.1:1/a:1", "plain.sh")
	assert.Equal(t, exitOK, code, faults)
	assert.Contains(t, out, "plain.sh: may be submitted")
	assert.Contains(t, faults, "connection refused")

	code, out, faults = call(t, "validate", "--config=k8s.yaml", "--k8s-image=127.0.0.1:1/a:1", "--k8s-scope=steps", "bad.sh")
	assert.Equal(t, exitOK, code, faults)
	assert.Contains(t, out, "bad.sh: may be submitted")

	code, out, faults = call(t, "validate", "--config=k8s.yaml", "--k8s-image=A//b", "--k8s-workdir=x", "bad.sh")
	assert.Equal(t, exitFault, code)
	assert.Empty(t, out)
	for _, part := range []string{"--k8s-image:", "--k8s-workdir:", "syntax error"} {
		assert.Contains(t, faults, part)
	}
}

func TestClusterNameAndPodinit(t *testing.T) {
	config := site.Default()
	config.Cluster = "lab"
	name, err := clusterName(t.Context(), config, collector.Commands{})
	require.NoError(t, err)
	assert.Equal(t, "lab", name)

	log := logrus.New()
	var said bytes.Buffer
	log.SetOutput(&said)
	directory := t.TempDir()
	assert.Empty(t, installedPodinit(directory, log))
	assert.Contains(t, said.String(), "podinit")
	require.NoError(t, os.WriteFile(filepath.Join(directory, "podinit"), []byte("x"), 0o755))
	assert.Equal(t, wellknown.PodinitConfigMap([]byte("x")), installedPodinit(directory, log))

	_, err = asRoot{collector.Commands{}, 1001}.Jobs(t.Context())
	assert.ErrorContains(t, err, "run gc as root")
}
