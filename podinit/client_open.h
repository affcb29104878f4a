/* SPDX-License-Identifier: Apache-2.0 */
/* client_open.h - the call's records: what the real command is to be given. */
#ifndef PODINIT_CLIENT_OPEN_H
#define PODINIT_CLIENT_OPEN_H

#include <stdint.h>

#include "../common/buffer.h"

/* Appends one message to `out`. Returns 0, or -1 with errno. */
int client_message(struct k8s_buffer *out, uint8_t kind, const void *payload, uint32_t length);

/* Appends OPEN and RUN for this process: its words, directory, environment, the script of
 * sbatch, and the size of stdin's terminal where it is one for the command, as the others of
 * these bits (K8S_RECORD_TERMINALS) are. Returns 0, or -1 after a line on stderr. */
int client_open(struct k8s_buffer *out, const char *name, int argc, char **argv, unsigned char terminals);

#endif
