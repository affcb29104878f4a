// SPDX-License-Identifier: Apache-2.0

// Package turn keeps whose turn it is to wait for room in Kubernetes, for the steps of one Slurm
// node: a file for each cluster, locked by the process whose turn it is, so that it ends with
// that. A file that nobody has locked says nothing.
package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
)

// sizeMax bounds what is read of a file.
const sizeMax = 64 << 10

// Folder is where the files are: the plugin's state=, root's own. Any goroutine may call its methods.
type Folder string

// Take locks the cluster's file until back is called. No back and no error: another process
// has the turn, or looks just now.
func (f Folder) Take(cluster string, turn podspec.Turn) (back func(), err error) {
	file, err := f.open(cluster, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer func() {
		if back == nil {
			file.Close()
		}
	}()
	if err := lock(file, unix.LOCK_EX); err != nil {
		return nil, ifNot(err, unix.EWOULDBLOCK)
	}
	text, err := json.Marshal(turn)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(0); err != nil {
		return nil, err
	}
	if _, err := file.WriteAt(text, 0); err != nil {
		return nil, err
	}
	return func() { file.Close() }, nil
}

// Current is the turn of the process that has locked the cluster's file; nil: none has.
func (f Folder) Current(cluster string) (*podspec.Turn, error) {
	file, err := f.open(cluster, os.O_RDONLY)
	if err != nil {
		return nil, ifNot(err, fs.ErrNotExist)
	}
	defer file.Close()
	switch err := lock(file, unix.LOCK_SH); {
	case err == nil:
		return nil, nil
	case err != unix.EWOULDBLOCK:
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	text, err := io.ReadAll(io.LimitReader(file, sizeMax))
	if err != nil {
		return nil, err
	}
	if len(text) == 0 { // it is just being taken
		return nil, nil
	}
	turn := &podspec.Turn{}
	if err := json.Unmarshal(text, turn); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return turn, nil
}

// open opens the cluster's file in a folder that only this user can change. No marker has such
// a name: the names of Slurm nodes begin otherwise.
func (f Folder) open(cluster string, flags int) (*os.File, error) {
	folder, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	info, err := folder.Stat(".")
	if err != nil {
		return nil, err
	}
	if status, ok := info.Sys().(*syscall.Stat_t); !ok || int(status.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is not a folder of mode 0700 of this user's own", f)
	}
	name := ".turn"
	if cluster != "" {
		name += "-" + cluster
	}
	return folder.OpenFile(name, flags|unix.O_NOFOLLOW, 0o600)
}

// lock never waits.
func lock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			return err
		}
	}
}

// ifNot is err, or nil where it is the one that is expected.
func ifNot(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
