// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestSystem(t *testing.T) {
	uid, err := System{}.UID("root")
	require.NoError(t, err)
	assert.Zero(t, uid)
	gid, err := System{}.GID("root")
	require.NoError(t, err)
	assert.Zero(t, gid)
	_, err = System{}.UID("no-such-user-here")
	assert.ErrorIs(t, err, site.ErrNobody)
	_, err = System{}.GID("no-such-group-here")
	assert.ErrorIs(t, err, site.ErrNobody)
}

func TestAskTellsFaults(t *testing.T) {
	_, err := ask("user", "x", func() (string, error) { return "", errors.New("the server is away") })
	assert.EqualError(t, err, `user "x": the server is away`)
	_, err = ask("user", "x", func() (string, error) { return "S-1-5", nil })
	assert.ErrorContains(t, err, `has the number "S-1-5"`)
	_, err = ask("user", "x", func() (string, error) { panic("no") })
	assert.ErrorContains(t, err, "panic: no")
}

func TestSelf(t *testing.T) {
	uid, gids, ok := Self()
	assert.True(t, ok)
	assert.EqualValues(t, os.Getuid(), uid)
	assert.Contains(t, gids, uint32(os.Getgid()))
	a, err := Of("root")
	require.NoError(t, err)
	assert.Equal(t, []any{uint32(0), uint32(0), "root"}, []any{a.UID, a.GID, a.Name})
	assert.Contains(t, a.GIDs, uint32(0))
}
