// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// benchUser is whose jobs are measured.
const benchUser = "alice"

func chownToUser(path string) error {
	uid, gid, err := ids()
	if err != nil {
		return err
	}
	return os.Chown(path, uid, gid)
}

func ids() (uid, gid int, err error) {
	u, err := user.Lookup(benchUser)
	if err != nil {
		return 0, 0, err
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, nil
}

// command of the user's, in the bench's folder; more are further variables.
func (b *bench) command(more []string, name string, args ...string) (*exec.Cmd, error) {
	uid, gid, err := ids()
	if err != nil {
		return nil, err
	}
	c := exec.Command(name, args...)
	c.Dir = b.work
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=" + os.Getenv("SLURM_CONF"), "HOME=" + b.work, "USER=" + benchUser}, more...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c, nil
}

// clear ends what jobs of the bench are still there, and removes its folder.
func (b *bench) clear() error {
	jobs, err := (&world.World{User: benchUser, Work: b.work}).Queued(world.NotEnded)
	slices.Sort(jobs)
	if jobs = slices.Compact(jobs); len(jobs) > 0 { // pending tasks of an array have one id
		_, ended := testcluster.Run(time.Minute, "scancel", jobs...)
		err = errors.Join(err, ended)
	}
	return errors.Join(err, os.RemoveAll(b.work))
}

// as runs a command as the user and gives its output; an error has what it said.
func (b *bench) as(name string, args ...string) (string, error) {
	b.changes.allowed()
	c, err := b.command(nil, name, args...)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// sbatch submits and gives the job's id.
func (b *bench) sbatch(args ...string) (string, error) {
	out, err := b.as("sbatch", append([]string{"--parsable", "--mem=100M", "-o", "%j.out"}, args...)...)
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	return id, err
}

// ended waits for the job's end, a few milliseconds exactly, and wants it COMPLETED.
func (b *bench) ended(id string) error {
	state := ""
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		records, err := testcluster.Records(id)
		if err != nil {
			return err
		}
		if state = records[0]["JobState"]; testcluster.Terminal[state] {
			break
		}
	}
	if state != "COMPLETED" {
		text, _ := os.ReadFile(b.work + "/" + id + ".out")
		return fmt.Errorf("job %s is %s, not COMPLETED: %s", id, state, text)
	}
	return nil
}

// inPod are the options that put a job into a Pod.
func inPod(image string) []string { return []string{"--k8s-image=" + image, "--k8s-workdir=/tmp"} }
