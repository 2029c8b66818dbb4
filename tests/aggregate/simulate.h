/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATE_H
#define SIMULATE_H

/** @file What a simulation of links needs: events in the order of time, and links. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Headers of Ethernet, IPv4 and UDP, checksum, preamble and gap: bytes of a packet besides ours.
 */
#define SIMULATE_FRAME_BYTES 66

/** What happens, and when. */
struct event {
	double time; /* seconds */
	uint8_t kind;
	uint16_t length; /* of bytes */
	uint32_t node;   /* where, and what it is about: the caller's */
	uint32_t from, chunk;
	uint8_t *bytes; /* freed by who takes the event; NULL: there are none */
};

/** Events by time. */
struct events {
	struct event *heap;
	size_t count, size;
};

void events_add(struct events *events, const struct event *event);

/** Take the next one; false: there is none. */
bool events_take(struct events *events, struct event *event);

void events_free(struct events *events);

/** One direction of a link. */
struct link {
	double rate;     /* bytes a second */
	double delay;    /* seconds */
	double disorder; /* seconds: a packet may be as much later */
	double loss;     /* of one packet, 0 .. 1 */
	double free;     /* when the last packet has left */
	uint64_t bytes, packets;
};

/**
 * Send so many bytes, headers included, at that time.
 *
 * @return when they arrive; less than 0: lost
 */
double link_send(struct link *link, double now, size_t bytes, uint64_t *seed);

#endif /* SIMULATE_H */
