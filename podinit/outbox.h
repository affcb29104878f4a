/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - what is to be sent to the core, and in which order. Nothing is copied or
 * queued but "this task has something": the frame is made when the socket has room,
 * from what is true then, so memory is bounded however slow the reader is. */
#ifndef PODINIT_OUTBOX_H
#define PODINIT_OUTBOX_H

#include <stdint.h>
#include <sys/uio.h>

#include "../common/frame.h"

struct output;
struct task;

/* A frame on its way. All zero: none. */
struct outgoing {
	unsigned char header[K8S_FRAME_HEADER];
	unsigned char small[K8S_EXIT_PAYLOAD]; /* payload of EXIT */
	struct iovec pieces[3];		       /* what is still to be written */
	int count;			       /* of pieces; 0: none on its way */
	struct output *output;		       /* DATA: of this stream, up to... */
	uint64_t end;			       /* ...this offset */
};

/* This task may have something to send. */
void outbox_add(struct task *task);

/* A new connection: all that is not acknowledged, every EOF and every EXIT go again. */
void outbox_rewind(void);

/* Makes the next frame of any task. Returns 1, or 0 when there is nothing to send. */
int outbox_next(struct outgoing *outgoing);

/* Makes a frame from a header and a payload, which is borrowed until it was sent. */
void outgoing_frame(struct outgoing *outgoing, struct k8s_frame frame, const void *payload);

/* `bytes` of the frame were written. */
void outgoing_advance(struct outgoing *outgoing, size_t bytes);

#endif
