// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"io/fs"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Registry says whether an image is there.
type Registry interface {
	Check(ctx context.Context, image string) registry.Result
}

// RegistryFunc is a Registry of one function.
type RegistryFunc func(ctx context.Context, image string) registry.Result

// Check implements Registry.
func (f RegistryFunc) Check(ctx context.Context, image string) registry.Result { return f(ctx, image) }

// ShellCheck asks the shells of this machine about syntax.
type ShellCheck interface {
	// Find returns where a shell is: path itself where it is one that can be run, else
	// name in the usual directories, else "".
	Find(path, name string) string
	// Syntax has shell read the file at path, or text where path is empty, without running
	// any of it. said is the first line of a refusal and empty where it is accepted; err
	// means that it could not be asked.
	Syntax(ctx context.Context, shell string, flags []string, path string, text []byte) (said string, err error)
}

// Files looks at files as the calling user.
type Files interface {
	// Stat follows links.
	Stat(path string) (fs.FileInfo, error)
	// Read returns at most limit bytes from the start of a regular file and never waits on
	// a pipe or device.
	Read(path string, limit int64) ([]byte, error)
	// Writable returns nil where the user may write to the file, or make one in the directory.
	Writable(path string) error
}

// Deps is what a check asks. A nil Shapes: the site publishes none.
type Deps struct {
	Registry Registry
	Shapes   Shapes
	Shell    ShellCheck
	Files    Files
	// Directory has the machine's users and groups by name; Self the ids of this process.
	// A nil Self: who submits is not known.
	Directory site.Directory
	Self      func() (uid uint32, gids []uint32, ok bool)
}
