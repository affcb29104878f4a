// SPDX-License-Identifier: Apache-2.0

package report

import "time"

// ClaimKept tells the user how to come by a volume that outlives its job.
func ClaimKept(job uint32, keep time.Duration) string {
	return line("", "the job's volume stays after it: --k8s-pvc=job:%d gives it to another job of yours, until %s after the last one that used it", job, Pretty(keep))
}

// NoClaim: the earlier job has left no volume.
func NoClaim(job uint32, namespace string) string {
	return line("", "--k8s-pvc: job %d of yours has kept no volume in namespace %s, or its time is over: \"job:%d\"", job, namespace, job)
}

// ForeignClaim: what has the volume claim's name is not what the job may use.
func ForeignClaim(name, why string) string {
	return line("", "--k8s-pvc: the volume claim %s cannot be used: %s", name, why)
}
