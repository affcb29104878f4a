// SPDX-License-Identifier: Apache-2.0

package onenode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyOneNodeIsLarger(t *testing.T) {
	text := larger("A=1\nNodeName=n1 Port=1 CPUs=8 RealMemory=8000 Gres=gpu:2\nNodeName=n2 CPUs=8 RealMemory=8000\n", 100)
	require.Equal(t, "A=1\nNodeName=n1 Port=1 CPUs=108 RealMemory=13000 Gres=gpu:2\nNodeName=n2 CPUs=8 RealMemory=8000\n", text)
}
