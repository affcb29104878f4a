/* SPDX-License-Identifier: Apache-2.0 */
/* orders.h - what the core's frames mean. */
#ifndef PODINIT_ORDERS_H
#define PODINIT_ORDERS_H

#include "../common/frame.h"

/* Does what a frame of the current connection says. Returns 0, or -1 after a line: it
 * is one that a right core never sends, close the connection. */
int orders_take(const struct k8s_frame *frame);

/* The connection has ended: forget what was half said. */
void orders_forget(void);

#endif
