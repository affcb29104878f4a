/* SPDX-License-Identifier: Apache-2.0 */
/* call_io.h - input and output of a command. Nothing of it ever waits. */
#ifndef RELAY_CALL_IO_H
#define RELAY_CALL_IO_H

#include "../common/message.h"
#include "call.h"

/* Takes input, its end, a size, or credit, as the message's kind says. */
void call_take(struct call *call, const struct k8s_message *message);

/* Writes input that waits. */
void call_write(struct call *call);

/* There is input to be written. */
bool call_waits(const struct call *call);

/* More output may be sent. */
bool call_may_read(const struct call *call);

/* Reads from `*fd`, once, and closes it at its end. */
void call_read(struct call *call, int *fd, uint8_t kind);

/* The process is gone: reads what it left, as far as there is credit. */
void call_drain(struct call *call);

#endif
