// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// roomy makes the cluster one where so many jobs of one cpu run at once: Slurm gives a cpu to several, and kubelets claim more.
func (b *bench) roomy(jobs int) (back func() error, err error) {
	share, oversubscribe := fmt.Sprintf("OverSubscribe=FORCE:%d", jobs/manyAtOnce+1), "OverSubscribe=NO"
	slurm, err := b.changes.make("cpus that several jobs have", func() error { return partition(share) }, func() error { return partition(oversubscribe) })
	if err != nil {
		return slurm, err
	}
	nodes, err := b.changes.make("cpus that kubelets claim", func() error { return b.kubelets(fmt.Sprint(max(manyAtOnce, jobs/2+manyAtOnce))) }, func() error { return b.kubelets("") })
	if err != nil {
		return func() error { return errors.Join(nodes(), slurm()) }, err
	}
	// Many containers at once take their time to start on few cpus, and none of them shall be given up meanwhile.
	site, err := b.siteFile("start_limit:", "start_limit: 15m", "  wait:", "  wait: 15m", "  wait_max:", "  wait_max: 15m")
	return func() error { return errors.Join(site(), nodes(), slurm()) }, err
}

func partition(setting string) error {
	_, err := testcluster.Run(20*time.Second, "scontrol", "update", "PartitionName=main", setting)
	return err
}

// kubelets are started again, with so many cpus to claim; "": the cluster's own number.
func (b *bench) kubelets(cpus string) error {
	names := []string{"kubelet-real1", "kubelet-real2"}
	_, errs := testcluster.Run(time.Minute, filepath.Join(b.lab.Scripts, "stop"), names...)
	for _, node := range world.RealNodes {
		errs = errors.Join(errs, os.RemoveAll(filepath.Join(b.lab.Dir, "node", node, "sys"))) // what kubelet is shown
	}
	const setting = "SLURM_K8S_NODE_CPUS"
	was, set := os.LookupEnv(setting)
	if cpus != "" {
		os.Setenv(setting, cpus)
	}
	_, err := testcluster.Run(2*time.Minute, filepath.Join(b.lab.Scripts, "start"), names...)
	if set {
		os.Setenv(setting, was)
	} else {
		os.Unsetenv(setting)
	}
	return errors.Join(errs, err)
}
