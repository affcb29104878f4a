// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// minShm: less is "8" where "8Gi" was meant.
const minShm = "1Mi"

// ShmBytes is the size of /dev/shm of a Pod with this memory in bytes (0: no limit). 0: the container
// runtime's own. shm_size is a quantity, or a part of the job's memory in percent.
func (p Pod) ShmBytes(memory int64) (int64, error) {
	if p.ShmSize == "" {
		return 0, nil
	}
	if percent, ok := strings.CutSuffix(p.ShmSize, "%"); ok {
		n, err := strconv.ParseUint(percent, 10, 8)
		if err != nil || n < 1 || n > 100 {
			return 0, fmt.Errorf("%q is not a part of the job's memory from \"1%%\" to \"100%%\"", p.ShmSize)
		}
		const mebi = 1 << 20
		return memory / 100 * int64(n) / mebi * mebi, nil
	}
	q, err := ParseQuantity(p.ShmSize)
	if err != nil || q.Cmp(resource.MustParse(minShm)) < 0 {
		return 0, fmt.Errorf("%q is neither a Kubernetes quantity of at least %s, such as \"8Gi\", nor a part of the job's memory, such as \"50%%\"", p.ShmSize, minShm)
	}
	return q.Value(), nil
}
