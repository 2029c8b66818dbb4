/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/packets.h"

#include <errno.h>
#include <ip_headers.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "net/transport.h"

#define CACHE_LINE 64
/* From a received datagram to the next: no power of two, or all would share a few cache lines. */
#define RECEIVE_STRIDE (65536 + 23 * CACHE_LINE)

/* What the kernel says of a received datagram: the size of packets that it has joined, marks. */
union segment_control {
	struct cmsghdr header;
	char bytes[2 * CMSG_SPACE(sizeof(int))];
};

/* Message i's payload is the i-th place of `memory`. */
static void
place(struct mmsghdr *messages, struct iovec *parts, unsigned int count, uint8_t *memory,
	size_t stride)
{
	for (unsigned int i = 0; i < count; i++) {
		parts[i] = (struct iovec){.iov_base = memory + i * stride, .iov_len = stride};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

static size_t
greater(size_t a, size_t b)
{
	return a > b ? a : b;
}

bool
packets_init(struct buffers *buffers, size_t bytes)
{
	size_t sent;

	buffers->stride = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	buffers->receive_stride = greater(buffers->stride, RECEIVE_STRIDE);
	sent = greater(PACKETS_BATCH * buffers->stride, PACKETS_SEGMENTS_BYTES);
	buffers->memory = malloc(sent + PACKETS_RECEIVED * buffers->receive_stride);
	buffers->messages = calloc(PACKETS_BATCH + PACKETS_RECEIVED, sizeof(*buffers->messages));
	buffers->parts = calloc(PACKETS_BATCH + PACKETS_RECEIVED, sizeof(*buffers->parts));
	buffers->controls = calloc(PACKETS_RECEIVED, sizeof(*buffers->controls));
	if (buffers->memory == NULL || buffers->messages == NULL || buffers->parts == NULL ||
		buffers->controls == NULL) {
		packets_free(buffers);
		return false;
	}
	buffers->send = buffers->memory;
	buffers->receive = buffers->memory + sent;
	buffers->send_messages = buffers->messages;
	buffers->receive_messages = buffers->messages + PACKETS_BATCH;
	place(buffers->send_messages, buffers->parts, PACKETS_BATCH, buffers->send,
		buffers->stride);
	place(buffers->receive_messages, buffers->parts + PACKETS_BATCH, PACKETS_RECEIVED,
		buffers->receive, buffers->receive_stride);
	return true;
}

void
packets_free(struct buffers *buffers)
{
	free(buffers->memory);
	free(buffers->messages);
	free(buffers->parts);
	free(buffers->controls);
	*buffers = (struct buffers){0};
}

uint8_t *
packets_place(struct buffers *buffers, const struct channel *channel, unsigned int i)
{
	const struct peer *peer = channel->peer;
	uint8_t *frame;

	if (!transport_has_rings(peer))
		return buffers->send + i * buffers->stride;
	frame = peer->rings->kind->place(peer->rings, i);
	return frame == NULL ? NULL : frame + frame_header_bytes(&peer->ends);
}

void
packets_set_length(
	struct buffers *buffers, const struct channel *channel, unsigned int i, size_t length)
{
	const struct peer *peer = channel->peer;
	struct rings *rings = peer->rings;

	if (!transport_has_rings(peer)) {
		buffers->parts[i].iov_len = length;
		return;
	}
	frame_finish(&peer->ends, rings->kind->place(rings, i), length, channel->from, channel->to);
	rings->kind->set_length(rings, i, frame_header_bytes(&peer->ends) + length);
}

int
packets_send(struct buffers *buffers, const struct channel *channel, unsigned int count)
{
	struct rings *rings = channel->peer->rings;

	if (!transport_has_rings(channel->peer))
		return sendmmsg(channel->fd, buffers->send_messages, count, MSG_DONTWAIT);
	errno = EAGAIN;
	if (count == 0)
		return -1;
	rings->kind->send(rings, count);
	return (int)count;
}

int
packets_receive(struct buffers *buffers, const struct channel *channel)
{
	struct rings *rings = channel->peer->rings;

	if (transport_has_rings(channel->peer)) {
		unsigned int count = rings->kind->count(rings);

		return (int)(count < PACKETS_RECEIVED ? count : PACKETS_RECEIVED);
	}
	for (unsigned int i = 0; i < PACKETS_RECEIVED; i++) {
		struct msghdr *message = &buffers->receive_messages[i].msg_hdr;

		message->msg_control = &buffers->controls[i];
		message->msg_controllen = sizeof(buffers->controls[i]);
	}
	return recvmmsg(
		channel->fd, buffers->receive_messages, PACKETS_RECEIVED, MSG_DONTWAIT, NULL);
}

static unsigned int
control_value(struct cmsghdr *header)
{
	unsigned int value = 0;

	if (header->cmsg_level == IPPROTO_IP)
		return *CMSG_DATA(header); /* a byte */
	memcpy(&value, CMSG_DATA(header), sizeof(value));
	return value;
}

static struct received
received_datagram(const struct buffers *buffers, struct channel *channel, unsigned int i)
{
	struct mmsghdr *message = &buffers->receive_messages[i];
	struct received received = {
		.channel = channel,
		.payload = buffers->receive + i * buffers->receive_stride,
		.length = message->msg_len,
		.segment = message->msg_len,
	};

	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message->msg_hdr); header != NULL;
		header = CMSG_NXTHDR(&message->msg_hdr, header)) {
		unsigned int value = control_value(header);

		if (header->cmsg_level != IPPROTO_UDP)
			received.marked = (value & IP_ECN_BITS) == IP_ECN_MARKED;
		else if (value > 0)
			received.segment = value;
	}
	return received;
}

static struct received
received_frame(struct peer *peer, unsigned int i)
{
	struct frame_datagram datagram;
	size_t length;
	const uint8_t *frame = peer->rings->kind->look(peer->rings, i, &length);

	if (!frame_read(&peer->ends, frame, length, &datagram))
		return (struct received){0};
	frame_learn(&peer->ends, frame);
	return (struct received){
		.channel = transport_channel(peer, &datagram),
		.payload = datagram.payload,
		.length = datagram.length,
		.segment = datagram.length,
		.marked = datagram.marked,
	};
}

void
packets_release(const struct channel *channel, unsigned int count)
{
	struct rings *rings = channel->peer->rings;

	if (transport_has_rings(channel->peer))
		rings->kind->release(rings, count);
}

struct received
packets_received(const struct buffers *buffers, struct channel *channel, unsigned int i)
{
	if (transport_has_rings(channel->peer))
		return received_frame(channel->peer, i);
	return received_datagram(buffers, channel, i);
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
