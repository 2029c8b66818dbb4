/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/link.h"

#include <errno.h>
#include <ip_headers.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "link/rings.h"

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
batch_init(struct batch *batch, size_t bytes)
{
	size_t sent;

	batch->stride = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	batch->receive_stride = greater(batch->stride, RECEIVE_STRIDE);
	sent = greater(BATCH_SENT * batch->stride, BATCH_SEGMENTS_BYTES);
	batch->memory = malloc(sent + BATCH_RECEIVED * batch->receive_stride);
	batch->messages = calloc(BATCH_SENT + BATCH_RECEIVED, sizeof(*batch->messages));
	batch->parts = calloc(BATCH_SENT + BATCH_RECEIVED, sizeof(*batch->parts));
	batch->controls = calloc(BATCH_RECEIVED, sizeof(*batch->controls));
	if (batch->memory == NULL || batch->messages == NULL || batch->parts == NULL ||
		batch->controls == NULL) {
		batch_free(batch);
		return false;
	}
	batch->send = batch->memory;
	batch->receive = batch->memory + sent;
	batch->send_messages = batch->messages;
	batch->receive_messages = batch->messages + BATCH_SENT;
	place(batch->send_messages, batch->parts, BATCH_SENT, batch->send, batch->stride);
	place(batch->receive_messages, batch->parts + BATCH_SENT, BATCH_RECEIVED, batch->receive,
		batch->receive_stride);
	return true;
}

void
batch_free(struct batch *batch)
{
	free(batch->memory);
	free(batch->messages);
	free(batch->parts);
	free(batch->controls);
	*batch = (struct batch){0};
}

uint8_t *
batch_place(struct batch *batch, const struct link *link, unsigned int i)
{
	uint8_t *frame;

	if (!link_has_rings(link))
		return batch->send + i * batch->stride;
	frame = link->rings->kind->place(link->rings, i);
	return frame == NULL ? NULL : frame + frame_header_bytes(&link->ends);
}

void
batch_set_length(struct batch *batch, const struct link *link, unsigned int port, unsigned int i,
	size_t length)
{
	struct rings *rings = link->rings;

	if (!link_has_rings(link)) {
		batch->parts[i].iov_len = length;
		return;
	}
	frame_finish(&link->ends, rings->kind->place(rings, i), length, link->port[port].from,
		link->port[port].to);
	rings->kind->set_length(rings, i, frame_header_bytes(&link->ends) + length);
}

int
batch_send(struct batch *batch, struct link *link, unsigned int port, unsigned int count)
{
	struct rings *rings = link->rings;

	if (!link_has_rings(link))
		return sendmmsg(link->port[port].fd, batch->send_messages, count, MSG_DONTWAIT);
	errno = EAGAIN;
	if (count == 0)
		return -1;
	rings->kind->send(rings, count);
	return (int)count;
}

int
batch_receive(struct batch *batch, struct link *link, unsigned int port)
{
	struct rings *rings = link->rings;

	if (link_has_rings(link)) {
		unsigned int count = rings->kind->count(rings);

		return (int)(count < BATCH_RECEIVED ? count : BATCH_RECEIVED);
	}
	for (unsigned int i = 0; i < BATCH_RECEIVED; i++) {
		struct msghdr *message = &batch->receive_messages[i].msg_hdr;

		message->msg_control = &batch->controls[i];
		message->msg_controllen = sizeof(batch->controls[i]);
	}
	return recvmmsg(
		link->port[port].fd, batch->receive_messages, BATCH_RECEIVED, MSG_DONTWAIT, NULL);
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
received_datagram(const struct batch *batch, unsigned int port, unsigned int i)
{
	struct mmsghdr *message = &batch->receive_messages[i];
	struct received received = {
		.port = (int)port,
		.payload = batch->receive + i * batch->receive_stride,
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
received_frame(struct link *link, unsigned int i)
{
	struct frame_datagram datagram;
	size_t length;
	const uint8_t *frame = link->rings->kind->look(link->rings, i, &length);

	if (!frame_read(&link->ends, frame, length, &datagram))
		return (struct received){.port = -1};
	frame_learn(&link->ends, frame);
	return (struct received){
		.port = rings_port(link, &datagram),
		.payload = datagram.payload,
		.length = datagram.length,
		.segment = datagram.length,
		.marked = datagram.marked,
	};
}

void
batch_release(struct link *link, unsigned int count)
{
	if (link_has_rings(link))
		link->rings->kind->release(link->rings, count);
}

struct received
batch_received(const struct batch *batch, struct link *link, unsigned int port, unsigned int i)
{
	return link_has_rings(link) ? received_frame(link, i) : received_datagram(batch, port, i);
}

ssize_t
batch_send_segments(
	const struct link *link, unsigned int port, uint8_t *payload, size_t length, size_t segment)
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
	return sendmsg(link->port[port].fd, &message, MSG_DONTWAIT);
}
