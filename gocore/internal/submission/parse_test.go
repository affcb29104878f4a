// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestParseNodes(t *testing.T) {
	for text, want := range map[string]nodeRange{
		"1": {1, 1}, "1-1": {1, 1}, "2-4": {2, 4}, "1-0": {1, 0}, "2k": {2048, 2048},
		"1,3-5": {1, 5}, "2-8:2": {2, 8}, "4,2": {2, 4}, "0": {0, 0},
	} {
		got, ok := parseNodes(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "a", "4-2", "1-", "99999999999999999999", "1-x", "1,,2"} {
		_, ok := parseNodes(text)
		assert.False(t, ok, text)
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"1500": 1500, "4G": 4096, "4g": 4096, "2T": 2 << 20, "512K": 1, "1025K": 2, "10M": 10, "1P": 1 << 30,
		"0": 0, "0G": 0, "0?": 0, "4GB": 4096,
	} {
		got, ok := parseMemory(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "G", "-1", "1.5G", "4X", "4GG", "unlimited", "99999999999999999999G", "4B"} {
		_, ok := parseMemory(text)
		assert.False(t, ok, text)
	}
}

func TestParseGRES(t *testing.T) {
	gpu := func(kind string, n int64) job.GRES { return job.GRES{Name: "gpu", Type: kind, Count: n} }
	for text, want := range map[string][]job.GRES{
		"gpu": {gpu("", 1)}, "gpu:2": {gpu("", 2)}, "gpu:a100:2": {gpu("a100", 2)}, "gpu:a100": {gpu("a100", 1)},
		"gres:gpu:2": {gpu("", 2)}, "gres/gpu:2": {gpu("", 2)}, "gpu=2": {gpu("", 2)},
		"gpu:1,shard:4": {gpu("", 1), {Name: "shard", Count: 4}},
		"":              nil, "gpu:a:b:c": nil, "none,gpu:x:y:z": {{Name: "none", Count: 1}},
	} {
		assert.Equal(t, want, parseGRES(text), text)
	}
	for text, want := range map[string][]job.GRES{
		"2": {gpu("", 2)}, "a100:2": {gpu("a100", 2)}, "a100": {gpu("a100", 1)}, "a100:1,v100:3": {gpu("a100", 1), gpu("v100", 3)}, "": nil,
	} {
		assert.Equal(t, want, parseGPUs(text), text)
	}
}

func TestNeed(t *testing.T) {
	gpu := func(n int64) []job.GRES { return []job.GRES{{Name: "gpu", Count: n}} }
	for _, test := range []struct {
		fields string
		want   need
	}{
		{"", need{cpus: 1}},
		{"cpus-per-task=4", need{cpus: 4}},
		{"ntasks=8 cpus-per-task=4", need{cpus: 4}}, // may be spread
		{"nodes=1 ntasks=8 cpus-per-task=4", need{cpus: 32}},
		{"nodes=1-1 ntasks-per-node=3", need{cpus: 3}},
		{"nodes=1 ntasks=2 ntasks-per-node=3", need{cpus: 2}},
		{"mincpus=7", need{cpus: 7}},
		{"mem=2G", need{cpus: 1, memoryMiB: 2048}},
		{"mem=0", need{cpus: 1, wholeNode: true}},
		{"mem-per-cpu=1G cpus-per-task=3", need{cpus: 3, memoryMiB: 3072}},
		{"mem-per-gpu=1G gpus-per-node=2", need{cpus: 1, memoryMiB: 2048, gres: gpu(2)}},
		{"mem=junk", need{cpus: 1}},
		{"gpus=2", need{cpus: 1}}, // may be spread
		{"gpus=2 nodes=1", need{cpus: 1, gres: gpu(2)}},
		{"gres=gpu:1 gpus-per-node=2", need{cpus: 1, gres: gpu(2)}},
		{"gpus-per-task=2 nodes=1 ntasks=3", need{cpus: 3, gres: gpu(6)}},
		{"gpus-per-node=2 cpus-per-gpu=8", need{cpus: 16, gres: gpu(2)}},
		{"exclusive=exclusive", need{cpus: 1, wholeNode: true}},
		{"exclusive=", need{cpus: 1, wholeNode: true}},
		{"exclusive=user", need{cpus: 1}},
		{"exclusive=unset", need{cpus: 1}},
		{"ntasks=unset cpus-per-task=0", need{cpus: 1}},
	} {
		request := ParseRequest(nil)
		for _, field := range strings.Fields(test.fields) {
			name, value, _ := strings.Cut(field, "=")
			request.Sbatch[name] = value
		}
		assert.Equal(t, test.want, needOf(request), test.fields)
	}
}

func TestParseRequest(t *testing.T) {
	got := ParseRequest([]string{
		"option.image=a=b", "sbatch.mem=1", "sbatch.mem=2", "stdin=1", "head=#!x\n", "wrap=a b", "script=/s", "directory=/d",
		"uid=7", "legacy_script=x", "unknown=1", "junk", "tool=srun", "",
	})
	assert.Equal(t, Request{
		Tool: "srun", Options: map[string]string{"image": "a=b"}, Sbatch: map[string]string{"mem": "2"}, Script: "/s",
		Stdin: true, Head: "#!x\n", Whole: true, HasWrap: true, Wrap: "a b", LegacyScript: "x", Directory: "/d", UID: 7, UIDKnown: true,
	}, got)
	assert.False(t, ParseRequest([]string{"head=" + strings.Repeat("x", hostHead)}).Whole)
	assert.False(t, ParseRequest([]string{"uid=-1"}).UIDKnown)
}

func TestLinesAreLines(t *testing.T) {
	got := fault("%s", "a\nb\x1b[31mc\u202ed")
	assert.Equal(t, "a b [31mc d", got.text)
	assert.Equal(t, `"a\nb"`, quote("a\nb"))
	assert.LessOrEqual(t, len(quote(strings.Repeat("x", 10000))), maxQuoted+10)
	assert.Equal(t, Result{Faults: []string{"x"}}, result([]finding{fault("x"), fault("x")}))
	assert.Equal(t, `'/a b'\''c'`, shellWord("/a b'c"))
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{"", "1-4", "4G", "gpu:a100:2,shard:1", "1k", "0?", "a100:2", "9223372036854775807T", "1,2-3:4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if nodes, ok := parseNodes(text); ok && (nodes.min < 0 || nodes.max < 0 || nodes.max != 0 && nodes.max < nodes.min) {
			t.Errorf("nodes %q: %v", text, nodes)
		}
		if mib, ok := parseMemory(text); ok && mib < 0 {
			t.Errorf("memory %q: %d", text, mib)
		}
		for _, one := range append(parseGRES(text), parseGPUs(text)...) {
			if one.Count <= 0 || one.Count > maxCount || one.Name == "" {
				t.Errorf("gres %q: %v", text, one)
			}
		}
		request := ParseRequest(nil)
		for _, name := range []string{"nodes", "ntasks", "cpus-per-task", "cpus-per-gpu", "mem", "mem-per-cpu", "mem-per-gpu", "gres", "gpus", "gpus-per-task", "gpus-per-node", "mincpus"} {
			request.Sbatch[name] = text
		}
		if n := needOf(request); n.cpus < 1 || n.cpus > maxCount || n.memoryMiB < 0 || n.memoryMiB > maxCount {
			t.Errorf("need of %q: %+v", text, n)
		}
		for _, f := range checkNodes(request, &site.Config{}) {
			if strings.ContainsFunc(f.text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("line %q", f.text)
			}
		}
	})
}
