// SPDX-License-Identifier: Apache-2.0

// Command faults runs many jobs on the one-machine cluster of tests/cluster while it injects faults, and then audits
// what became of them. docs/reliability.md says what is injected, what the audit holds jobs to, and how to repeat a run.
//
// What is drawn (jobs, faults, moments, lengths, which of the running jobs is hit) comes from -seed alone, before
// anything is started. What the machine makes of it differs from run to run.
//
// The audit is apart from the product: it imports none of its packages, and believes Slurm, Kubernetes, the files that
// the jobs wrote, and a ledger that the jobs' own processes fill over TCP.
package main
