/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PACKETS_H
#define ALLREDUCE_PACKETS_H

/**
 * @file
 * Memory for packets, and system calls that take many at a time.
 */

#include "internal.h"

#define PACKETS_BATCH 64             /* of sendmmsg() */
#define PACKETS_RECEIVED 32          /* datagrams of recvmmsg(); each may have many packets */
#define PACKETS_SEGMENTS 64          /* of a datagram; the kernel's limit */
#define PACKETS_SEGMENTS_BYTES 65000 /* of their payloads together */

/* Make them, for packets of that many bytes. False: out of memory. */
bool packets_init(struct buffers *buffers, size_t bytes);

void packets_free(struct buffers *buffers);

/* Send the first `count` from their places; lengths are parts[i].iov_len. As sendmmsg(). */
int packets_send(struct buffers *buffers, int fd, unsigned int count);

/* A received datagram: packets of `segment` bytes, the last one maybe shorter. */
struct received {
	const uint8_t *payload;
	size_t length;
	size_t segment;
};

/* Receive up to PACKETS_RECEIVED datagrams without waiting. Returns how many, or -1 and errno. */
int packets_receive(struct buffers *buffers, int fd);

struct received packets_received(const struct buffers *buffers, unsigned int i);

/* Send one datagram that is cut into segments. As sendmsg(). */
ssize_t packets_send_segments(int fd, uint8_t *payload, size_t length, size_t segment);

#endif /* ALLREDUCE_PACKETS_H */
