/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.h - the socket of the Pod's calls of Slurm's commands, which only the relay of the first
 * task has, and the process that serves it: made once there is something to serve. */
#ifndef RELAY_SPAWN_H
#define RELAY_SPAWN_H

#define SPAWN_VARIABLE "SLURM_K8S_COMMANDS_FD"

/* Takes the socket from the environment, if there is one. */
void spawn_open(void);

/* The socket, or -1: readable, it is time for spawn_serve. */
int spawn_socket(void);

/* Starts the process that serves it, unless the core has closed its end. Where that fails the socket is closed, and the core told so by that.
 * Also where this relay ends: other tasks of the Pod may go on, and somebody must listen. */
void spawn_serve(void);

#endif
