// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// CheckCredential refuses a kubeconfig of the node that anyone but root could read: the
// credential in it makes Pods under any uid. The file is the one that is then read.
func CheckCredential(f *os.File) error { return checkFile(f, 0, 0o077) }

// checkFile wants a regular file of owner's with none of the forbidden mode bits.
func checkFile(f *os.File, owner uint32, forbidden fs.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file (%s)", f.Name(), info.Mode().Type())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: its owner cannot be read", f.Name())
	}
	if stat.Uid != owner {
		return fmt.Errorf("%s: owned by uid %d, must be owned by uid %d: chown %d %s", f.Name(), stat.Uid, owner, owner, f.Name())
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		what, hint := "others could read the credential", "chmod 600 "
		if forbidden == 0o022 {
			what, hint = "others could write it", "chmod go-w "
		}
		return fmt.Errorf("%s: mode %04o, %s: %s%s", f.Name(), mode, what, hint, f.Name())
	}
	return nil
}
