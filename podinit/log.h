/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - podinit's own lines, on its stderr: the Pod's log, not the job's output. */
#ifndef PODINIT_LOG_H
#define PODINIT_LOG_H

/* One line, without newline. Never blocks for long, never fails; errno is kept. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
