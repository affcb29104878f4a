// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errNotRegular is a path that holds something else than a file.
var errNotRegular = errors.New("not a regular file")

// LocalFiles are the files of this machine.
type LocalFiles struct{}

var _ Files = LocalFiles{}

// Stat implements Files.
func (LocalFiles) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Read implements Files. O_NONBLOCK, so that opening a pipe without a writer returns.
func (LocalFiles) Read(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// Writable implements Files. By the real user, who in sbatch is the only one.
func (LocalFiles) Writable(path string) error {
	const writeOK = 2 // W_OK of access(2)
	return syscall.Access(path, writeOK)
}

// why is an error of a file in a few words, without the path, which the line has already.
func why(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		return "does not exist: a part of its path is no directory"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read by you"
	case errors.Is(err, errNotRegular):
		return "is not a regular file"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return "cannot be read: " + path.Err.Error()
	}
	return "cannot be read: " + err.Error()
}
