/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/packets.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

/* Message i's payload is the i-th place of `memory`. */
static void
place(struct mmsghdr *messages, struct iovec *parts, uint8_t *memory, size_t stride)
{
	for (unsigned int i = 0; i < PACKETS_BATCH; i++) {
		parts[i] = (struct iovec){.iov_base = memory + i * stride, .iov_len = stride};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

bool
packets_init(struct buffers *buffers, size_t bytes)
{
	size_t each;

	buffers->stride = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	each = PACKETS_BATCH * buffers->stride;
	if (each < PACKETS_SEGMENTS_BYTES)
		each = PACKETS_SEGMENTS_BYTES;
	buffers->memory = malloc(2 * each);
	buffers->messages = calloc(2 * PACKETS_BATCH, sizeof(*buffers->messages));
	buffers->parts = calloc(2 * PACKETS_BATCH, sizeof(*buffers->parts));
	if (buffers->memory == NULL || buffers->messages == NULL || buffers->parts == NULL) {
		packets_free(buffers);
		return false;
	}
	buffers->send = buffers->memory;
	buffers->receive = buffers->memory + each;
	buffers->send_messages = buffers->messages;
	buffers->receive_messages = buffers->messages + PACKETS_BATCH;
	place(buffers->send_messages, buffers->parts, buffers->send, buffers->stride);
	place(buffers->receive_messages, buffers->parts + PACKETS_BATCH, buffers->receive,
		buffers->stride);
	return true;
}

void
packets_free(struct buffers *buffers)
{
	free(buffers->memory);
	free(buffers->messages);
	free(buffers->parts);
	*buffers = (struct buffers){0};
}

int
packets_send(struct buffers *buffers, int fd, unsigned int count)
{
	return sendmmsg(fd, buffers->send_messages, count, MSG_DONTWAIT);
}

int
packets_receive(struct buffers *buffers, int fd)
{
	return recvmmsg(fd, buffers->receive_messages, PACKETS_BATCH, MSG_DONTWAIT, NULL);
}

const uint8_t *
packets_received(const struct buffers *buffers, unsigned int i, size_t *length)
{
	*length = buffers->receive_messages[i].msg_len;
	return buffers->receive + i * buffers->stride;
}

ssize_t
packets_send_segments(int fd, uint8_t *payload, size_t length, size_t segment)
{
	const uint16_t size = (uint16_t)segment;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(size))];
	} control = {0};
	struct iovec part = {.iov_base = payload, .iov_len = length};
	const struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = IPPROTO_UDP;
	header->cmsg_type = UDP_SEGMENT;
	header->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(header), &size, sizeof(size));
	return sendmsg(fd, &message, MSG_DONTWAIT);
}
