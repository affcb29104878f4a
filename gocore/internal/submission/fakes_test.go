// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeFiles are files in memory by absolute path; denied ones exist and cannot be read.
type fakeFiles struct {
	files  fstest.MapFS
	denied map[string]bool
}

func (f fakeFiles) Stat(path string) (fs.FileInfo, error) {
	if f.denied[path] {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: os.ErrPermission}
	}
	return f.files.Stat(strings.TrimPrefix(path, "/"))
}

func (f fakeFiles) Read(path string, limit int64) ([]byte, error) {
	if f.denied[path] {
		return nil, &fs.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	}
	info, err := f.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errNotRegular
	}
	text, err := f.files.ReadFile(strings.TrimPrefix(path, "/"))
	return text[:min(int64(len(text)), limit)], err
}

// Writable: what is below /locked is not, nor is /locked.
func (f fakeFiles) Writable(path string) error {
	switch {
	case strings.HasPrefix(path, "/locked"):
		return syscall.EACCES
	case strings.HasPrefix(path, "/frozen"):
		return syscall.EROFS
	}
	return nil
}

// fakeShells are shells by name; each says its line of any text that has "BROKEN".
type fakeShells struct {
	here  map[string]string
	asked *[]string
	err   error
}

func (s fakeShells) Find(_, name string) string {
	if _, ok := s.here[name]; ok {
		return "/bin/" + name
	}
	return ""
}

func (s fakeShells) Syntax(_ context.Context, shell string, flags []string, path string, text []byte) (string, error) {
	if s.asked != nil {
		*s.asked = append(*s.asked, strings.Join(append([]string{shell}, append(flags, path)...), " "))
	}
	if s.err != nil {
		return "", s.err
	}
	if strings.Contains(strings.Join(flags, " "), "extglob") {
		return "", nil
	}
	if strings.Contains(string(text), "BROKEN") {
		return s.here[strings.TrimPrefix(shell, "/bin/")], nil
	}
	return "", nil
}

var errFake = errors.New("no such thing")

func answering(kind registry.Kind, reason string) Registry {
	return RegistryFunc(func(context.Context, string) registry.Result {
		return registry.Result{Kind: kind, Registry: "reg.local:5000", Reason: reason}
	})
}

func shapesOf(shapes ...podspec.Shape) Shapes {
	return ShapesFunc(func(context.Context) (podspec.Shapes, error) {
		return podspec.Shapes{V: podspec.ShapesVersion, Shapes: shapes}, nil
	})
}

// largest is a cluster's best node: 32 cpus, 64 GiB, 4 GPUs.
var largest = podspec.Shape{CPU: 32000, Memory: 64 << 30, Resources: map[string]int64{"nvidia.com/gpu": 4}, Count: 3}

// world is a good submission and everything it needs; a test changes what it is about.
func world() (Request, *site.Config, Deps) {
	request := ParseRequest([]string{
		"tool=sbatch", "option.image=reg.local:5000/lab/tool:1.0", "script=/home/alice/job.sh",
		"directory=/home/alice", "uid=1001", "sbatch.output=slurm-%j.out",
	})
	deps := Deps{
		Registry: answering(registry.Exists, ""),
		Shapes:   shapesOf(largest),
		Shell:    fakeShells{here: map[string]string{"bash": "line 2: syntax error", "sh": "2: Syntax error"}},
		Files: fakeFiles{files: fstest.MapFS{
			"home/alice/job.sh":    {Data: []byte("#!/bin/bash\n#SBATCH --time=5\necho hello\n")},
			"home/alice/data.txt":  {Data: []byte("x")},
			"home/alice/out/.keep": {},
			"locked/file":          {},
			"frozen/file":          {},
		}, denied: map[string]bool{}},
	}
	config := site.Default()
	config.Commands.Allow = site.CommandsQueries
	return request, config, deps
}

// with replaces the job file.
func with(deps Deps, text string) Deps {
	deps.Files.(fakeFiles).files["home/alice/job.sh"] = &fstest.MapFile{Data: []byte(text)}
	return deps
}
