/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the relay's second life, `relay --commands`: runs Slurm's real commands for the
 * tasks of the Pod, as the user, in the job's place on the Slurm node. See include/commands.h. */
#ifndef RELAY_COMMANDS_H
#define RELAY_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/message.h"

/* Whether this process was called so. */
bool commands_called(int argc, char **argv);

/* Serves the socket until the core closes it; kills what still runs then. Returns an exit code. */
int commands_run(void);

/* Puts a message on the stream to the Pod. */
void commands_send(uint32_t call, uint8_t kind, const void *payload, uint32_t length);

/* Whether more output may be read of commands: not while much waits for the core. */
bool commands_have_room(void);

#endif
