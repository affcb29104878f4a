// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
)

// note tells who runs the tests a line, in the file that the variable names. E2E_FAILED: TEST/NAME of a script that failed,
// "ran TEST/NAME" of one that passed, and "came to its end" behind all of them. E2E_SUMMARY: what a person reads last.
func note(variable, line string) {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintln(file, line)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: "+variable+":", err)
	}
}
