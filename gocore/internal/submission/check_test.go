// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestCheckAcceptsAGoodJob(t *testing.T) {
	request, config, deps := world()
	assert.Equal(t, Result{}, Check(t.Context(), request, config, deps))
}

func TestCheckWithoutAnOptionLooksAtNothing(t *testing.T) {
	assert.Equal(t, Result{}, Check(t.Context(), ParseRequest([]string{"uid=0", "sbatch.nodes=9"}), site.Default(), Deps{}))
}

// Each case breaks one thing; want is a part of the one line that follows.
func TestCheckOneThingWrong(t *testing.T) {
	type change func(r *Request, c *site.Config, d *Deps)
	option := func(name, value string) change {
		return func(r *Request, _ *site.Config, _ *Deps) { r.Options[name] = value }
	}
	sbatch := func(name, value string) change {
		return func(r *Request, _ *site.Config, _ *Deps) { r.Sbatch[name] = value }
	}
	file := func(text string) change { return func(_ *Request, _ *site.Config, d *Deps) { *d = with(*d, text) } }
	asked := func(kind registry.Kind, reason string) change {
		return func(_ *Request, _ *site.Config, d *Deps) { d.Registry = answering(kind, reason) }
	}
	secret := func(mode fs.FileMode, text string) change {
		return func(r *Request, _ *site.Config, d *Deps) {
			r.Options["pull-secret"] = "/home/alice/docker.json"
			d.Files.(fakeFiles).files["home/alice/docker.json"] = &fstest.MapFile{Data: []byte(text), Mode: mode}
		}
	}
	for _, test := range []struct {
		name    string
		change  change
		fault   string
		warning string
	}{
		{"root", func(r *Request, _ *site.Config, _ *Deps) { r.UID = 0 }, "--k8s-image: not for root", ""},
		{"malformed image", option("image", "a//b"), `--k8s-image: not an image reference (HOST[:PORT]/NAME[:TAG] or NAME@sha256:DIGEST): "a//b"`, ""},
		{"image swallowed an option", option("image", "-n1"), `the value starts with "-"`, ""},
		{"workdir swallowed an option", option("workdir", "-n1"), `the value starts with "-"`, ""},
		{"relative workdir", option("workdir", "data"), `--k8s-workdir: not an absolute path`, ""},
		{"workdir alone", func(r *Request, _ *site.Config, _ *Deps) { r.Options = map[string]string{"workdir": "/data"} },
			`--k8s-workdir: has no effect without --k8s-image: "/data"`, ""},

		{"a scope that is none", option("scope", "step"), `--k8s-scope: must be job or steps: "step"`, ""},
		{"a rendezvous that is none", option("rendezvous", "mpi"), `--k8s-rendezvous: must be none or pytorch: "mpi"`, ""},
		{"scope alone", func(r *Request, _ *site.Config, _ *Deps) { r.Options = map[string]string{"scope": "steps"} },
			`--k8s-scope: has no effect without --k8s-image: "steps" (give an image, or leave the option out)`, ""},

		{"nodes that may not be chosen", option("node-selector", "zone=east"), `--k8s-node-selector: this site does not let jobs choose their nodes`, ""},
		{"nodes of a wrong form", option("node-selector", "zone"), `--k8s-node-selector: not KEY=VALUE`, ""},
		{"nodes that are not there", func(r *Request, c *site.Config, d *Deps) {
			c.Placement.UserLabels = site.NodeLabels{"zone": {"*"}}
			r.Options["node-selector"] = "zone=north"
			d.Shapes = ShapesFunc(func(context.Context) (podspec.Shapes, error) {
				return podspec.Shapes{Labels: []string{"zone"}, Shapes: []podspec.Shape{{CPU: 64000, Memory: 1 << 40, Labels: map[string]string{"zone": "east"}, Count: 1}}}, nil
			})
		}, "the job can never start: no node is labelled zone=north", ""},
		{"nodes of a partition that are not there", func(r *Request, c *site.Config, d *Deps) {
			c.Placement.Rules = []site.PlacementRule{{Partitions: []string{"gpu"}, Labels: site.NodeLabels{"zone": {"south"}}}}
			r.Sbatch["partition"] = "gpu"
			d.Shapes = ShapesFunc(func(context.Context) (podspec.Shapes, error) {
				return podspec.Shapes{Labels: []string{"zone"}, Shapes: []podspec.Shape{{CPU: 64000, Memory: 1 << 40, Count: 1}}}, nil
			})
		}, "the job can never start: no node is labelled zone=south", ""},

		{"a registry that the site does not take", func(_ *Request, c *site.Config, _ *Deps) { c.Registries.Allow = []string{"hub.lab"} },
			`--k8s-image: this site does not take images of that name (registries.allow in k8s.yaml: hub.lab): "reg.local:5000/lab/tool:1.0"`, ""},
		{"a tag where the site wants digests", func(_ *Request, c *site.Config, _ *Deps) { c.Registries.RequireDigest = true }, "by their digest alone", ""},
		{"the mirror is asked", func(_ *Request, c *site.Config, d *Deps) {
			c.Registries.Rewrite = map[string]string{"reg.local:5000": "mirror.lab/reg"}
			d.Registry = RegistryFunc(func(_ context.Context, image string) registry.Result {
				if image != "mirror.lab/reg/lab/tool:1.0" {
					return registry.Result{Kind: registry.Exists}
				}
				return registry.Result{Kind: registry.NotFound, Registry: "mirror.lab", Reason: "no such tag or digest"}
			})
		}, `no such tag or digest in registry mirror.lab: "mirror.lab/reg/lab/tool:1.0"`, ""},

		{"a relative pull secret", option("pull-secret", "c.json"), `--k8s-pull-secret: not an absolute path`, ""},
		{"a pull secret that is not here", option("pull-secret", "/home/alice/none.json"), "", `--k8s-pull-secret: the file is not on this machine; it must be on the Slurm node: "/home/alice/none.json"`},
		{"a pull secret for all to read", secret(0o644, `{"auths":{"reg.local:5000":{"auth":"YTpi"}}}`), `--k8s-pull-secret: others may read the file, mode 0644: "/home/alice/docker.json" (chmod 600 /home/alice/docker.json)`, ""},
		{"a pull secret of another registry", secret(0o600, `{"auths":{"r.io":{"auth":"YTpi"}}}`), `--k8s-pull-secret: the file has no password for reg.local:5000 (docker login reg.local:5000): "/home/alice/docker.json"`, ""},
		{"a pull secret that is none", secret(0o600, `xx`), "not a Docker configuration", ""},
		{"a pull secret that is a directory", option("pull-secret", "/home/alice/out"), "--k8s-pull-secret: the file is not a regular file", ""},
		{"a good pull secret", secret(0o600, `{"auths":{"reg.local:5000":{"auth":"YTpi"}}}`), "", ""},

		{"no such tag", asked(registry.NotFound, "no such tag or digest"), `--k8s-image: no such tag or digest in registry reg.local:5000: "reg.local:5000/lab/tool:1.0"`, ""},
		{"denied", asked(registry.Denied, "access denied"), "", "registry reg.local:5000 denies access without credentials"},
		{"unreachable, site warns", asked(registry.Unreachable, "no such host"), "", "registry reg.local:5000 cannot be asked, no such host"},
		{"unreachable, site refuses", func(_ *Request, c *site.Config, d *Deps) {
			c.Submission.UnreachableRegistry = site.RegistryRefuse
			d.Registry = answering(registry.Unreachable, "no such host")
		}, "this site refuses jobs whose image cannot be checked", ""},

		{"no job file", func(r *Request, _ *site.Config, _ *Deps) { r.Script = "/home/alice/none.sh" }, "/home/alice/none.sh: the job file does not exist", ""},
		{"job file is a directory", func(r *Request, _ *site.Config, _ *Deps) { r.Script = "/home/alice/out" }, "is not a regular file", ""},
		{"job file of somebody else's", func(_ *Request, _ *site.Config, d *Deps) { d.Files.(fakeFiles).denied["/home/alice/job.sh"] = true },
			"/home/alice/job.sh: the job file may not be read by you", ""},
		{"empty job file", file(""), "/home/alice/job.sh: the job file is empty", ""},
		{"no interpreter line", file("echo hello\n"), "no interpreter line", ""},
		{"DOS line ends", file("#!/bin/bash\r\necho hello\r\n"), "DOS line endings", ""},
		{"syntax error", file("#!/bin/bash\nBROKEN\n"), `/home/alice/job.sh: syntax error, says bash -n: "line 2: syntax error"`, ""},
		{"python is not asked", file("#!/usr/bin/python3\nBROKEN\n"), "", ""},
		{"a shell that is not here", file("#!/bin/zsh\nBROKEN\n"), "", ""},

		{"two nodes", sbatch("nodes", "2"), `--nodes: the script runs in one Pod, which is on one node: "2" (use --nodes=1, or --k8s-scope=steps, which leaves the script on the Slurm node and runs its srun steps in Pods)`, ""},
		{"two nodes where srun is offered", func(r *Request, c *site.Config, _ *Deps) {
			r.Sbatch["nodes"], c.Commands.Allow = "2", site.CommandsAll
		}, "", ""},
		{"one to four nodes", sbatch("nodes", "1-4"), `Slurm could give more than the one node on which the script's Pod is: "1-4" (use --nodes=1, or --k8s-scope=steps)`, ""},
		{"one node", sbatch("nodes", "1"), "", ""},
		{"Slurm's print of nothing given", sbatch("nodes", "1-0"), "", ""},
		{"tasks without nodes", sbatch("ntasks", "8"), "", "add --nodes=1"},

		{"no output directory", sbatch("output", "logs/%j.out"), `--output: the directory "/home/alice/logs" does not exist: "logs/%j.out" (mkdir -p /home/alice/logs)`, ""},
		{"no error directory", sbatch("error", "/scratch/e.txt"), `--error: the directory "/scratch" does not exist`, ""},
		{"output directory is a file", sbatch("output", "data.txt/a"), `--output: "/home/alice/data.txt" is not a directory`, ""},
		{"output directory is somebody else's", sbatch("output", "/locked/%j"), `--output: the directory "/locked" may not be written by you: "/locked/%j"`, ""},
		{"new file in somebody else's", sbatch("error", "/locked/new"), `--error: the directory "/locked" may not be written by you`, ""},
		{"somebody else's file", sbatch("output", "/locked/file"), `--output: the file "/locked/file" may not be written by you`, ""},
		{"read-only file system", sbatch("output", "/frozen/%j"), "", "read-only on this machine"},
		{"output is a directory", sbatch("output", "out"), "--output: is a directory", ""},
		{"pattern in the output directory", sbatch("output", "%u/a"), "", ""},
		{"output directory is there", sbatch("output", "out/a"), "", ""},
		{"no input", sbatch("input", "none.txt"), `--input: does not exist: "none.txt"`, ""},
		{"input is a directory", sbatch("input", "out"), `--input: is a directory`, ""},
		{"input is there", sbatch("input", "data.txt"), "", ""},
		{"no working directory", sbatch("chdir", "/none"), `--chdir: the directory "/none" does not exist`, ""},

		{"more cpus than any node", sbatch("cpus-per-task", "33"), "the job can never start: no node has 33 cpus (the largest has 32 cpus)", ""},
		{"an allocation larger than any node", func(r *Request, _ *site.Config, _ *Deps) {
			r.Tool, r.Sbatch["cpus-per-task"] = "salloc", "33"
		}, "", "a step with all that the job has on a node can never start: no node has 33 cpus"},
		{"one task's cpus for all with --overcommit", func(r *Request, _ *site.Config, _ *Deps) {
			r.Tool, r.Sbatch["nodes"], r.Sbatch["ntasks"], r.Sbatch["overcommit"] = "srun", "1", "128", "set"
		}, "", ""},
		{"more memory than any node", sbatch("mem", "65G"), "of memory (the largest", ""},
		{"more GPUs than any node", sbatch("gres", "gpu:5"), "5 nvidia.com/gpu", ""},
		{"a GRES that Kubernetes has no name for", sbatch("gres", "fpga:1"), `gres "fpga"`, ""},
		{"exclusive is cut at run time", func(r *Request, _ *site.Config, _ *Deps) {
			r.Sbatch["exclusive"], r.Sbatch["cpus-per-task"] = "exclusive", "128"
		}, "", ""},
		{"exclusive where the site refuses", func(r *Request, c *site.Config, _ *Deps) {
			r.Sbatch["exclusive"], r.Sbatch["cpus-per-task"] = "exclusive", "128"
			c.Resources.WholeNode = site.WholeNodeRefuse
		}, "no node has 128 cpus", ""},
		{"all memory", sbatch("mem", "0"), "", ""},
		{"shapes cannot be read", func(_ *Request, _ *site.Config, d *Deps) {
			d.Shapes = ShapesFunc(func(context.Context) (podspec.Shapes, error) { return podspec.Shapes{}, errFake })
		}, "", "the published node shapes cannot be read (slurm-k8s gc publishes them) [no such thing]"},
		{"shapes not published at this site", func(r *Request, _ *site.Config, d *Deps) { d.Shapes, r.Sbatch["mem"] = nil, "100T" }, "", ""},

		{"a directive that the site wants", func(_ *Request, c *site.Config, _ *Deps) {
			c.Submission.RequiredDirectives = []string{"account", "time"}
		},
			`--account: required by this site and not given (add a line "#SBATCH --account=..." to the job file, or give it to sbatch)`, ""},
		{"wanted and on the command line", func(r *Request, c *site.Config, _ *Deps) {
			c.Submission.RequiredDirectives, r.Sbatch["account"] = []string{"account", "k8s-image"}, "lab"
		}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, config, deps := world()
			test.change(&request, config, &deps)
			got := Check(t.Context(), request, config, deps)
			one(t, test.fault, got.Faults)
			one(t, test.warning, got.Warnings)
		})
	}
}

// A script that stays on the Slurm node is none of ours; its steps' image and needs are.
func TestCheckScopeSteps(t *testing.T) {
	request, config, deps := world()
	deps = with(deps, "#!/bin/bash\nBROKEN\n")
	request.Options["scope"] = "steps"
	request.Sbatch["nodes"], request.Sbatch["ntasks"] = "2-4", "8"
	assert.Equal(t, Result{}, Check(t.Context(), request, config, deps))

	request.Sbatch["mem"], request.Sbatch["output"] = "1T", "none/a"
	deps.Registry = answering(registry.NotFound, "no such repository")
	got := Check(t.Context(), request, config, deps)
	require.Len(t, got.Faults, 2)
	for i, part := range []string{"no such repository", "--output"} {
		assert.Contains(t, got.Faults[i], part)
	}
	one(t, "a step with all that the job has on a node can never start", got.Warnings)

	request, config, deps = world()
	request.Options["scope"], request.LegacyScript = "steps", "run.sh"
	one(t, `#K8S_SCRIPT: not with --k8s-scope=steps, since it is the script of a Pod: "run.sh" (start it by srun)`, Check(t.Context(), request, config, deps).Faults)
}

func TestCheckImageNone(t *testing.T) {
	request, config, deps := world()
	request.UID, request.Options["image"], request.Sbatch["nodes"] = 0, "none", "9"
	assert.Equal(t, Result{}, Check(t.Context(), request, config, deps))
}

// one wants exactly one line with want in it, or none where want is empty.
func one(t *testing.T, want string, lines []string) {
	t.Helper()
	if want == "" {
		assert.Empty(t, lines)
		return
	}
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], want)
	assert.NotContains(t, lines[0], "\n")
}

func TestCheckListsEveryFaultInOrder(t *testing.T) {
	request, config, deps := world()
	deps = with(deps, "#!/bin/bash\nBROKEN\n")
	deps.Registry = answering(registry.NotFound, "no such repository")
	config.Submission.RequiredDirectives = []string{"account", "time"}
	request.UID = 0
	request.Options["workdir"] = "data"
	for name, value := range map[string]string{"nodes": "3", "output": "none/a", "error": "nothing/a", "mem": "1T"} {
		request.Sbatch[name] = value
	}
	want := []string{"root", "--k8s-workdir", "no such repository", "syntax error", "--account, --time", "--nodes", "--output", "--error", "never start"}
	for range 20 {
		got := Check(t.Context(), request, config, deps)
		require.Len(t, got.Faults, len(want))
		for i, part := range want {
			assert.Contains(t, got.Faults[i], part)
		}
	}
}

func TestCheckKeepsToItsTime(t *testing.T) {
	request, config, deps := world()
	request.Sbatch["nodes"] = "2"
	deps.Registry = RegistryFunc(func(ctx context.Context, _ string) registry.Result {
		<-ctx.Done()
		return registry.Result{Kind: registry.Unreachable, Registry: "reg.local:5000", Reason: "no answer in time"}
	})
	hang := make(chan struct{})
	left := make(chan struct{})
	deps.Shapes = ShapesFunc(func(context.Context) (podspec.Shapes, error) { // deaf to its context
		defer close(left)
		<-hang
		return podspec.Shapes{}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	got := Check(ctx, request, config, deps)
	assert.Less(t, time.Since(start), 2*time.Second)
	require.Len(t, got.Faults, 1, "what is known is said: %v", got)
	assert.Contains(t, got.Faults[0], "--nodes")
	require.Len(t, got.Warnings, 2)
	assert.Contains(t, got.Warnings[0], "no answer in time")
	assert.Contains(t, got.Warnings[1], "did not answer in time")
	close(hang)
	<-left
}

func TestCheckDeadFileServer(t *testing.T) {
	request, config, deps := world()
	hang := make(chan struct{})
	deps.Files = deafFiles{hang}
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	got := Check(ctx, request, config, deps)
	assert.Empty(t, got.Faults)
	assert.Equal(t, []string{
		"the job file was not checked: no answer in time",
		"the job's directories were not checked: the file system did not answer in time",
	}, got.Warnings)
	close(hang)
}

type deafFiles struct{ hang chan struct{} }

func (d deafFiles) Stat(string) (fs.FileInfo, error)   { <-d.hang; return nil, errFake }
func (d deafFiles) Writable(string) error              { <-d.hang; return errFake }
func (d deafFiles) Read(string, int64) ([]byte, error) { <-d.hang; return nil, errFake }

func TestCheckSurvivesAPanic(t *testing.T) {
	request, config, deps := world()
	deps.Registry = RegistryFunc(func(context.Context, string) registry.Result { panic("boom") })
	got := Check(t.Context(), request, config, deps)
	assert.Empty(t, got.Faults)
	one(t, "a check of the submission failed, please report it: boom", got.Warnings)
}

// srun and salloc have no script that runs in a Pod, and steps may be on many nodes.
func TestCheckOtherTools(t *testing.T) {
	for _, tool := range []string{"srun", "salloc"} {
		t.Run(tool, func(t *testing.T) {
			request, config, deps := world()
			request.Tool, request.Script, request.Sbatch["output"] = tool, "", "/none/o"
			request.Sbatch["nodes"], request.Sbatch["ntasks"] = "4", "8"
			config.Submission.RequiredDirectives = []string{"time"}
			assert.Equal(t, Result{}, Check(t.Context(), request, config, deps))

			request.Sbatch["mem"] = "100T"
			got := Check(t.Context(), request, config, deps)
			one(t, "can never start: no node has", append(got.Faults, got.Warnings...))
			assert.Equal(t, tool == "srun", got.Refused(), "an allocation may have smaller steps")
			delete(request.Sbatch, "mem")
			deps.Registry = answering(registry.NotFound, "no such tag")
			one(t, "no such tag", Check(t.Context(), request, config, deps).Faults)
			request.Options["image"] = "not an image"
			one(t, "--k8s-image", Check(t.Context(), request, config, deps).Faults)
			request.UID = 0
			assert.Len(t, Check(t.Context(), request, config, deps).Faults, 2)
		})
	}
}

func TestCheckLegacyScript(t *testing.T) {
	for _, test := range []struct{ name, file, script, fault, warning string }{
		{"its own command wins", "#!/bin/bash\n#K8S_SCRIPT=none.sh\necho\n", "", "", ""},
		{"relative", "#!/bin/bash\n#K8S_SCRIPT=run.sh\n", "#!/bin/sh\n", "", ""},
		{"in the image alone", "#!/bin/bash\n#K8S_SCRIPT=/opt/run.sh\n", "", "", "not to be seen from here"},
		{"a directory", "#!/bin/bash\n#K8S_SCRIPT=out\n", "", "is not a regular file", ""},
		{"without interpreter", "#!/bin/bash\n#K8S_SCRIPT=run.sh\n", "echo\n", "no interpreter line", ""},
		{"an option", "#!/bin/bash\n#K8S_SCRIPT=-x\n", "", `starts with "-"`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, config, deps := world()
			config.LegacyComments = true
			deps = with(deps, test.file)
			if test.script != "" {
				deps.Files.(fakeFiles).files["home/alice/run.sh"] = &fstest.MapFile{Data: []byte(test.script)}
			}
			got := Check(t.Context(), request, config, deps)
			one(t, test.fault, got.Faults)
			one(t, test.warning, got.Warnings)

			config.LegacyComments = false
			assert.Equal(t, Result{}, Check(t.Context(), request, config, deps), "plain comments")
		})
	}
	request, config, deps := world()
	request.LegacyScript = "/opt/run.sh"
	one(t, "not to be seen from here", Check(t.Context(), request, config, deps).Warnings)
}
