// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// Request is one that kube-apiserver got, as its audit log has it.
type Request struct {
	ID        string `json:"auditID"`
	Verb      string
	URI       string `json:"requestURI"`
	UserAgent string
	User      struct{ Username string }
	Object    struct{ Resource, Subresource, Namespace, Name string } `json:"objectRef"`
	Response  struct{ Code int }                                      `json:"responseStatus"`
	Received  time.Time                                               `json:"requestReceivedTimestamp"`
	Stage     string
	At        time.Time `json:"stageTimestamp"` // of its answer; of a watch or an exec, of the begin of it
}

// What it asks for: "create pods/exec".
func (r Request) What() string {
	what := r.Verb + " " + r.Object.Resource
	if r.Object.Subresource != "" {
		what += "/" + r.Object.Subresource
	}
	return what
}

// NodeAccount is who asks Kubernetes for jobs.
const NodeAccount = "system:serviceaccount:slurm:slurm-k8s-node"

// ByNode says whether a request is one of the plugin's on a Slurm node.
func ByNode(r Request) bool { return r.User.Username == NodeAccount }

// MarkAudit remembers where the audit log of the tests' cluster ends now.
func MarkAudit(cluster string) (*Log, error) { return MarkLog(filepath.Join(cluster, "log/audit.log")) }

// Requests are those of interest since the mark, each once, as its first line has it.
func (l *Log) Requests(of func(Request) bool) ([]Request, error) {
	text, err := l.Text()
	var requests []Request
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		var r Request
		if json.Unmarshal(line, &r) != nil || seen[r.ID] || !of(r) {
			continue
		}
		seen[r.ID] = true
		requests = append(requests, r)
	}
	return requests, err
}

// Counted are the requests of interest since the mark, by what they ask for.
func (l *Log) Counted(of func(Request) bool) (map[string]float64, error) {
	requests, err := l.Requests(of)
	counts := map[string]float64{}
	for _, r := range requests {
		counts[strings.TrimSpace(r.What())]++
	}
	return counts, err
}

// Sum of counts.
func Sum(counts map[string]float64) float64 {
	all := 0.0
	for _, n := range counts {
		all += n
	}
	return all
}
