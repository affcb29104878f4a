/* SPDX-License-Identifier: Apache-2.0 */
/* hello.h - what slurmstepd would have exec'ed, told to the core. */
#ifndef RELAY_HELLO_H
#define RELAY_HELLO_H

#include "relay.h"

/* Sends HELLO, in as many pieces as it takes; waits for the core to read. Returns 0, or
 * -1 after a line on stderr: the script cannot be read or sent, or the core is gone. */
int hello_send(const struct launch *launch);

#endif
