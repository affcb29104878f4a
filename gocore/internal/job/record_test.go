// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestAdminComment(t *testing.T) {
	r := Record{V: RecordVersion, Gated: 2, Reason: `no room ["0/1 nodes"] <é😀>`, Foreign: "theirs", Steps: []StepRecord{
		{Step: "batch", Nodes: 1, Pod: "slurm-job-7", Node: "k1", Image: "debian@sha256:0", Usage: &Usage{UserMS: 1, PeakBytes: 2}},
		{Step: "0", Restarts: 3, Nodes: 3, NodesCounted: 2, Image: "debian", ImageID: "sha256:1", Usage: &Usage{SystemMS: 3}},
	}}
	text := r.Encode()
	assert.Equal(t, `{"slurm-k8s":1,"gated":2,"reason":"no room [\"0/1 nodes\"] <\u00e9\ud83d\ude00>","steps":[`+
		`{"step":"batch","nodes":1,"pod":"slurm-job-7","node":"k1","image":"debian@sha256:0","user_ms":1,"system_ms":0,"peak_bytes":2},`+
		`{"step":"0","restarts":3,"nodes":3,"nodes_counted":2,"image":"debian","image_id":"sha256:1","user_ms":0,"system_ms":3,"peak_bytes":0}],"foreign":"theirs"}`, text)
	got, foreign := ParseAdminComment(text)
	assert.Empty(t, cmp.Diff(r, got))
	assert.Equal(t, "theirs", foreign)
	assert.Equal(t, `{"slurm-k8s":1}`, Record{}.Encode())
}

func TestAdminCommentForeign(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "(null)": "", "  ": "",
		"approved by Bob":            "approved by Bob",
		`{"v":1,"gated":7}`:          `{"v":1,"gated":7}`,
		`{"slurm-k8s":0}`:            `{"slurm-k8s":0}`,
		`{"slurm-k8s":1`:             `{"slurm-k8s":1`,
		`{"slurm-k8s":1,"gated":-1}`: `{"slurm-k8s":1,"gated":-1}`,
	} {
		r, foreign := ParseAdminComment(text)
		assert.Equal(t, want, foreign)
		assert.Empty(t, cmp.Diff(Record{Foreign: want}, r))
		if want != "" { // and it survives
			_, again := ParseAdminComment(r.Encode())
			assert.Equal(t, want, again)
		}
	}
	newer, foreign := ParseAdminComment(`{"slurm-k8s":2,"gated":3,"more":{}}`)
	assert.Equal(t, uint32(3), newer.Gated)
	assert.Empty(t, foreign)
	_, long := ParseAdminComment(strings.Repeat("é", 5000))
	assert.LessOrEqual(t, len(long), maxForeign)
	assert.True(t, strings.HasSuffix(long, "..."))
}

func TestEncodeIsBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("😀", 1<<16), strings.Repeat("\"", 1<<16), strings.Repeat("\xff", 9999), strings.Repeat("\x01", 9999)} {
		step := StepRecord{Step: text, Pod: text, Node: text, Image: text, ImageID: text, Usage: &Usage{UserMS: math.MaxUint64}}
		r := Record{Gated: math.MaxUint32, Reason: text, Foreign: text, Steps: slices.Repeat([]StepRecord{step}, 3)}
		out := r.Encode()
		assert.LessOrEqual(t, len(out), MaxAdminComment)
		got, _ := ParseAdminComment(out)
		assert.Equal(t, uint32(math.MaxUint32), got.Gated)
		assert.NotEmpty(t, got.Steps)
		assert.Equal(t, text, step.Pod, "the caller's is untouched")
	}
}

// TestOldestStepsAreDropped: before any of the texts is cut, and the newest never.
func TestOldestStepsAreDropped(t *testing.T) {
	r := Record{Reason: strings.Repeat("r", 1200), Foreign: strings.Repeat("f", 1000)}
	for i := range 500 {
		r.Steps = append(r.Steps, StepRecord{Step: strconv.Itoa(i), Nodes: 1, Pod: "slurm-job-7-step-" + strconv.Itoa(i) + "-0", Node: "k1",
			Image: "registry.example/team/tool:1@sha256:" + strings.Repeat("0", 64), Usage: &Usage{UserMS: 1000, SystemMS: 10, PeakBytes: 50 << 20}})
		got, _ := ParseAdminComment(r.Encode())
		require.Equal(t, r.Reason, got.Reason)
		require.Equal(t, r.Foreign, got.Foreign)
		require.GreaterOrEqual(t, len(got.Steps), min(i+1, 5))
		require.Empty(t, cmp.Diff(r.Steps[len(r.Steps)-len(got.Steps):], got.Steps))
		r.Steps = got.Steps // as the next step finds it
	}
	r.Reason, r.Foreign = strings.Repeat("é", 1000), strings.Repeat("é", 500)
	got, _ := ParseAdminComment(r.Encode())
	assert.Equal(t, r.Steps[len(r.Steps)-1:], got.Steps)
	assert.True(t, strings.HasSuffix(got.Reason, "é..."))
}

func FuzzAdminComment(f *testing.F) {
	f.Add(`{"slurm-k8s":1,"gated":2,"reason":"x"}`)
	f.Add("theirs \xff")
	f.Add(`{"slurm-k8s":1,"steps":[{"step":"batch","nodes":1,"pod":"p","node":"k1","image":"i@sha256:0","user_ms":1,"system_ms":2,"peak_bytes":3},{}]}`)
	f.Add(`{"slurm-k8s":1,"steps":[` + strings.Repeat(`{"step":"\u00e9","restarts":1},`, 200) + `{"user_ms":18446744073709551615}]}`)
	f.Add(`{"slurm-k8s":2,"steps":"otherwise"}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, foreign := ParseAdminComment(text)
		require.LessOrEqual(t, len(foreign), maxForeign)
		out := r.Encode()
		require.LessOrEqual(t, len(out), MaxAdminComment)
		require.True(t, json.Valid([]byte(out)))
		require.Equal(t, -1, strings.IndexFunc(out, func(c rune) bool { return c < ' ' || c > '~' }))
		again, _ := ParseAdminComment(out)
		require.Equal(t, r.Gated, again.Gated)
		require.Equal(t, len(r.Steps) > 0, len(again.Steps) > 0)
		require.Equal(t, out, again.Encode(), "stable")
	})
}

func TestBackoff(t *testing.T) {
	r := site.Default().Requeue
	for gated, want := range map[uint32]time.Duration{0: 10 * time.Second, 1: 20 * time.Second, 4: 160 * time.Second, 5: 5 * time.Minute, math.MaxUint32: 5 * time.Minute} {
		assert.Equal(t, want, Backoff(gated, r, 1), gated)
		assert.Equal(t, want*8/10, Backoff(gated, r, 0), gated)
	}
	assert.Equal(t, 9*time.Second, Backoff(0, r, 0.5))
	r.Backoff.Duration, r.Jitter = 3*time.Second, 0.5
	assert.Equal(t, 3*time.Second, Backoff(0, r, 0), "slurmd would refuse the job")
	g := site.Default().Gate
	for gated, want := range map[uint32]time.Duration{0: 30 * time.Second, 1: time.Minute, 4: 8 * time.Minute, 5: 10 * time.Minute, math.MaxUint32: 10 * time.Minute} {
		assert.Equal(t, want, GateWait(gated, g), gated)
	}
	assert.Zero(t, GateWait(math.MaxUint32, site.Gate{WaitMax: g.WaitMax}), "0 stays 0, at once")
	huge := site.Requeue{Backoff: site.Duration{Duration: math.MaxInt64/2 + 1}, BackoffMax: site.Duration{Duration: math.MaxInt64}}
	assert.Equal(t, time.Duration(math.MaxInt64), Backoff(7, huge, 1))
}

func TestUsageAdds(t *testing.T) {
	u := Usage{UserMS: 1, SystemMS: 2, PeakBytes: 30}
	u.Add(Usage{UserMS: 10, SystemMS: 20, PeakBytes: 3})
	assert.Equal(t, Usage{UserMS: 11, SystemMS: 22, PeakBytes: 30}, u)
	u.Add(Usage{UserMS: math.MaxUint64, SystemMS: maxNumber, PeakBytes: 31})
	assert.Equal(t, Usage{UserMS: maxNumber, SystemMS: maxNumber, PeakBytes: 31}, u)
}

func TestRecordJoin(t *testing.T) {
	step := func(name string, restarts uint32, node string) StepRecord {
		return StepRecord{Step: name, Restarts: restarts, Node: node}
	}
	mine := Record{Gated: 3, Reason: "mine", Foreign: "old", Steps: []StepRecord{step("batch", 0, "a"), step("1", 1, "mine"), step("batch", 1, "b")}}
	there := Record{Gated: 1, Reason: "theirs", Namespace: "slurm-dev", Foreign: "new", Steps: []StepRecord{step("batch", 0, "a"), step("0", 1, "c"), step("1", 1, "theirs")}}
	got := mine.Join(there)
	assert.Equal(t, Record{Gated: 3, Reason: "mine", Namespace: "slurm-dev", Foreign: "new", Steps: []StepRecord{
		step("batch", 0, "a"), step("0", 1, "c"), step("1", 1, "theirs"), step("batch", 1, "b"),
	}}, got)
	assert.Len(t, there.Steps, 3)
	assert.Equal(t, "theirs", Record{}.Join(there).Reason)
}
