// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include "bytes.h"

static const char *const fault_names[] = {
	"none", "magic", "version", "type", "stream", "session", "length", "header", "padding", "size", "nul",
};

const char *k8s_fault_name(int fault)
{
	if (fault > 0 || -fault >= (int)(sizeof(fault_names) / sizeof(fault_names[0])))
		return "unknown";
	return fault_names[-fault];
}

void k8s_frame_encode(const struct k8s_frame *frame, unsigned char header[K8S_FRAME_HEADER])
{
	k8s_put_u32(header, K8S_FRAME_MAGIC);
	header[4] = K8S_FRAME_VERSION;
	header[5] = frame->type;
	header[6] = frame->stream;
	header[7] = frame->flags;
	k8s_put_u64(header + 8, frame->session);
	k8s_put_u32(header + 16, frame->task);
	k8s_put_u32(header + 20, frame->length);
	k8s_put_u64(header + 24, frame->offset);
}

/* In this order, so that both languages name the same fault. */
static int frame_fault(const struct k8s_frame *frame, uint64_t session)
{
	if (frame->type < K8S_FRAME_HELLO || frame->type > K8S_FRAME_DETACH)
		return K8S_FAULT_TYPE;
	if (frame->stream > K8S_NOTICE)
		return K8S_FAULT_STREAM;
	if (frame->session != session)
		return K8S_FAULT_SESSION;
	if (frame->length > K8S_FRAME_PAYLOAD)
		return K8S_FAULT_LENGTH;
	return 0;
}

int k8s_frame_decode(const unsigned char header[K8S_FRAME_HEADER], uint64_t session, struct k8s_frame *frame)
{
	if (k8s_get_u32(header) != K8S_FRAME_MAGIC)
		return K8S_FAULT_MAGIC;
	if (header[4] != K8S_FRAME_VERSION)
		return K8S_FAULT_VERSION;
	frame->type = header[5];
	frame->stream = header[6];
	frame->flags = header[7];
	frame->session = k8s_get_u64(header + 8);
	frame->task = k8s_get_u32(header + 16);
	frame->length = k8s_get_u32(header + 20);
	frame->offset = k8s_get_u64(header + 24);
	return frame_fault(frame, session);
}
