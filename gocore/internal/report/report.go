// SPDX-License-Identifier: Apache-2.0

// Package report has every sentence that a user reads of a job in a Pod, and the exit
// that goes with it. Pure. One line each: "slurm-k8s: ", a sentence in our words, and
// Kubernetes' own at the end in square brackets.
package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// Tag begins every line.
	Tag = "slurm-k8s: "
	// maxWords bounds what of Kubernetes' own words is repeated, in bytes; maxSentence all
	// of ours, which may quote a path or a name.
	maxWords    = 600
	maxSentence = 600
)

// line makes a report. Every text in it is untrusted: it becomes one printable line.
func line(words, format string, args ...any) string {
	text := Tag + clean(fmt.Sprintf(format, args...), maxSentence)
	if words = clean(words, maxWords); words != "" {
		text += " [" + words + "]"
	}
	return text
}

// clean makes one line of a text, without control characters, cut to limit bytes.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	end := limit - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// faults is an error of several lines as one.
func faults(err error) string {
	if err == nil {
		return ""
	}
	return strings.Join(strings.Split(strings.TrimSpace(err.Error()), "\n"), "; ")
}

// Pretty is a duration in whole seconds, as "30s" or "5m".
func Pretty(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-2]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-2]
	}
	return text
}

// Internal is a fault of our own.
func Internal(text string) string {
	return line("", "internal fault: %s (please report it; slurmd's log has more)", text)
}

// NoFacts: slurmctld did not say what the job is.
func NoFacts(err error) string {
	return line("", "Slurm does not say what the job may have: %s", faults(err))
}

// Refused: the job cannot run in a Pod, as the error says.
func Refused(err error) string { return line("", "the job cannot run in a Pod: %s", faults(err)) }
