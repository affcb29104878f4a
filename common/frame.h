/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - headers of include/frames.h to and from bytes. */
#ifndef K8S_FRAME_H
#define K8S_FRAME_H

#include <stdint.h>

#include "../include/frames.h"

/* One frame. `payload` is borrowed: whoever fills the struct says for how long. */
struct k8s_frame {
	uint8_t type;
	uint8_t stream;
	uint8_t flags;
	uint64_t session;
	uint32_t task;
	uint32_t length; /* bytes of payload */
	uint64_t offset;
	const unsigned char *payload; /* not touched by encode and decode */
};

/* Why a frame or a row of records was refused; always negative. */
enum k8s_fault {
	K8S_FAULT_MAGIC = -1,
	K8S_FAULT_VERSION = -2,
	K8S_FAULT_TYPE = -3,
	K8S_FAULT_STREAM = -4,
	K8S_FAULT_SESSION = -5,
	K8S_FAULT_LENGTH = -6,
	/* of records alone */
	K8S_FAULT_HEADER = -7,
	K8S_FAULT_PADDING = -8,
	K8S_FAULT_SIZE = -9,
	K8S_FAULT_NUL = -10,
};

/* The word for a fault, as in tests/vectors/frames.txt; never NULL, static. */
const char *k8s_fault_name(int fault);

/* Writes the header of `frame` to `header`. The frame is trusted. */
void k8s_frame_encode(const struct k8s_frame *frame, unsigned char header[K8S_FRAME_HEADER]);

/* Reads `header` into `frame`, all but the payload, and checks what can be
 * checked without state. Returns 0, or a fault, and then `frame` is not to be used. */
int k8s_frame_decode(const unsigned char header[K8S_FRAME_HEADER], uint64_t session, struct k8s_frame *frame);

#endif
