// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Line is one measured thing, in a unit of its own, and what it is compared with.
type Line struct {
	What    string
	Samples []float64
	Unit    string
	Against string // another line's What, for a ratio of medians; "" for none
}

// Lines are a row's, in the order in which they were first named.
type Lines []Line

// Line is the one of that name, made where there is none yet. It is valid until the next is made.
func (ls *Lines) Line(what, unit, against string) *Line {
	for i := range *ls {
		if (*ls)[i].What == what {
			return &(*ls)[i]
		}
	}
	*ls = append(*ls, Line{What: what, Unit: unit, Against: against})
	return &(*ls)[len(*ls)-1]
}

// Add puts samples to the line of that name.
func (ls *Lines) Add(what, unit, against string, samples ...float64) {
	l := ls.Line(what, unit, against)
	l.Samples = append(l.Samples, samples...)
}

// Median of samples; the middle between two where their number is even, 0 of none.
func Median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Print writes them as a table in Markdown.
func (ls Lines) Print(to io.Writer) {
	fmt.Fprintln(to, "| | median | least | most | n | ratio |")
	fmt.Fprintln(to, "|---|---|---|---|---|---|")
	medians := map[string]float64{}
	for _, l := range ls {
		medians[l.What] = Median(l.Samples)
	}
	for _, l := range ls {
		if len(l.Samples) == 0 {
			fmt.Fprintf(to, "| %s | none | | | 0 | |\n", l.What)
			continue
		}
		ratio := ""
		if other := medians[l.Against]; l.Against != "" && other != 0 {
			ratio = fmt.Sprintf("%.3g of %s", medians[l.What]/other, l.Against)
		}
		show := func(v float64) string { return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, l.Unit)) }
		fmt.Fprintf(to, "| %s | %s | %s | %s | %d | %s |\n", l.What, show(medians[l.What]), show(slices.Min(l.Samples)), show(slices.Max(l.Samples)), len(l.Samples), ratio)
	}
}

// Turns runs each way once in each of n rounds, so that all of them see the same machine.
func Turns(n int, ways ...func() error) error {
	for range n {
		for _, way := range ways {
			if err := way(); err != nil {
				return err
			}
		}
	}
	return nil
}
