// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// maxNodeSelector bounds the option's text.
const maxNodeSelector = 4096

// ParseNodeSelector reads KEY=VALUE,... as kubectl's -l does. What the site lets users choose
// is asked elsewhere.
func ParseNodeSelector(value string) (site.NodeLabels, error) {
	flag := Flag(NodeSelector)
	if err := common(flag, value); err != nil {
		return nil, err
	}
	if len(value) > maxNodeSelector {
		return nil, fault(flag, value, "longer than %d bytes", maxNodeSelector)
	}
	labels := site.NodeLabels{}
	for part := range strings.SplitSeq(value, ",") {
		key, want, found := strings.Cut(part, "=")
		switch {
		case !found:
			return nil, fault(flag, part, "not KEY=VALUE (KEY=VALUE,... of a node's labels)")
		case len(validation.IsQualifiedName(key)) > 0:
			return nil, fault(flag, part, "%q is not a label's name", key)
		case len(validation.IsValidLabelValue(want)) > 0:
			return nil, fault(flag, part, "%q is not a label's value", want)
		case labels[key] != nil && labels[key][0] != want:
			return nil, fault(flag, value, "two values for %q", key)
		}
		labels[key] = site.Values{want}
	}
	return labels, nil
}

// CheckNodeSelector also asks whether the site lets users choose so.
func CheckNodeSelector(value string, placement site.Placement) error {
	labels, err := ParseNodeSelector(value)
	if err != nil {
		return err
	}
	if err := placement.MayChoose(labels); err != nil {
		return fault(Flag(NodeSelector), value, "%s", err)
	}
	return nil
}
