// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What squeue of 22.05.8 printed.
const squeueOutput = "12                  RUNNING             0                   \n" +
	"13                  OUT_OF_MEMORY       2                   \n" +
	"14                  REQUEUE_HOLD        1                   \n"

func TestParseJobs(t *testing.T) {
	jobs, err := parseJobs(squeueOutput)
	require.NoError(t, err)
	assert.Equal(t, map[uint32]Job{12: {"RUNNING", 0}, 13: {"OUT_OF_MEMORY", 2}, 14: {"REQUEUE_HOLD", 1}}, jobs)

	jobs, err = parseJobs("")
	require.NoError(t, err)
	assert.Empty(t, jobs)

	for _, text := range []string{"12 RUNNING", "x RUNNING 0", "12 RUNNING x", "CLUSTER: lab", "12 RUNNING 0 9", "-1 RUNNING 0"} {
		_, err := parseJobs(squeueOutput + text + "\n")
		assert.Error(t, err, text)
	}
}

func FuzzParseJobs(f *testing.F) {
	f.Add(squeueOutput)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseJobs(text)
		if err != nil && jobs != nil {
			t.Error("a partial answer")
		}
	})
}

func TestClusterName(t *testing.T) {
	commands := Commands{Run: func(_ context.Context, name string, _ ...string) ([]byte, error) {
		assert.Equal(t, "scontrol", name)
		return []byte("Configuration data as of 2026\nClusterName             = lab\nSlurmUser = slurm(64030)\n"), nil
	}}
	name, err := commands.ClusterName(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "lab", name)

	commands.Run = func(context.Context, string, ...string) ([]byte, error) { return []byte("ClusterName = (null)\n"), nil }
	_, err = commands.ClusterName(t.Context())
	assert.Error(t, err)
	commands.Run = func(context.Context, string, ...string) ([]byte, error) { return nil, errors.New("down") }
	_, err = commands.ClusterName(t.Context())
	assert.ErrorContains(t, err, "down")
}

// squeue stands for Slurm's: it prints, or says why not.
func TestCommandsRun(t *testing.T) {
	directory := t.TempDir()
	script := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(directory, "squeue"), []byte("#!/bin/sh\n"+text), 0o700))
	}
	t.Setenv("PATH", directory+":/usr/bin:/bin")
	t.Setenv("SQUEUE_STATES", "RUNNING")
	t.Setenv("SLURM_CONF", "/kept")

	script(`[ -z "$SQUEUE_STATES" ] && [ "$SLURM_CONF" = /kept ] && echo "12 RUNNING 3"`)
	jobs, err := Commands{}.Jobs(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[uint32]Job{12: {"RUNNING", 3}}, jobs)

	script("echo '12 RUNNING 3'; echo 'slurm_load_jobs error: Unable to contact' >&2; exit 1")
	jobs, err = Commands{}.Jobs(t.Context())
	assert.ErrorContains(t, err, "Unable to contact", "an answer that ended badly is none")
	assert.Nil(t, jobs)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Commands{}.Jobs(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}
