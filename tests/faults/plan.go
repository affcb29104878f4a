// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// order is one submission as drawn.
type order struct {
	number int
	at     time.Duration
	kind   *jobKind
	user   string
	size   int // of the job, as its kind has it: lines, seconds, tasks
	code   int // that it ends with
	append bool
	cancel time.Duration // after its begin; 0: never
}

func (o *order) name() string { return fmt.Sprintf("faults-%d", o.number) }

// strike is one fault as drawn.
type strike struct {
	number int
	at     time.Duration
	kind   *faultKind
	hold   time.Duration // before it is undone
	pick   int           // which of those that can be hit
}

// plan is all that a run does.
type plan struct {
	seed    uint64
	length  time.Duration
	orders  []*order
	strikes []*strike
}

// has: the fault may come.
func (p *plan) has(kind string) bool {
	return slices.ContainsFunc(p.strikes, func(s *strike) bool { return s.kind.name == kind })
}

// draw makes a plan from random numbers alone. No fault lasts beyond the longest, if that is not 0.
func draw(r *rand.Rand, jobs, faults int, pace, longest time.Duration, kinds []*faultKind) *plan {
	p := &plan{length: time.Duration(jobs) * pace}
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low)+1)) }
	cards := deck()
	for i := range jobs {
		o := &order{number: i, at: between(0, p.length), kind: cards[i%len(cards)], user: []string{"alice", "bob"}[r.IntN(2)]}
		o.size = o.kind.low + r.IntN(o.kind.high-o.kind.low+1)
		o.code = []int{0, 0, 0, 3, 5, 77}[r.IntN(6)]
		o.append = r.IntN(2) == 0
		if o.kind.cancelled {
			o.cancel = between(time.Second, 12*time.Second)
		}
		p.orders = append(p.orders, o)
	}
	// Every kind comes about equally often, in an order of its own.
	var bag []*faultKind
	for i := range faults {
		if len(bag) == 0 {
			bag = slices.Clone(kinds)
			r.Shuffle(len(bag), func(a, b int) { bag[a], bag[b] = bag[b], bag[a] })
		}
		kind := bag[0]
		bag = bag[1:]
		high := kind.high
		if longest > 0 {
			high = max(kind.low, min(high, longest))
		}
		// The first jobs begin before the first fault.
		p.strikes = append(p.strikes, &strike{number: i, at: between(8*time.Second, p.length+10*time.Second), kind: kind,
			hold: between(kind.low, high), pick: r.IntN(1 << 20)})
	}
	slices.SortStableFunc(p.orders, func(a, b *order) int { return int(a.at - b.at) })
	slices.SortStableFunc(p.strikes, func(a, b *strike) int { return int(a.at - b.at) })
	return p
}

func (p *plan) print(to io.Writer) {
	fmt.Fprintln(to, "faults:")
	for _, k := range faultKinds {
		fmt.Fprintf(to, "  %-26s %s\n", k.name, k.what)
	}
	fmt.Fprintln(to, "jobs:")
	for _, k := range jobKinds {
		fmt.Fprintf(to, "  %-26s %s\n", k.name, k.what)
	}
	fmt.Fprintf(to, "plan of seed %d:\n", p.seed)
	for _, o := range p.orders {
		fmt.Fprintf(to, "  %6.1fs job %s of %s: %s, size %d, code %d\n", o.at.Seconds(), o.name(), o.user, o.kind.name, o.size, o.code)
	}
	for _, s := range p.strikes {
		fmt.Fprintf(to, "  %6.1fs fault %d: %s for %.1fs\n", s.at.Seconds(), s.number, s.kind.name, s.hold.Seconds())
	}
}

// choose gives the kinds of faults that are asked for.
func choose(only, not string) ([]*faultKind, error) {
	words := func(text string) ([]string, error) {
		list := strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
		for _, name := range list {
			if !slices.ContainsFunc(faultKinds, func(k *faultKind) bool { return k.name == name }) {
				return nil, fmt.Errorf("there is no fault %q; -list shows them", name)
			}
		}
		return list, nil
	}
	yes, err := words(only)
	if err != nil {
		return nil, err
	}
	no, err := words(not)
	if err != nil {
		return nil, err
	}
	var kinds []*faultKind
	for _, k := range faultKinds {
		if (len(yes) == 0 || slices.Contains(yes, k.name)) && !slices.Contains(no, k.name) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("no kind of fault is left")
	}
	return kinds, nil
}
