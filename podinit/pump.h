/* SPDX-License-Identifier: Apache-2.0 */
/* pump.h - carries bytes between an exec's stdin and stdout and podinit's socket. */
#ifndef PODINIT_PUMP_H
#define PODINIT_PUMP_H

#include "options.h"

/* Runs until either side closes. Returns the exit code: 0; 69: podinit's socket is not
 * there or does not answer. */
int pump_run(const struct options *options);

#endif
