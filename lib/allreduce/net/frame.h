/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_FRAME_H
#define ALLREDUCE_FRAME_H

/**
 * @file
 * Ethernet frames with UDP datagrams, where there is no kernel that makes them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between whom. */
struct frame_ends {
	bool v6;
	uint8_t own[16], other[16]; /* IP addresses */
	uint8_t own_mac[6], other_mac[6];
};

/* Draw a MAC address that is nobody's. False: errno says why. */
bool frame_draw_mac(uint8_t mac[6]);

/* Take the other's MAC address from a frame of its. */
void frame_learn(struct frame_ends *ends, const uint8_t *frame);

/* What is before the payload. */
size_t frame_header_bytes(const struct frame_ends *ends);

/* Write the headers before a payload, checksums among them. `from` and `to`: UDP ports. */
void frame_finish(const struct frame_ends *ends, uint8_t *frame, size_t payload_bytes,
	uint16_t from, uint16_t to);

/* A datagram that has come. */
struct frame_datagram {
	const uint8_t *payload;
	size_t length;
	uint16_t from, to; /* UDP ports */
};

/* Read one of these ends'. False: it is something else, or its checksum is wrong. */
bool frame_read(const struct frame_ends *ends, const uint8_t *frame, size_t length,
	struct frame_datagram *datagram);

#endif /* ALLREDUCE_FRAME_H */
