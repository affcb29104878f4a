/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - the relay's own lines, into the task's output. */
#ifndef RELAY_LINE_H
#define RELAY_LINE_H

/* Writes "slurm-k8s: error: " and one line to stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, to another fd. */
void complain_to(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
