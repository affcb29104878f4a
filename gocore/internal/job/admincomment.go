// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const (
	// RecordVersion is written; a higher one is read as far as it is known.
	RecordVersion = 1
	// MaxAdminComment bounds Encode's result, in bytes.
	MaxAdminComment = 4096
	// maxForeign bounds what is kept of somebody else's AdminComment.
	maxForeign = 1024
	// maxRecordText bounds a text of a record before it is encoded.
	maxRecordText = 2048
	// maxSteps bounds the steps of a record before it is encoded, maxStepText a text of theirs.
	maxSteps    = 100
	maxStepText = 512
	// maxCluster is a DNS label's length.
	maxCluster = 63
)

// Record is what slurm-k8s keeps in a job's AdminComment, one JSON object, for users
// (scontrol, sacct) and for the job's next incarnation.
type Record struct {
	// V tells our object from anybody else's; its key is ours alone.
	V int `json:"slurm-k8s"`
	// Gated counts incarnations that never started: put back, or requeued before START.
	Gated uint32 `json:"gated,omitempty"`
	// Cluster is the Kubernetes cluster that the job's Pods are in once it has started, by the
	// site's name; empty where the site names none.
	Cluster string `json:"cluster,omitempty"`
	// Reason is the line that the user read last.
	Reason string `json:"reason,omitempty"`
	// Namespace of the job's Pods, where the site names it by a pattern: it stays with the job.
	Namespace string `json:"namespace,omitempty"`
	// Steps ran in Pods, in the order of their ends.
	Steps []StepRecord `json:"steps,omitempty"`
	// Foreign is the text that stood in AdminComment before us, cut to 1 KiB.
	Foreign string `json:"foreign,omitempty"`
}

// StepRecord is where a step's node 0 ran, and what the step's tasks used.
type StepRecord struct {
	Step string `json:"step"`
	// Component is the step's, where it has several.
	Component string `json:"component,omitempty"`
	// Restarts is the job's when the step ran.
	Restarts uint32 `json:"restarts,omitempty"`
	// Nodes is how many Slurm nodes the step had, NodesCounted of how many of them Usage is; 0: of all.
	Nodes        int `json:"nodes"`
	NodesCounted int `json:"nodes_counted,omitempty"`

	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"` // Kubernetes'
	// Image is as the job named it, with the digest that was pulled. ImageID stands beside it
	// where the image came to the Kubernetes node by another way than a registry.
	Image   string `json:"image,omitempty"`
	ImageID string `json:"image_id,omitempty"`
	// Usage is nil where nobody could say.
	*Usage
}

// ParseAdminComment reads an AdminComment. A text that is not ours gives an empty record
// and comes back as foreign, cut; so does what an earlier record kept.
func ParseAdminComment(text string) (record Record, foreign string) {
	var r Record
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") && json.Unmarshal([]byte(trimmed), &r) == nil && r.V >= RecordVersion {
		r.Foreign = cut(r.Foreign, maxForeign)
		return r, r.Foreign
	}
	if trimmed == "" || trimmed == "(null)" {
		return Record{}, ""
	}
	foreign = cut(trimmed, maxForeign)
	return Record{Foreign: foreign}, foreign
}

// Encode is the record as JSON: ASCII, since slurmdbd's database may not take all of
// UTF-8, and at most MaxAdminComment bytes: the oldest steps but one are dropped for that,
// then the longest texts are cut.
func (r Record) Encode() string {
	r.V = RecordVersion
	if !wellknown.IsNamespace(r.Namespace) {
		r.Namespace = ""
	}
	r.Foreign = cut(r.Foreign, maxForeign)
	r.Reason = cut(r.Reason, maxRecordText)
	r.Cluster = cut(r.Cluster, maxCluster)
	r.Steps = slices.Clone(r.Steps[max(0, len(r.Steps)-maxSteps):])
	for i := range r.Steps {
		for _, t := range r.Steps[i].texts() {
			*t = cut(*t, maxStepText)
		}
	}
	for {
		out := encodeASCII(r)
		if len(out) <= MaxAdminComment {
			return out
		}
		if len(r.Steps) > 1 {
			r.Steps = r.Steps[1:]
			continue
		}
		longest := &r.Foreign
		for _, t := range r.texts() {
			if len(*t) > len(*longest) {
				longest = t
			}
		}
		*longest = cut(*longest, len(*longest)/2)
	}
}

// Join is the record with what stands in another one of the same job.
func (r Record) Join(there Record) Record {
	steps := slices.Clone(there.Steps)
	for _, step := range r.Steps {
		if !slices.ContainsFunc(steps, step.sameRun) {
			steps = append(steps, step)
		}
	}
	r.Steps, r.Gated, r.Foreign = steps, max(r.Gated, there.Gated), there.Foreign
	r.Reason = cmp.Or(r.Reason, there.Reason)
	r.Namespace, r.Cluster = cmp.Or(r.Namespace, there.Namespace), cmp.Or(r.Cluster, there.Cluster)
	return r
}

// sameRun: both are of one run of one step.
func (s StepRecord) sameRun(other StepRecord) bool {
	return s.Step == other.Step && s.Component == other.Component && s.Restarts == other.Restarts
}

func (r *Record) texts() []*string {
	texts := []*string{&r.Foreign, &r.Reason}
	for i := range r.Steps {
		texts = append(texts, r.Steps[i].texts()...)
	}
	return texts
}

func (s *StepRecord) texts() []*string {
	return []*string{&s.Image, &s.ImageID, &s.Pod, &s.Node, &s.Step, &s.Component}
}

func encodeASCII(r Record) string {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Sprintf(`{"slurm-k8s":%d}`, RecordVersion) // cannot be: texts and numbers alone
	}
	var out strings.Builder
	for _, c := range strings.TrimSpace(plain.String()) {
		switch {
		case c < utf8.RuneSelf && c != 0x7f:
			out.WriteRune(c)
		case c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	return out.String()
}

// cut shortens a text to at most limit bytes at a character's border, with dots.
func cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= limit {
		return text
	}
	const dots = "..."
	end := max(0, limit-len(dots))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if limit < len(dots) {
		return text[:end]
	}
	return text[:end] + dots
}
