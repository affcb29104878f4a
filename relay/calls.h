/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - all calls of the Pod: messages in, and what their commands say. */
#ifndef RELAY_CALLS_H
#define RELAY_CALLS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/message.h"
#include "call.h"

/* Files of a call: its input, terminal, and outputs. */
#define CALL_FILES (2 + CALL_OUTPUTS)
#define CALLS_FILES (CALL_FILES * K8S_CALLS)

/* Does what a message of the Pod says. */
void calls_take(const struct k8s_message *message);

/* Fills `files` with what is waited for; calls_move does what is then ready. Returns how many. */
size_t calls_watch(struct pollfd files[CALLS_FILES]);
void calls_move(const struct pollfd *files, size_t count);

/* Takes the ends of commands. */
void calls_reap(void);

/* Kills what should have ended by now. Returns the milliseconds until the next time, or -1. */
int calls_insist(void);

/* Ends all commands, the reluctant too. */
void calls_end(void);

#endif
