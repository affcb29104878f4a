// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// programs of the folder libexec, and the mode bits that users need of each.
var programs = []struct {
	name string
	mode fs.FileMode
}{
	{"gocore.so", 0o444}, // sbatch loads it, as the user
	{"relay", 0o555},     // runs as the user
	{"podinit", 0o444},
}

// Libexec checks the programs in a folder. safe is site.CheckProgram, or a test's own.
func Libexec(folder string, safe func(*os.File) error) Check {
	return func(context.Context) []Finding {
		const about = "programs"
		var found []Finding
		for _, program := range programs {
			path := filepath.Join(folder, program.name)
			if err := checkProgram(path, program.mode, safe); err != nil {
				found = append(found, fault(about, "install all files of one build, root's and writable by nobody else: gocore.so, relay, podinit", "%s", err))
			}
		}
		if len(found) == 0 {
			found = append(found, good(about, "gocore.so, relay and podinit are in %s, root's own", folder))
		}
		return found
	}
}

func checkProgram(path string, mode fs.FileMode, safe func(*os.File) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := safe(file); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&mode != mode {
		return fmt.Errorf("%s: mode %04o, users need %04o", path, info.Mode().Perm(), mode)
	}
	return nil
}

// StateFolder checks the folder of the markers: root's own, or not there yet.
func StateFolder(path string) Check {
	return func(context.Context) []Finding {
		const about = "state"
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return []Finding{good(about, "%s is not there yet; the first job makes it", path)}
		case err != nil:
			return []Finding{skipped(about, "", "%s", err)}
		case !info.IsDir() || info.Mode().Perm() != 0o700:
			return []Finding{fault(about, "rm -r "+path+", or: chown root "+path+"; chmod 700 "+path, "%s is not a folder of mode 0700: no marker for the epilog can be made there", path)}
		}
		return []Finding{good(about, "%s has mode 0700", path)}
	}
}

// Config checks the site's file as check-config does.
func Config(path string) Check {
	return func(context.Context) []Finding {
		const about = "site file"
		data, unsafe, err := site.Read(path)
		if err != nil {
			return []Finding{fault(about, "make it after examples/k8s.yaml", "%s", err)}
		}
		var found []Finding
		if unsafe != nil {
			found = append(found, fault(about, "it must be root's, and writable by nobody else", "%s", unsafe))
		}
		_, faults := site.Check(data)
		for _, one := range faults {
			found = append(found, fault(about, "see k8s.yaml(5)", "%s", one.At(path)))
		}
		if len(found) == 0 {
			found = append(found, good(about, "%s has no fault", path))
		}
		return found
	}
}

// pluginRelease reads the release of Slurm that a plugin was built for, as Slurm has it: major, minor and
// micro number, a byte each (slurm.h: SLURM_VERSION_NUM).
func pluginRelease(path string) (uint32, error) {
	file, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	for _, symbol := range symbols {
		if symbol.Name != "plugin_version" || int(symbol.Section) >= len(file.Sections) {
			continue
		}
		section := file.Sections[symbol.Section]
		data := make([]byte, 4)
		if _, err := section.ReadAt(data, int64(symbol.Value-section.Addr)); err != nil {
			return 0, err
		}
		return binary.NativeEndian.Uint32(data), nil
	}
	return 0, errors.New("it has no symbol plugin_version")
}

// Closed checks that a user cannot read the node's credential.
func Closed(kubeconfig string) Check {
	return func(context.Context) []Finding {
		const about = "node"
		file, err := os.Open(kubeconfig)
		if err != nil {
			return []Finding{skipped(about, "run it as root on a Slurm node", "the node's credential is root's, as it must be; rights and admission are not looked at")}
		}
		file.Close()
		return []Finding{fault(about, "chown root "+kubeconfig+"; chmod 600 "+kubeconfig+"; and make a new token: it may be known", "you can read %s, the credential that makes Pods under any uid", kubeconfig)}
	}
}

// Unseen is for what cannot be looked at from here.
func Unseen(about, do string, err error) Check {
	return func(context.Context) []Finding { return []Finding{skipped(about, do, "%s", err)} }
}
