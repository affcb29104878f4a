// SPDX-License-Identifier: Apache-2.0

package job

import "math/bits"

// Usage is that of a step's tasks: their times in sum, the largest of their peaks.
type Usage struct {
	UserMS    uint64 `json:"user_ms"`
	SystemMS  uint64 `json:"system_ms"`
	PeakBytes uint64 `json:"peak_bytes"`
}

// Add takes in what other tasks used.
func (u *Usage) Add(other Usage) {
	u.UserMS = saturated(u.UserMS, other.UserMS)
	u.SystemMS = saturated(u.SystemMS, other.SystemMS)
	u.PeakBytes = max(u.PeakBytes, other.PeakBytes)
}

// maxNumber is the largest that every reader of JSON takes exactly.
const maxNumber = 1<<53 - 1

func saturated(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return maxNumber
	}
	return min(sum, maxNumber)
}
