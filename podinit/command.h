/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - finding and executing a command, or saying why not. */
#ifndef PODINIT_COMMAND_H
#define PODINIT_COMMAND_H

#include <stdbool.h>

/* PATH where the image names none. */
#define COMMAND_USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Executes arguments[0]: as it is if it has a slash, else looked up in the PATH of
 * `variables`. `script`: it is the job's script. When that fails: one line on stderr
 * that names command and cause, then exit 127 (it, or its interpreter, is not there)
 * or 126 (it cannot be executed). */
_Noreturn void command_run(char *const *arguments, char *const *variables, bool script);

#endif
