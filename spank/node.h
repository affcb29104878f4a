/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - where this process runs, in Slurm's names. */
#ifndef K8S_NODE_H
#define K8S_NODE_H

/* NodeName of the slurmd above this slurmstepd, of which a host may have several. Both slurmd
 * (for the epilog) and slurmstepd put it into the process's own environment, which no
 * user can reach. NULL when it is not there. */
const char *node_name(void);

/* ClusterName of slurm.conf, or NULL. */
const char *node_cluster(void);

#endif
