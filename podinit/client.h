/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - podinit under the name of one of Slurm's commands, in a task of the Pod: has the
 * real one run on the Slurm node, and stands for it here. */
#ifndef PODINIT_CLIENT_H
#define PODINIT_CLIENT_H

/* The command that argv[0] names, or NULL: podinit itself is meant. Static. */
const char *client_name(const char *argv0);

/* Runs the command `name` of client_name. Ends as it did: returns its exit code, or dies of its signal. */
int client_run(const char *name, int argc, char **argv);

#endif
