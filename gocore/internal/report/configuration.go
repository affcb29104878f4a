// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// Configuration: the site's own files are at fault; the job's owner cannot mend it.
func Configuration(err error) string {
	return Tag + "this node is not set up to run jobs in Pods; tell the administrator [" +
		strings.ReplaceAll(err.Error(), "\n", "; ") + "]"
}
