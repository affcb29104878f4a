// SPDX-License-Identifier: Apache-2.0

// Package stream carries output, input, signals and ends between the relays on
// the Slurm node and podinit in the container, as include/frames.h says.
//
// Two things are alive here. A [Relay] is the core's end of one relay's socket
// and lives as long as the task on the Slurm node. A [Session] is one
// incarnation's stream to podinit and outlives any number of pumps. A Session
// never waits for a Relay, nor a Relay for a Session: bytes wait in the Relay,
// bounded by the windows of frames.h, and either side pulls what the other has.
//
// Locks: Session.mu before Relay.mu; a Relay tells its Session that something
// changed with no lock held. Peers are untrusted: relay and podinit both run as
// the user. Every goroutine recovers, since a panic would kill slurmstepd.
package stream
