// SPDX-License-Identifier: Apache-2.0

package site

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParseQuantity(t *testing.T) {
	for _, text := range []string{
		"0", "1", "10Gi", "500m", "1.5Gi", ".5Gi", "5.", "5.Gi", "+3", "-1", "0.1", "1e3", "1E3", "1E", "12e-3", "2e+10", "128Ki", "7n", "3u", "9k", "1Ei", "9999999999999999999",
	} {
		q, err := ParseQuantity(text)
		if assert.NoError(t, err, text) {
			assert.Zero(t, q.Cmp(resource.MustParse(text)), text)
		}
	}
	for _, text := range []string{"", ".", "+", "-", "Gi", "e3", ".e3", "1.2.3", "1 Gi", " 1", "1\n", "1gi", "1mi", "1e", "1e1.5", "0x10", "1_000", "--1", "1Gi1", "١", "NaN", "Inf"} {
		_, err := ParseQuantity(text)
		assert.Error(t, err, "%q", text)
	}
}

// TestQuantitiesAreBounded: Kubernetes' own reader works for minutes on these.
func TestQuantitiesAreBounded(t *testing.T) {
	for _, text := range []string{
		"1e99999999", "1e9999999999", "1e-99999999", "1E+99999999", "-1e100", strings.Repeat("9", 10_000_000), "0." + strings.Repeat("0", 1_000_000) + "1Gi", strings.Repeat("0", 40),
	} {
		begun := time.Now()
		_, err := ParseQuantity(text)
		assert.ErrorContains(t, err, `is not a Kubernetes quantity`)
		assert.Less(t, len(err.Error()), 200, "a line that can be read")
		assert.Less(t, time.Since(begun), time.Second)
	}
	// Wherever the file has one.
	for _, file := range []string{
		"pod: {shm_size: 1e99999999}",
		"resources: {reserve: {cpu: 1e99999999}}",
		"resources: {reserve: {memory: 1e99999999}}",
		"claims: {max_size: 1e99999999}",
		"volumes: {a: {empty_dir: {size: 1e99999999}, mount: /a}}",
		"namespace: user-%u\ntenants: {quota: {cpu: 1e99999999}}",
		"namespace: user-%u\ntenants: {limits: [{type: Container, max: {cpu: 1e99999999}}]}",
	} {
		begun := time.Now()
		_, err := Parse([]byte(file))
		assert.ErrorContains(t, err, `"1e99999999"`, file)
		assert.Less(t, time.Since(begun), time.Second, file)
	}
}
