/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_FRAME_H
#define ALLREDUCE_FRAME_H

/**
 * @file
 * Ethernet frames with UDP datagrams, for links that bypass the kernel.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two ends of a link. */
struct frame_ends {
	bool v6;
	uint8_t local[16], remote[16]; /* IP addresses */
	uint8_t local_mac[6], remote_mac[6];
};

/* Draw a random local MAC address. False: see errno. */
bool frame_draw_mac(uint8_t mac[6]);

/* Learn the remote MAC address from a received frame. */
void frame_learn(struct frame_ends *ends, const uint8_t *frame);

/* Whether it is known. */
bool frame_knows_remote(const struct frame_ends *ends);

size_t frame_address_bytes(const struct frame_ends *ends);

/* Bytes of all headers before the payload. */
size_t frame_header_bytes(const struct frame_ends *ends);

/* Write the headers before a payload, checksums among them. `from` and `to`: UDP ports. */
void frame_finish(const struct frame_ends *ends, uint8_t *frame, size_t payload_bytes,
	uint16_t from, uint16_t to);

/* A received datagram. */
struct frame_datagram {
	const uint8_t *payload;
	size_t length;
	uint16_t from, to; /* UDP ports */
	bool marked;       /* by a router that was congested */
};

/* Read a datagram from the remote to the local end. False: it is something else, or its checksum is
 * wrong. */
bool frame_read(const struct frame_ends *ends, const uint8_t *frame, size_t length,
	struct frame_datagram *datagram);

#endif /* ALLREDUCE_FRAME_H */
