// SPDX-License-Identifier: Apache-2.0

package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShmBytes(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "8Gi": 8 << 30, "50%": 500 << 20, "1%": 10 << 20, "100%": 1000 << 20} {
		got, err := Pod{ShmSize: text}.ShmBytes(1000 << 20)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"much", "8", "0%", "101%", "-5%", "%", "1.5%", "300%"} {
		_, err := Pod{ShmSize: text}.ShmBytes(1000 << 20)
		assert.ErrorContains(t, err, text)
	}
}
