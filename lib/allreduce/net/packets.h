/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PACKETS_H
#define ALLREDUCE_PACKETS_H

/**
 * @file
 * Memory for packets, and system calls that take many at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "internal.h"

#define PACKETS_BATCH 64             /* of sendmmsg() */
#define PACKETS_RECEIVED 32          /* datagrams of recvmmsg(); each may have many packets */
#define PACKETS_SEGMENTS 64          /* of a datagram; the kernel's limit */
#define PACKETS_SEGMENTS_BYTES 65000 /* of their payloads together */

/* Make them, for packets of that many bytes. False: out of memory. */
bool packets_init(struct buffers *buffers, size_t bytes);

void packets_free(struct buffers *buffers);

/* Where to write the i-th packet of a batch on that channel; NULL: no free buffer yet.
 */
uint8_t *packets_place(struct buffers *buffers, const struct channel *channel, unsigned int i);

/* How long it is. */
void packets_set_length(
	struct buffers *buffers, const struct channel *channel, unsigned int i, size_t length);

/* Send the first `count` from their places. As sendmmsg(). */
int packets_send(struct buffers *buffers, const struct channel *channel, unsigned int count);

/* A received datagram: packets of `segment` bytes, the last one maybe shorter. */
struct received {
	struct channel *channel; /* that it came for; NULL: for none */
	const uint8_t *payload;
	size_t length;
	size_t segment;
	bool marked; /* by a router that was congested */
};

/*
 * Receive up to PACKETS_RECEIVED datagrams without waiting, from rings those for all
 * channels. Returns how many, or -1 and errno.
 */
int packets_receive(struct buffers *buffers, const struct channel *channel);

struct received
packets_received(const struct buffers *buffers, struct channel *channel, unsigned int i);

/* Release these datagrams. */
void packets_release(const struct channel *channel, unsigned int count);

/* Send one datagram that is cut into segments. As sendmsg(). */
ssize_t packets_send_segments(int fd, uint8_t *payload, size_t length, size_t segment);

#endif /* ALLREDUCE_PACKETS_H */
