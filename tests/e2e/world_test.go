// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// world is what one script has done to the cluster.
type world struct {
	name     string // of the script; its jobs are called e2e-NAME
	work     string
	log      func(...any)
	jobs     []string // ids of what sbatch submitted
	filled   bool
	cordoned bool     // Kubernetes nodes may take no Pods
	lost     []string // Kubernetes nodes
	stopped  []string // daemons
	begun    map[string]*started
	code     int        // exit code of the last command as a user
	site     []byte     // the cluster's own k8s.yaml, where the script has changed it
	after    [][]string // commands for its end
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func (w *world) jobName() string { return "e2e-" + w.name }

// setup makes the script's files alice's, open to all.
func setup(env *testscript.Env) error {
	w := &world{name: strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"), work: env.WorkDir}
	env.Values[worldKey{}] = w
	if !lab.Plugin && !strings.HasPrefix(w.name, "plain") {
		return fmt.Errorf("the plugin is not installed in %s: make build && tests/cluster/install", lab.Dir)
	}
	for k, v := range lab.Vars {
		env.Setenv(k, v)
	}
	env.Setenv("CLUSTER_SCRIPTS", lab.Scripts)
	env.Setenv("NAME", w.jobName())
	uid, gid, err := idsOf("alice")
	if err != nil {
		return err
	}
	err = filepath.WalkDir(env.WorkDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if entry.IsDir() {
			mode = 0o777
		} else if text, err := os.ReadFile(path); err != nil {
			return err
		} else if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("@REGISTRY@"), []byte(lab.Vars["REGISTRY"])), mode); err != nil {
			return err
		}
		return errors.Join(os.Chown(path, uid, gid), os.Chmod(path, mode))
	})
	if err != nil {
		return err
	}
	t := env.T().(interface {
		testscript.T
		Failed() bool
	})
	w.log = t.Log
	env.Defer(func() {
		if t.Failed() {
			t.Log(w.diagnose())
		}
		if left := w.cleanUp(); left != "" {
			t.Log("left behind:\n" + left)
			t.FailNow()
		}
	})
	return nil
}

func idsOf(name string) (uid, gid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, err
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, nil
}

func (w *world) submitted(id string) {
	if !slices.Contains(w.jobs, id) {
		w.jobs = append(w.jobs, id)
	}
}

// records of all jobs of the script that Slurm knows, arrays' tasks each.
func (w *world) records() []record {
	var all []record
	for _, id := range w.jobs {
		records, _ := jobRecords(id)
		all = append(all, records...)
	}
	return all
}

// cleanUp removes what the script made and says what did not go.
func (w *world) cleanUp() string {
	left := w.undo()
	for _, name := range w.stopped {
		if out, err := run(2*time.Minute, filepath.Join(lab.Scripts, "start"), name); err != nil {
			left = append(left, fmt.Sprintf("daemon %s does not start: %v %s", name, err, out))
		}
	}
	for _, name := range w.lost {
		if err := node("up", name); err != nil {
			left = append(left, err.Error())
		}
	}
	if w.cordoned {
		if err := only("all"); err != nil {
			left = append(left, err.Error())
		}
	}
	// A script may have opened the credential to see it refused.
	os.Chmod(filepath.Join(lab.Dir, "etc/node.kubeconfig"), 0o600)
	if w.filled {
		if err := unfill(w); err != nil {
			left = append(left, err.Error())
		}
	}
	w.find()
	if len(w.jobs) > 0 {
		run(20*time.Second, "scancel", append([]string{"--quiet"}, w.jobs...)...)
	}
	run(20*time.Second, "scancel", "--quiet", "--name="+w.jobName())
	var open string
	clean := until(patience, func() bool {
		open = w.open()
		return open == ""
	})
	if !clean {
		left = append(left, open)
		for _, r := range w.records() {
			run(20*time.Second, "kubectl", "-n", namespace, "delete", "pod", "--grace-period=1", "--wait=false", "-l", "job-id="+r["JobId"])
		}
	}
	if bad := badNodes(); bad != "" {
		left = append(left, bad)
		for _, line := range strings.Split(bad, "\n") {
			run(20*time.Second, "scontrol", "update", "NodeName="+strings.Fields(line)[1], "State=RESUME")
		}
	}
	return strings.Join(left, "\n")
}

// open is what of the script's jobs is in Slurm's queue or in Kubernetes, or "".
func (w *world) open() string {
	var open []string
	queue, err := run(20*time.Second, "squeue", "-h", "-n", w.jobName(), "-o", "job %A is %T (%r)")
	if err != nil {
		open = append(open, err.Error())
	}
	if queue != "" {
		open = append(open, strings.TrimSpace(queue))
	}
	for _, r := range w.records() {
		pods, err := podsOf(r["JobId"])
		if err != nil {
			open = append(open, err.Error())
		}
		for _, pod := range pods {
			open = append(open, fmt.Sprintf("Pod %s is %s", pod.Name, podState(&pod)))
		}
		if state := r["JobState"]; !terminal[state] {
			open = append(open, fmt.Sprintf("job %s is %s (%s)", r["JobId"], state, r["Reason"]))
		}
	}
	return strings.Join(open, "\n")
}

// badNodes are Slurm nodes that take no jobs, a line each.
func badNodes() string {
	out, err := run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "node %N %T: %E")
	if err != nil {
		return err.Error()
	}
	var bad []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		state := strings.TrimSuffix(strings.Fields(line)[2], ":")
		if !slices.Contains([]string{"idle", "mixed", "allocated", "completing", "planned"}, strings.TrimRight(state, "*~#!%$@^-+")) {
			bad = append(bad, line)
		}
	}
	return strings.Join(bad, "\n")
}
