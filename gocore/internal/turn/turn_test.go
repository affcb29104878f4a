// SPDX-License-Identifier: Apache-2.0

package turn

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func folder(t *testing.T) Folder {
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(path, 0o700))
	return Folder(path)
}

func TestOneHasTheTurn(t *testing.T) {
	f := folder(t)
	nobody, err := f.Current("")
	require.NoError(t, err)
	assert.Nil(t, nobody, "nothing is there")

	mine := podspec.Turn{Job: 7, Lacks: []string{"cpu", "nvidia.com/gpu"}, Labels: site.NodeLabels{"gpu": {"a100", "h100"}}}
	back, err := f.Take("", mine)
	require.NoError(t, err)
	require.NotNil(t, back)
	now, err := f.Current("")
	require.NoError(t, err)
	assert.Equal(t, &mine, now)

	none, err := f.Take("", podspec.Turn{Job: 8})
	require.NoError(t, err)
	assert.Nil(t, none, "another has it")
	elsewhere, err := f.Take("west", podspec.Turn{Job: 8})
	require.NoError(t, err)
	require.NotNil(t, elsewhere, "each cluster has its own")
	elsewhere()

	back()
	nobody, err = f.Current("")
	require.NoError(t, err)
	assert.Nil(t, nobody)
	shorter, err := f.Take("", podspec.Turn{Job: 9, Lacks: []string{"cpu"}})
	require.NoError(t, err)
	now, err = f.Current("")
	require.NoError(t, err)
	assert.Equal(t, &podspec.Turn{Job: 9, Lacks: []string{"cpu"}}, now, "nothing of the longer one is left")
	shorter()
}

// TestTurnEndsWithItsProcess: by the kernel, whatever kills it.
func TestTurnEndsWithItsProcess(t *testing.T) {
	f := folder(t)
	if os.Getenv("TURN_OF_CHILD") != "" {
		_, err := Folder(os.Getenv("TURN_OF_CHILD")).Take("", podspec.Turn{Job: 7})
		require.NoError(t, err)
		os.Stdout.WriteString("taken")
		select {}
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestTurnEndsWithItsProcess$")
	child.Env = append(os.Environ(), "TURN_OF_CHILD="+string(f))
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	word := make([]byte, len("taken"))
	_, err = out.Read(word)
	require.NoError(t, err)
	now, err := f.Current("")
	require.NoError(t, err)
	assert.Equal(t, &podspec.Turn{Job: 7}, now)
	require.NoError(t, child.Process.Kill())
	assert.Error(t, child.Wait())
	now, err = f.Current("")
	require.NoError(t, err)
	assert.Nil(t, now)
}

func TestFolderOfOthers(t *testing.T) {
	f := folder(t)
	require.NoError(t, os.Chmod(string(f), 0o755))
	_, err := f.Take("", podspec.Turn{})
	assert.ErrorContains(t, err, "not a folder of mode 0700")
	_, err = f.Current("")
	assert.ErrorContains(t, err, "not a folder of mode 0700")
	_, err = (f + "/absent").Take("", podspec.Turn{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFileThatIsNoTurn(t *testing.T) {
	f := folder(t)
	require.NoError(t, os.Symlink("/etc/passwd", string(f)+"/.turn"))
	_, err := f.Take("", podspec.Turn{})
	assert.Error(t, err, "no link is followed")

	back, err := f.Take("west", podspec.Turn{})
	require.NoError(t, err)
	defer back()
	require.NoError(t, os.WriteFile(string(f)+"/.turn-west", []byte("{"), 0o600))
	_, err = f.Current("west")
	assert.ErrorContains(t, err, ".turn-west")
	require.NoError(t, os.Truncate(string(f)+"/.turn-west", 0))
	now, err := f.Current("west")
	assert.NoError(t, err)
	assert.Nil(t, now, "it is just being written")
}
