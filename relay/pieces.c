// SPDX-License-Identifier: Apache-2.0
#include "pieces.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "../common/frame.h"
#include "../common/records.h"

static struct {
	int socket;
	int error; /* errno of the first failure */
	size_t total;
	size_t have;
	unsigned char bytes[K8S_FRAME_HEADER + K8S_FRAME_PAYLOAD];
} pieces;

void pieces_begin(int socket)
{
	pieces.socket = socket;
	pieces.error = 0;
	pieces.total = 0;
	pieces.have = 0;
}

static void send_all(const unsigned char *bytes, size_t count)
{
	while (count && !pieces.error) {
		ssize_t n = send(pieces.socket, bytes, count, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			pieces.error = errno;
		if (n < 0)
			continue;
		bytes += n;
		count -= (size_t)n;
	}
}

static void send_piece(unsigned char flags)
{
	struct k8s_frame frame = { .type = K8S_FRAME_HELLO, .flags = flags, .length = (uint32_t)pieces.have };

	k8s_frame_encode(&frame, pieces.bytes);
	send_all(pieces.bytes, K8S_FRAME_HEADER + pieces.have);
	pieces.have = 0;
}

static void add(const unsigned char *bytes, size_t count)
{
	while (count) {
		size_t room = K8S_FRAME_PAYLOAD - pieces.have;
		size_t some = count < room ? count : room;

		memcpy(pieces.bytes + K8S_FRAME_HEADER + pieces.have, bytes, some);
		pieces.have += some;
		bytes += some;
		count -= some;
		/* Only when more comes is it certain that this is not the last. */
		if (count)
			send_piece(K8S_FLAG_MORE);
	}
}

void pieces_record(unsigned char tag, const void *value, size_t length)
{
	unsigned char header[K8S_RECORD_HEADER];

	if (length > K8S_RECORDS_MAX || pieces.total + sizeof(header) + length > K8S_RECORDS_MAX)
		pieces.error = EMSGSIZE;
	if (pieces.error)
		return;
	pieces.total += sizeof(header) + length;
	k8s_record_header(header, tag, 0, (uint32_t)length);
	add(header, sizeof(header));
	add(value, length);
}

int pieces_end(void)
{
	if (!pieces.error)
		send_piece(0);
	errno = pieces.error;
	return pieces.error ? -1 : 0;
}
