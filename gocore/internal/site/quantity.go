// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxQuantity is longer than any amount that somebody writes.
const maxQuantity = 32

// quantityForm is Kubernetes' own, but that an exponent has two digits.
var quantityForm = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

// ParseQuantity reads an amount that a user or the file names. Kubernetes' library writes a number like
// 1e99999999 out, and is busy with that for minutes.
func ParseQuantity(text string) (resource.Quantity, error) {
	if len(text) > maxQuantity {
		return resource.Quantity{}, fmt.Errorf("%q... is not a Kubernetes quantity: longer than %d bytes", text[:maxQuantity], maxQuantity)
	}
	if !quantityForm.MatchString(text) {
		return resource.Quantity{}, fmt.Errorf("%q is not a Kubernetes quantity, such as \"500m\" or \"10Gi\"", text)
	}
	return resource.ParseQuantity(text)
}
