// SPDX-License-Identifier: Apache-2.0

package onenode

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/fakekubelet"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// partition is the one whose jobs' Pods go to the fake node; its one Slurm node is n1.
const partition = "bench"

const megabytes = 50 // of one job

var nodeLine = regexp.MustCompile(`(?m)^(NodeName=n1 .*)CPUs=\d+ RealMemory=\d+`)

// larger is slurm.conf with room for so many jobs more on n1.
func larger(was string, jobs int) string {
	return nodeLine.ReplaceAllString(was, fmt.Sprintf("${1}CPUs=%d RealMemory=%d", jobs+8, jobs*megabytes+8000))
}

// makeRoom lets Slurm's n1 have so many jobs at once, in a partition of their own; undo takes it back.
func makeRoom(w *world.World, jobs int) (do, undo func() error) {
	return world.Edit(filepath.Join(w.Lab.Dir, "etc/slurm.conf"), func(was string) (string, error) {
		text := larger(was, jobs)
		if text == was {
			return "", errors.New("slurm.conf has no line of node n1 as the bench knows it")
		}
		return text + "PartitionName=" + partition + " Nodes=n1 MaxTime=INFINITE DefaultTime=600 State=UP\n", nil
	}, func() error {
		// A node's size and the partitions are read at the daemons' start.
		return errors.Join(w.Script(2*time.Minute, "restart", "slurmctld", "slurmd-n1", "slurmd-n2"), idle())
	})
}

func idle() error {
	if !testcluster.Until(time.Minute, func() bool {
		out, err := testcluster.Run(10*time.Second, "sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N")
		return err == nil && len(strings.Fields(out)) == 2
	}) {
		return errors.New("the Slurm nodes are not idle a minute after their restart")
	}
	return nil
}

const rule = `
placement:
  rules:
    - partitions: [` + partition + `]
      labels: {` + fakekubelet.Label + `: ["yes"]}
      tolerations: [{key: ` + fakekubelet.Taint + `, value: "yes", effect: NoSchedule}]
`

// sendThere lets the Pods of the partition's jobs go to the fake node, and nowhere else.
func sendThere(w *world.World) (do, undo func() error) {
	return w.EditSite(func(was string) (string, error) { return was + rule, nil })
}
