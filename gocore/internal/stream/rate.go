// SPDX-License-Identifier: Apache-2.0

package stream

import "time"

// bucket lets so many bytes a second pass. Output is slowed by acknowledging it
// later: podinit then sends no more than its window ahead, and nothing else of
// the stream waits. One goroutine at a time may use it.
type bucket struct {
	rate float64 // 0: all may pass
	left float64
	last time.Time
}

func newBucket(rate int64) *bucket { return &bucket{rate: float64(max(rate, 0))} }

// take lets n bytes pass and returns 0, or says how long to wait. Bytes pass
// whole as soon as the debt of those before is paid.
func (b *bucket) take(n uint64, now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	if !b.last.IsZero() {
		b.left = min(b.left+b.rate*now.Sub(b.last).Seconds(), b.rate/10)
	}
	b.last = now
	if b.left < 0 {
		return max(time.Duration(-b.left/b.rate*float64(time.Second)), time.Millisecond)
	}
	b.left -= float64(n)
	return 0
}
