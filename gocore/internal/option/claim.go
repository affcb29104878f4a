// SPDX-License-Identifier: Apache-2.0

package option

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Claimed is --k8s-pvc: a volume that is made for the job, or one that an earlier job kept.
type Claimed struct {
	Size  resource.Quantity // of one that is made
	Class string            // empty: the site's
	Path  string            // empty: the site's
	// Keep: it is the job's, and stays after it. Else it is the Pod's and goes with it.
	Keep bool
	// Of is the job that kept it; 0: it is made.
	Of uint32
}

// Kept tells a volume that is there without the Pod.
func (c Claimed) Kept() bool { return c.Keep || c.Of != 0 }

// String is what was asked for, but the path.
func (c Claimed) String() string {
	if c.Of != 0 {
		return fmt.Sprintf("%s:%d", claimOf, c.Of)
	}
	return c.Size.String()
}

// ErrKeptAnywhere refuses --k8s-cluster=auto for a job whose volume stays: it is in one cluster.
var ErrKeptAnywhere = errors.New("--k8s-pvc: a volume that is kept is in one Kubernetes cluster (say in which: --k8s-cluster=NAME)")

// leastClaim: less is "10" where "10Gi" was meant; mostClaim is an exbibyte.
var leastClaim, mostClaim = resource.MustParse("1Mi"), resource.MustParse("1Ei")

// The words of --k8s-pvc.
const (
	claimKeep = "keep"
	claimOf   = "job"
)

// ParseClaim reads SIZE[:CLASS][:PATH][:keep] or job:ID[:PATH]; what begins with a slash is the path.
func ParseClaim(value string) (Claimed, error) {
	flag := Flag(PVC)
	if err := common(flag, value); err != nil {
		return Claimed{}, err
	}
	words := strings.Split(value, ":")
	if words[0] == claimOf {
		return claimOfJob(flag, value, words[1:])
	}
	size, err := claimSize(flag, value, words[0])
	if err != nil {
		return Claimed{}, err
	}
	c, words := Claimed{Size: size}, words[1:]
	if last := len(words) - 1; last >= 0 && words[last] == claimKeep {
		c.Keep, words = true, words[:last]
	}
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "/") && i == len(words)-1:
			if problem := site.MountPathFault(word); problem != "" {
				return Claimed{}, fault(flag, value, "%q: %s", word, problem)
			}
			c.Path = word
		case i == 0 && len(validation.IsDNS1123Subdomain(word)) == 0:
			c.Class = word
		default:
			return Claimed{}, fault(flag, value, "not SIZE[:CLASS][:PATH][:keep] with a storage class and an absolute path")
		}
	}
	return c, nil
}

func claimSize(flag, value, word string) (resource.Quantity, error) {
	size, err := site.ParseQuantity(word)
	switch {
	case err != nil:
		return resource.Quantity{}, fault(flag, value, "%q is not a size, such as 10Gi", word)
	case size.Cmp(leastClaim) < 0:
		return resource.Quantity{}, fault(flag, value, "%q is less than %s (is its unit missing, as in 10Gi?)", word, leastClaim.String())
	case size.Cmp(mostClaim) > 0:
		return resource.Quantity{}, fault(flag, value, "%q is more than any storage has", word)
	}
	size.RoundUp(0) // whole bytes, in the unit that was typed
	return size, nil
}

// claimOfJob reads what stands behind "job".
func claimOfJob(flag, value string, words []string) (Claimed, error) {
	var c Claimed
	if len(words) == 0 || len(words) > 2 {
		return Claimed{}, fault(flag, value, "not job:ID[:PATH] with the number of a job that kept its volume")
	}
	id, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil || id == 0 || words[0] != strconv.FormatUint(id, 10) {
		return Claimed{}, fault(flag, value, "%q is not a job's number", words[0])
	}
	c.Of = uint32(id)
	if len(words) == 2 {
		if problem := site.MountPathFault(words[1]); problem != "" {
			return Claimed{}, fault(flag, value, "%q: %s", words[1], problem)
		}
		c.Path = words[1]
	}
	return c, nil
}
