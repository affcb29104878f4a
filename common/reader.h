/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - frames out of a byte stream, in a buffer that never grows. */
#ifndef K8S_READER_H
#define K8S_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"

/* The least that a reader's buffer must hold: one whole frame. */
#define K8S_READER_MIN (K8S_FRAME_HEADER + K8S_FRAME_PAYLOAD)

struct k8s_reader {
	unsigned char *buffer; /* the caller's, for as long as the reader is used */
	size_t capacity;       /* of buffer, at least K8S_READER_MIN */
	size_t begin;	       /* first byte not yet handed out */
	size_t end;	       /* behind the last byte read */
	uint64_t session;      /* the only one that is accepted */
};

/* Makes a reader, empty, on the caller's buffer. Cannot fail. */
void k8s_reader_init(struct k8s_reader *reader, void *buffer, size_t capacity, uint64_t session);

/* One read(2) from fd into the free part of the buffer; ends the life of payloads
 * handed out before. Returns what read did: bytes, 0 at the stream's end, -1 with
 * errno. Never called when the buffer is full: after k8s_reader_next returned 0
 * there is always room. */
ssize_t k8s_reader_fill(struct k8s_reader *reader, int fd);

/* The next whole frame: 1 and `frame`, whose payload points into the buffer until
 * the next fill; 0: more must be read; negative: a fault, and the stream is
 * worthless from here on. */
int k8s_reader_next(struct k8s_reader *reader, struct k8s_frame *frame);

#endif
