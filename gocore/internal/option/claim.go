// SPDX-License-Identifier: Apache-2.0

package option

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Claimed is --k8s-pvc: a volume that is made for the job's Pod and goes with it.
type Claimed struct {
	Size  resource.Quantity
	Class string // empty: the site's
	Path  string // empty: the site's
}

// leastClaim: less is "10" where "10Gi" was meant; mostClaim is an exbibyte.
var leastClaim, mostClaim = resource.MustParse("1Mi"), resource.MustParse("1Ei")

// ParseClaim reads SIZE[:CLASS][:PATH]; what begins with a slash is the path.
func ParseClaim(value string) (Claimed, error) {
	flag := Flag(PVC)
	if err := common(flag, value); err != nil {
		return Claimed{}, err
	}
	words := strings.Split(value, ":")
	// A quantity may be as long as it likes, and the library reads all of it.
	if len(words[0]) > 32 {
		return Claimed{}, fault(flag, value, "what stands first is not a size, such as 10Gi")
	}
	size, err := resource.ParseQuantity(words[0])
	switch {
	case err != nil:
		return Claimed{}, fault(flag, value, "%q is not a size, such as 10Gi", words[0])
	case size.Cmp(leastClaim) < 0:
		return Claimed{}, fault(flag, value, "%q is less than %s (is its unit missing, as in 10Gi?)", words[0], leastClaim.String())
	case size.Cmp(mostClaim) > 0:
		return Claimed{}, fault(flag, value, "%q is more than any storage has", words[0])
	}
	c := Claimed{Size: *resource.NewQuantity(size.Value(), resource.BinarySI)}
	for i, word := range words[1:] {
		switch {
		case strings.HasPrefix(word, "/") && i == len(words)-2:
			if problem := site.MountPathFault(word); problem != "" {
				return Claimed{}, fault(flag, value, "%q: %s", word, problem)
			}
			c.Path = word
		case i == 0 && len(validation.IsDNS1123Subdomain(word)) == 0:
			c.Class = word
		default:
			return Claimed{}, fault(flag, value, "not SIZE[:CLASS][:PATH] with a storage class and an absolute path")
		}
	}
	return c, nil
}
