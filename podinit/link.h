/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the socket, and the connections of pumps to it. */
#ifndef PODINIT_LINK_H
#define PODINIT_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the socket in the run directory and listens. Returns 0, or -1 after a line. */
int link_listen(void);

/* Writes what there is to write, until the current connection takes no more. */
void link_flush(void);

/* There is a connection whose core has said hello. */
bool link_connected(void);

/* To be said on the current connection: START, and a heartbeat's answer. Several at
 * once are answered by the last. */
void link_answer_start(void);
void link_answer_heartbeat(uint64_t counter);

#endif
