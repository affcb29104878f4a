// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Minute, "5:30": 6 * time.Minute, "1:00:00": time.Hour, "2-0": 48 * time.Hour, "1-2:30": 26*time.Hour + 30*time.Minute,
		"1-02:30:01": 26*time.Hour + 31*time.Minute, "UNLIMITED": 0, "infinite": 0, "0": 0, "170000000": 0, "65535-2147483647": 0,
	} {
		got, ok := parseTime(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "1:2:3:4", "1-2:3:4:5", "-5", "1-", "a-1", "1:", "99999999999"} {
		_, ok := parseTime(text)
		assert.False(t, ok, text)
	}
}

func TestSketch(t *testing.T) {
	var j job.Job
	r := Request{Sbatch: map[string]string{
		"ntasks": "2", "cpus-per-task": "3", "mem": "4G", "gres": "gpu:a100:2", "time": "1:00:00", "account": "physics", "partition": "main,gpu", "nodes": "2",
	}}
	assert.Empty(t, r.Sketch(&j))
	assert.Equal(t, job.Job{
		CPUs: 6, MemoryMiB: 4096, GRES: []job.GRES{{Name: "gpu", Type: "a100", Count: 2}}, Tasks: 1, Nodes: 1,
		TimeLimit: time.Hour, Account: "physics", Partition: "main",
	}, j)
	assert.Equal(t, "2", r.Sbatch["nodes"])
	assert.Equal(t, []string{"memory: Slurm's default", "activeDeadlineSeconds: the partition's time limit"}, Request{}.Sketch(&j))
	assert.Len(t, Request{Sbatch: map[string]string{"exclusive": "", "time": "5"}}.Sketch(&j), 1)
}

func FuzzParseTime(f *testing.F) {
	f.Add("1-02:03:04")
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := parseTime(text); ok && (d < 0 || d%time.Minute != 0) {
			t.Fatal(text, d)
		}
	})
}
