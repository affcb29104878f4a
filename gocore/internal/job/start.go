// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// FromFields makes a Job of a start request (gocore.h). Unknown keys are ignored. It
// refuses root, and options that sbatch would have refused.
func FromFields(start []string) (Job, error) {
	f := newFields(start)
	j := Job{Requeue: true, Nodes: 1, Tasks: 1}
	number(f, "job_id", 1<<32-1, &j.ID)
	f.text("step_id", &j.Step)
	f.text("component", &j.Component)
	f.text("cluster", &j.Cluster)
	f.text("node", &j.Node)
	f.text("user", &j.User)
	f.text("home", &j.Home)
	f.text("batch_argv0", &j.BatchArgv0)
	number(f, "uid", 1<<32-1, &j.UID)
	number(f, "gid", 1<<32-1, &j.GID)
	f.groups("groups", &j.Groups)
	number(f, "cpus", maxCPUs, &j.CPUs)
	number(f, "memory_mb", maxMemoryMiB, &j.MemoryMiB)
	number(f, "nnodes", maxNodes, &j.Nodes)
	number(f, "node_id", maxNodes, &j.NodeID)
	number(f, "tasks", maxTasks, &j.Tasks)
	f.text("option."+option.Image, &j.Options.Image)
	f.text("option."+option.Workdir, &j.Options.Workdir)
	f.text("option."+option.Rendezvous, &j.Options.Rendezvous)
	f.text("option."+option.NodeSelector, &j.Options.NodeSelector)
	f.text("option."+option.PullSecret, &j.Options.PullSecret)
	f.text("option."+option.Join, &j.Options.Join)
	f.text("option."+option.Cluster, &j.Options.Cluster)
	f.text("legacy_script", &j.Options.Script)
	f.flag("legacy", &j.Options.Legacy)
	f.flag("cpu_bind", &j.CPUBind)
	if f.err != nil {
		return Job{}, f.err
	}
	for _, key := range []string{"job_id", "step_id", "uid", "gid", "node"} {
		if f.values[key] == "" {
			return Job{}, fmt.Errorf("%s is missing", key)
		}
	}
	if err := errors.Join(j.checkStep(), j.checkIdentity(), j.Options.check(), j.Options.parse(f.values)); err != nil {
		return Job{}, err
	}
	return j, nil
}

// Steps from 0xfffffff0 on are Slurm's own (slurm.h: BATCH, EXTERN, INTERACTIVE).
const firstOwnStep = 0xfffffff0

func (j Job) checkStep() error {
	if j.ID == 0 {
		return errors.New("job_id: 0 is not a job")
	}
	if j.Tasks == 0 {
		return errors.New("tasks: 0 tasks")
	}
	if n, err := strconv.ParseUint(j.Component, 10, 32); j.Component != "" &&
		(err != nil || n >= maxComponents || strconv.FormatUint(n, 10) != j.Component || j.IsBatch()) {
		return fmt.Errorf("component: %q is not the number of a step's component", j.Component)
	}
	if j.IsBatch() {
		if j.Joins() {
			return errors.New(option.Flag(option.Join) + ": a job's script joins nothing")
		}
		return nil
	}
	if n, err := strconv.ParseUint(j.Step, 10, 32); err != nil || n >= firstOwnStep || strconv.FormatUint(n, 10) != j.Step {
		return fmt.Errorf("step_id: %q is neither %s nor a step's number", j.Step, wellknown.StepBatch)
	}
	return nil
}

// checkIdentity refuses root in any form: a Pod's uid 0 is the node's uid 0.
func (j Job) checkIdentity() error {
	switch {
	case j.UID == 0:
		return errors.New("root's jobs do not run in a Pod (uid 0)")
	case j.GID == 0:
		return errors.New("jobs of root's group do not run in a Pod (gid 0)")
	case j.UID > maxID:
		return fmt.Errorf("uid %d cannot run in a Pod: Kubernetes takes 1 to %d", j.UID, maxID)
	case j.GID > maxID:
		return fmt.Errorf("gid %d cannot run in a Pod: Kubernetes takes 1 to %d", j.GID, maxID)
	}
	for _, g := range j.Groups {
		if g == 0 {
			return errors.New("a member of root's group cannot run in a Pod (supplementary gid 0)")
		}
		if g > maxID {
			return fmt.Errorf("supplementary gid %d cannot run in a Pod: Kubernetes takes 1 to %d", g, maxID)
		}
	}
	return nil
}

// check is sbatch's check again, since environment and REST submissions pass it by.
func (o Options) check() error {
	var err error
	switch {
	case o.Join == "":
		err = option.CheckImage(o.Image)
	case o.Image != "":
		err = fmt.Errorf("%s and %s exclude each other: the container has its image", option.Flag(option.Join), option.Flag(option.Image))
	default:
		err = option.CheckJoin(o.Join)
	}
	if o.Workdir != "" {
		err = errors.Join(err, option.CheckWorkdir(o.Workdir))
	}
	if o.Script != "" {
		err = errors.Join(err, option.CheckScript(o.Script))
	}
	if o.Rendezvous != "" {
		err = errors.Join(err, option.CheckChoice(option.Rendezvous, o.Rendezvous))
	}
	if o.PullSecret != "" {
		err = errors.Join(err, option.CheckPullSecret(o.PullSecret))
	}
	if o.Cluster != "" {
		err = errors.Join(err, option.Check(option.Cluster, o.Cluster))
	}
	if o.NodeSelector != "" {
		_, fault := option.ParseNodeSelector(o.NodeSelector)
		err = errors.Join(err, fault)
	}
	return err
}

// parse reads the options that are more than a text.
func (o *Options) parse(values map[string]string) (err error) {
	if value, ok := values["option."+option.Mount]; ok {
		o.Mounts, err = option.ParseMounts(value)
	}
	if value, ok := values["option."+option.PVC]; ok {
		claim, fault := option.ParseClaim(value)
		o.Claim, err = &claim, errors.Join(err, fault)
	}
	return err
}
