/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h - the processes of the tasks that call Slurm's commands, each on a connection of its own. */
#ifndef PODINIT_CALLERS_H
#define PODINIT_CALLERS_H

#include "../common/message.h"

/* The most that is read of a caller at once. */
#define CALLER_READ 16384

/* Makes the socket in the directory `run`. Returns 0, or -1 with errno. */
int callers_listen(const char *run);

/* Hands a message of the Slurm node to its caller; drops it where there is none. */
void callers_take(const struct k8s_message *message);

/* There is room on the stream again. */
void callers_resume(void);

/* Refuses all callers with this line (static), and all that will come. */
void callers_end(const char *why);

#endif
