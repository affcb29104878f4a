// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// stages are those that the log tells, in its order.
func (w *world) stages() []string {
	var names []string
	for _, match := range regexp.MustCompile(`(?m)stage (\S+) after \d+\.\d{3} s\b`).FindAllStringSubmatch(w.log.String(), -1) {
		names = append(names, match[1])
	}
	return names
}

func TestStagesAreLogged(t *testing.T) {
	t.Run("of a step that ends well", func(t *testing.T) {
		bubble(t, func(*world) {}, func(t *testing.T, w *world) {
			assert.Equal(t, []string{"created", "scheduled", "running", "connected", "start-sent", "end-known", "pod-gone"}, w.stages())
			assert.Regexp(t, `stage created after 0\.0\d\d s`, w.log.String())
			assert.Regexp(t, `stage running after 1\.\d\d\d s`, w.log.String(), "since the step began")
		})
	})
	t.Run("of one that never started", func(t *testing.T) {
		bubble(t, func(w *world) { w.fault = "slurm-k8s: not set up" }, func(t *testing.T, w *world) {
			assert.Equal(t, []string{"end-known"}, w.stages())
		})
	})
}
