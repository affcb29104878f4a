/* SPDX-License-Identifier: Apache-2.0 */
/* downlink.h - frames from the core. */
#ifndef RELAY_DOWNLINK_H
#define RELAY_DOWNLINK_H

/* Gets ready to read. */
void downlink_open(void);

/* Reads once from the socket and does what the frames say. Returns 1, 0: the core
 * has closed the socket, or -1 after a line: it sends what no core should. */
int downlink_read(void);

#endif
