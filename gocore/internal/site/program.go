// SPDX-License-Identifier: Apache-2.0

package site

import "os"

// CheckProgram refuses a program that anyone but root could change: podinit runs as
// every user.
func CheckProgram(f *os.File) error { return checkFile(f, 0, 0o022) }
