// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// maxQuoted bounds what of a value or of foreign text is quoted in a line.
const maxQuoted = 300

// Result of a check, in a stable order. One line each, without newline.
type Result struct {
	Faults   []string
	Warnings []string
}

// Refused says whether the job may not be submitted.
func (r Result) Refused() bool { return len(r.Faults) > 0 }

// finding is a line for the user, a fault or a warning.
type finding struct {
	fault bool
	text  string
}

func fault(format string, arguments ...any) finding {
	return finding{fault: true, text: line(fmt.Sprintf(format, arguments...))}
}

func warning(format string, arguments ...any) finding {
	return finding{text: line(fmt.Sprintf(format, arguments...))}
}

// result sorts findings into faults and warnings; each line is said once.
func result(findings []finding) Result {
	var r Result
	said := map[string]bool{}
	for _, f := range findings {
		switch {
		case said[f.text]:
		case f.fault:
			r.Faults = append(r.Faults, f.text)
		default:
			r.Warnings = append(r.Warnings, f.text)
		}
		said[f.text] = true
	}
	return r
}

// quote shows a user's value: bounded, and nothing in it moves a cursor.
func quote(value string) string {
	if runes := []rune(value); len(runes) > maxQuoted {
		value = string(runes[:maxQuoted]) + "..."
	}
	return strconv.Quote(value)
}

// line makes text one printable line.
func line(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text))
}
