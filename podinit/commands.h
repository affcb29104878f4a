/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - Slurm's commands for the tasks: the pseudo task of include/commands.h, which
 * joins the calls of all tasks to one stream each way. */
#ifndef PODINIT_COMMANDS_H
#define PODINIT_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/message.h"
#include "plan.h"

struct task;

/* Offers the commands that the plan names, if any: the socket, and the links in the run
 * directory. What fails is said in the log, and then none is offered. A step that joined uses
 * those of process 1, where it has some. */
void commands_offer(const struct plan *plan);

/* The pseudo task, or NULL where none is offered, or they are process 1's. */
struct task *commands_task(void);

/* The directory of the links, for the tasks' PATH; NULL where none is offered. */
const char *commands_bin(void);

/* Bytes from the Slurm node, and their end; as input_take and input_end. */
int commands_take(uint64_t offset, const unsigned char *bytes, size_t count);
int commands_end(uint64_t offset);

/* The core has more of the stream: callers that waited go on. */
void commands_resume(void);

/* Whether as much as one read of a caller may bring fits into the stream now. */
bool commands_have_room(void);

/* Puts a message on the stream; there is room, or false. */
bool commands_send(const struct k8s_message *message);

#endif
