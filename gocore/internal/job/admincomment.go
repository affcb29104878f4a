// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
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
)

// Record is what slurm-k8s keeps in a job's AdminComment, one JSON object, for users
// (scontrol, sacct) and for the job's next incarnation.
type Record struct {
	// V tells our object from anybody else's; its key is ours alone.
	V int `json:"slurm-k8s"`
	// Gated counts incarnations that never started: put back, or requeued before START.
	Gated uint32 `json:"gated,omitempty"`
	// Reason is the line that the user read last.
	Reason string `json:"reason,omitempty"`
	// Where the last incarnation ran.
	Pod      string `json:"pod,omitempty"`
	KubeNode string `json:"node,omitempty"`
	Image    string `json:"image,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// At is when the record was written, RFC 3339 in UTC.
	At string `json:"at,omitempty"`
	// Foreign is the text that stood in AdminComment before us, cut to 1 KiB.
	Foreign string `json:"foreign,omitempty"`
}

// Stamp is a time in the form of At.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

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
// UTF-8, and at most MaxAdminComment bytes, for which the longest texts are cut.
func (r Record) Encode() string {
	r.V = RecordVersion
	r.Foreign = cut(r.Foreign, maxForeign)
	texts := []*string{&r.Foreign, &r.Reason, &r.Image, &r.Pod, &r.KubeNode, &r.Digest, &r.At}
	for _, t := range texts {
		*t = cut(*t, maxRecordText)
	}
	for {
		out := encodeASCII(r)
		if len(out) <= MaxAdminComment {
			return out
		}
		longest := texts[0]
		for _, t := range texts {
			if len(*t) > len(*longest) {
				longest = t
			}
		}
		*longest = cut(*longest, len(*longest)/2)
	}
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
