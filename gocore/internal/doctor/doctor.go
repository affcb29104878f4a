// SPDX-License-Identifier: Apache-2.0

// Package doctor looks whether the parts of an installation fit together: files, Slurm's settings, rights,
// policies, nodes, registry. It changes nothing, and says for each fault what to do.
package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Level of a finding.
type Level int

const (
	Good    Level = iota
	Skipped       // could not be looked at from here
	Warning       // works, or may; somebody should look
	Fault         // jobs fail, or are not safe
)

func (l Level) String() string {
	if l < Good || l > Fault {
		return "unknown"
	}
	return [...]string{"ok", "skipped", "warning", "FAULT"}[l]
}

// Finding is what one look found.
type Finding struct {
	Level Level
	About string // what was looked at, in a word or two
	Text  string
	Do    string // what to do; empty where nothing is to be done
}

// Check is one look.
type Check func(ctx context.Context) []Finding

// In is a check whose findings say which of the site's clusters they are of; empty: it names none.
func In(cluster string, check Check) Check {
	if cluster == "" {
		return check
	}
	return func(ctx context.Context) []Finding {
		found := check(ctx)
		for i := range found {
			found[i].Text = "cluster " + cluster + ": " + found[i].Text
		}
		return found
	}
}

func good(about, format string, arguments ...any) Finding {
	return Finding{Good, about, fmt.Sprintf(format, arguments...), ""}
}

func skipped(about, do, format string, arguments ...any) Finding {
	return Finding{Skipped, about, fmt.Sprintf(format, arguments...), do}
}

func warning(about, do, format string, arguments ...any) Finding {
	return Finding{Warning, about, fmt.Sprintf(format, arguments...), do}
}

func fault(about, do, format string, arguments ...any) Finding {
	return Finding{Fault, about, fmt.Sprintf(format, arguments...), do}
}

// Run makes the checks one after the other and prints what they find as they find it. It gives the number of faults.
func Run(ctx context.Context, out io.Writer, checks ...Check) int {
	var counts [Fault + 1]int
	for _, check := range checks {
		for _, finding := range check(ctx) {
			counts[finding.Level]++
			fmt.Fprintf(out, "%-8s %-12s %s\n", finding.Level, finding.About, oneLine(finding.Text))
			if finding.Do != "" {
				fmt.Fprintf(out, "%21s do: %s\n", "", oneLine(finding.Do))
			}
		}
	}
	fmt.Fprintf(out, "%d ok, %d skipped, %d warnings, %d faults\n", counts[Good], counts[Skipped], counts[Warning], counts[Fault])
	return counts[Fault]
}

// oneLine: Kubernetes' and Slurm's words may be of several.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
