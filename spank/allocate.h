/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocate.h - a salloc that was called in a Pod (include/commands.h): its COMMAND runs there.
 *
 * salloc is let begin again with the relay in the place of COMMAND. Where COMMAND begins only salloc's own
 * parser knows, and what it has made of it lies elsewhere in each release; so it is told by its
 * command line, from the parser's own word on where the options end.
 */
#ifndef K8S_ALLOCATE_H
#define K8S_ALLOCATE_H

#include "config.h"

/* Before any option is read: keeps the environment and the directory that salloc was started with. Nothing
 * where it was not called in a Pod, or has begun again. */
void allocate_remember(void);

/* After the options of each component, before anything is done with them: begins again after the last.
 * Returns 0, or -1 after it was said. */
int allocate_begin_again(const struct config *config);

/* Forgets what was kept, for tests. */
void allocate_forget(void);

#endif
