// SPDX-License-Identifier: Apache-2.0

package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommands(t *testing.T) {
	config, err := Parse([]byte("commands: {allow: queries, path: [/opt/slurm/bin]}"))
	require.NoError(t, err)
	assert.Equal(t, []string{"/opt/slurm/bin"}, config.Commands.Path)
	assert.Equal(t, []string{"squeue", "sinfo", "sacct", "scontrol queries"}, config.Commands.Offered())
	assert.Equal(t, []string{"squeue", "sinfo", "sacct", "scontrol"}, config.Commands.Names())
	config, err = Parse([]byte("commands: {allow: none, path: []}"))
	require.NoError(t, err)
	assert.Empty(t, config.Commands.Names())
	assert.Contains(t, Default().Commands.Names(), "srun")
}
