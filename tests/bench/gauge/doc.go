// SPDX-License-Identifier: Apache-2.0

// Package gauge has the bench's measuring tools: what a machine and its processes use, what is asked of Kubernetes and of
// slurmctld, what stands in a log, and the table that it all ends in. It knows nothing of what is measured with them.
package gauge
