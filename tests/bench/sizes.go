// SPDX-License-Identifier: Apache-2.0

package main

import "flag"

// sizes are how much of each thing is measured.
type sizes struct {
	n int // repetitions of what takes seconds
}

func (s *sizes) flags(to *flag.FlagSet) {
	to.IntVar(&s.n, "n", 10, "repetitions of what takes seconds")
}
