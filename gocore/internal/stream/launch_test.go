// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sameLaunch compares launches; the order of variables with different names
// means nothing, that of two with one name does.
func sameLaunch(t testing.TB, want, got Launch) {
	byName := func(a, b string) int {
		x, _, _ := strings.Cut(a, "=")
		y, _, _ := strings.Cut(b, "=")
		return strings.Compare(x, y)
	}
	for _, l := range []*Launch{&want, &got} {
		l.Env = slices.Clone(l.Env)
		slices.SortStableFunc(l.Env, byName)
		if len(l.Env) == 0 {
			l.Env = nil
		}
		if len(l.Argv) == 0 {
			l.Argv = nil
		}
		if len(l.Limits) == 0 {
			l.Limits = nil
		}
	}
	require.Equal(t, want, got)
}

// A pull secret is for the core alone.
func TestPullSecretIsNotSentOn(t *testing.T) {
	hello := AppendRecord(AppendRecord(nil, Record{recordArgv, TaskAll, []byte("a")}), Record{recordPull, TaskAll, []byte("password")})
	l, err := DecodeLaunch(hello, 0)
	require.NoError(t, err)
	require.Equal(t, "password", string(l.PullSecret))
	start, err := EncodeStart([]Launch{l})
	require.NoError(t, err)
	require.NotContains(t, string(start), "password")
	_, err = DecodeLaunch(AppendRecord(hello, Record{recordPull, TaskAll, nil}), 0)
	require.Error(t, err, "twice")
	_, err = DecodeLaunch(AppendRecord(nil, Record{recordPull, TaskAll, make([]byte, maxPullSecret+1)}), 0)
	require.Error(t, err)
}

func TestStartRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[a-c/ ]{0,5}`)
	launch := rapid.Custom(func(t *rapid.T) Launch {
		l := Launch{
			Argv:      rapid.SliceOfN(text, 0, 3).Draw(t, "argv"),
			Env:       rapid.SliceOfN(rapid.StringMatching(`[A-C]=[a-b]`), 0, 6).Draw(t, "env"),
			Directory: text.Draw(t, "directory"), Required: rapid.Bool().Draw(t, "required"), Home: text.Draw(t, "home"),
			OneOutput: rapid.Bool().Draw(t, "one output"),
		}
		if rapid.Bool().Draw(t, "umask?") {
			mask := rapid.Uint32Range(0, 1).Draw(t, "umask")
			l.Umask = &mask
		}
		if rapid.Bool().Draw(t, "tty?") {
			l.TTY = &Winsize{rapid.Uint16Range(0, 2).Draw(t, "rows"), 80}
		}
		if rapid.Bool().Draw(t, "script?") {
			l.Script = bytes.Repeat([]byte{'#'}, rapid.SampledFrom([]int{0, 1, 70000, 200000}).Draw(t, "script"))
		}
		if n := rapid.IntRange(0, 2).Draw(t, "cpus"); n > 0 {
			mask := rapid.SliceOfN(rapid.Byte(), n, n)
			l.CPUs = &CPUs{mask.Draw(t, "task's"), mask.Draw(t, "step's")}
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "limits") {
			l.Limits = append(l.Limits, Limit{uint32(i), rapid.Uint64().Draw(t, "soft"), ^uint64(0)})
		}
		return l
	})
	rapid.Check(t, func(rt *rapid.T) {
		tasks := rapid.SliceOfN(launch, 1, 4).Draw(rt, "tasks")
		if rapid.Bool().Draw(rt, "alike") {
			for i := range tasks {
				tasks[i] = tasks[0]
			}
		}
		for i := range tasks {
			tasks[i].Task = uint32(i)
		}
		whole, err := EncodeStart(tasks)
		require.NoError(rt, err)
		var pieces []byte
		require.NoError(rt, writeStart(tasks, func(p []byte, more bool) error {
			require.True(rt, len(p) <= MaxPayload && (!more || len(p) == MaxPayload))
			pieces = append(pieces, p...)
			return nil
		}))
		require.True(rt, bytes.Equal(whole, pieces))
		for i, want := range tasks {
			got, err := DecodeLaunch(slices.Clone(whole), uint32(i))
			require.NoError(rt, err)
			want.Tasks = uint32(len(tasks))
			sameLaunch(t, want, got)
		}
	})
}

// What tasks share is said once.
func TestStartIsSmall(t *testing.T) {
	tasks := make([]Launch, 128)
	for i := range tasks {
		tasks[i] = Launch{Task: uint32(i), Argv: []string{"/bin/a.out"}, Env: []string{"LONG=" + strings.Repeat("x", 5000), fmt.Sprint("SLURM_PROCID=", i)}}
	}
	b, err := EncodeStart(tasks)
	require.NoError(t, err)
	require.Less(t, len(b), 10_000)
}

func TestStartRefuses(t *testing.T) {
	for name, tasks := range map[string][]Launch{
		"none":     nil,
		"twice":    {{Task: 1}, {Task: 1}},
		"NUL":      {{Argv: []string{"a\x00b"}}},
		"too long": {{Script: make([]byte, MaxRecords)}},
		"too many": make([]Launch, MaxTasks+1),
	} {
		_, err := EncodeStart(tasks)
		require.Error(t, err, name)
	}
}

func TestLaunchRefuses(t *testing.T) {
	limit := func(n byte) []byte { return append([]byte{0, 0, 0, n}, make([]byte, 16)...) }
	var limits, strings []byte
	for i := range maxLimits + 1 {
		limits = AppendRecord(limits, Record{recordLimit, 0, limit(byte(i))})
	}
	for range maxStrings + 1 {
		strings = AppendRecord(strings, Record{recordEnv, 0, nil})
	}
	for name, b := range map[string][]byte{
		"limits":        limits,
		"strings":       strings,
		"tasks":         AppendRecord(nil, Record{recordTasks, TaskAll, []byte{0, 0, 0, 0}}),
		"no cpus":       AppendRecord(nil, Record{recordCPUs, 0, nil}),
		"cpus by half":  AppendRecord(nil, Record{recordCPUs, 0, make([]byte, 3)}),
		"too many cpus": AppendRecord(nil, Record{recordCPUs, 0, make([]byte, 2*maxCPUs+2)}),
	} {
		_, err := DecodeLaunch(b, 0)
		require.ErrorIs(t, err, ErrProtocol, name)
	}
	l, err := DecodeLaunch(append(AppendRecord(nil, Record{recordLimit, 0, limit(3)}), AppendRecord(nil, Record{recordLimit, 0, limit(3)})...), 0)
	require.NoError(t, err)
	require.Len(t, l.Limits, 1)
}
