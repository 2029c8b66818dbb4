/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HELD_H
#define HELD_H

/**
 * @file
 * Datagrams that wait for their time, the earliest first.
 */

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* One of them. */
struct held_packet {
	uint64_t until; /* us */
	int fd;         /* to send it from */
	struct sockaddr_in to;
	size_t length;
	uint8_t *payload;
};

/* All of them: a heap. Zeroed, it is empty. */
struct held {
	struct held_packet *packets;
	size_t count, room;
};

/* Put one in, with a copy of its payload. */
void held_put(struct held *held, const struct held_packet *packet);

/* When the first is due; UINT64_MAX: there is none. */
uint64_t held_next(const struct held *held);

/* Take the first out; its payload is the caller's to free. There is one. */
struct held_packet held_take(struct held *held);

/* Forget all of them. */
void held_free(struct held *held);

#endif /* HELD_H */
