/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - a row of records of any length, sent as frames of HELLO through one small buffer. */
#ifndef RELAY_PIECES_H
#define RELAY_PIECES_H

#include <stddef.h>

/* Begins a row on a blocking socket. */
void pieces_begin(int socket);

/* Adds one record; `value` is used up when it returns. An error is kept for pieces_end. */
void pieces_record(unsigned char tag, const void *value, size_t length);

/* Sends the last piece. Returns 0, or -1 with errno: EMSGSIZE (more than
 * K8S_RECORDS_MAX), or what write said. */
int pieces_end(void);

#endif
