// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// nodeAccount is who asks Kubernetes for a job.
const nodeAccount = "system:serviceaccount:slurm:slurm-k8s-node"

// requests counts what one job asks of Kubernetes, from the audit log, and of slurmctld beyond plain Slurm, from sdiag.
func (b *bench) requests() ([]line, error) {
	log := filepath.Join(b.lab.Dir, "log/audit.log")
	// What a row before has left is not this one's.
	if !testcluster.Until(time.Minute, func() bool {
		var pods corev1.PodList
		return b.lab.Get("/api/v1/namespaces/"+testcluster.Namespace+"/pods", &pods) == nil && len(pods.Items) == 0
	}) {
		return nil, errors.New("the Pods of earlier jobs are not gone after a minute")
	}
	info, err := os.Stat(log)
	if err != nil {
		return nil, err
	}
	plain, err := b.slurmRequests(nil)
	if err != nil {
		return nil, err
	}
	ours, err := b.slurmRequests(inPod(os.Getenv("IMAGE_TINY")))
	if err != nil {
		return nil, err
	}
	verbs, err := audited(log, info.Size())
	if err != nil {
		return nil, err
	}
	var lines []line
	sum := 0.0
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		lines = append(lines, line{what: "Kubernetes: " + verb, samples: []float64{verbs[verb] / float64(b.n)}})
		sum += verbs[verb] / float64(b.n)
	}
	lines = append(lines, line{what: "Kubernetes, in sum", samples: []float64{sum}})
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if more := (ours[name] - plain[name]) / float64(b.n); more > 0.01 {
			lines = append(lines, line{what: "slurmctld, beyond plain Slurm: " + name, samples: []float64{more}})
		}
	}
	return lines, nil
}

// slurmRequests runs n jobs and gives the requests that slurmctld got, by type. The bench itself asks slurmdbd.
func (b *bench) slurmRequests(args []string) (map[string]float64, error) {
	before, err := diagnosed()
	if err != nil {
		return nil, err
	}
	for range b.n {
		id, err := b.sbatch(append(args, "--wrap", "true")...)
		if err != nil {
			return nil, err
		}
		if !testcluster.Until(2*time.Minute, func() bool {
			out, err := testcluster.Run(20*time.Second, "sacct", "-X", "-n", "-P", "-j", id, "-o", "State")
			return err == nil && strings.TrimSpace(out) == "COMPLETED"
		}) {
			return nil, fmt.Errorf("job %s has not COMPLETED after 2 min", id)
		}
	}
	after, err := diagnosed()
	for name := range after {
		after[name] -= before[name]
	}
	return after, err
}

var diagLine = regexp.MustCompile(`^\s*(REQUEST_\w+|MESSAGE_\w+)\s+\(\s*\d+\)\s+count:(\d+)`)

// diagnosed is sdiag's count of requests by type.
func diagnosed() (map[string]float64, error) {
	out, err := testcluster.Run(20*time.Second, "sdiag")
	counts := map[string]float64{}
	for _, text := range strings.Split(out, "\n") {
		if m := diagLine.FindStringSubmatch(text); m != nil {
			if _, seen := counts[m[1]]; !seen { // by type comes first, by user behind it
				counts[m[1]], _ = strconv.ParseFloat(m[2], 64)
			}
		}
	}
	delete(counts, "REQUEST_STATS_INFO") // sdiag's own
	return counts, err
}

// audited counts the node account's requests in the audit log from an offset on, by verb and resource.
func audited(path string, from int64) (map[string]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	seen := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			AuditID, Verb string
			User          struct{ Username string }
			ObjectRef     struct{ Resource, Subresource string }
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.User.Username != nodeAccount || seen[event.AuditID] {
			continue
		}
		seen[event.AuditID] = true
		what := event.Verb + " " + event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			what += "/" + event.ObjectRef.Subresource
		}
		counts[what]++
	}
	return counts, lines.Err()
}
