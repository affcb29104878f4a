/* SPDX-License-Identifier: Apache-2.0 */
/* uplink.h - frames to the core, one at a time, made when the socket has room. */
#ifndef RELAY_UPLINK_H
#define RELAY_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

/* Answers a heartbeat; of several at once, the last. */
void uplink_heartbeat(uint64_t counter);

/* Writes what there is to say. `input`: stdin is ready, it may be read. Returns 0, or -1:
 * the core is gone. */
int uplink_write(bool input);

/* A frame is stuck, as the socket is full. */
bool uplink_waits(void);

#endif
