/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IN_FLIGHT_H
#define IN_FLIGHT_H

/**
 * @file
 * Packets in flight: a table indexed by id that says when each packet was sent and which request it
 * carried; and a list of those that wait for a reply, oldest first, so that what is overdue is
 * found at once.
 */

#include <stdbool.h>
#include <stdint.h>

/** What has become of a packet. */
enum packet_state {
	PACKET_EMPTY,
	PACKET_CLAIMED, /**< about to be sent */
	PACKET_OUTSTANDING,
	PACKET_ANSWERED,
	PACKET_LOST,
};

/** The end of the list. */
#define NO_PACKET UINT32_MAX

struct sent_packet {
	uint64_t sent_at; /**< TSC */
	uint32_t id;
	uint32_t request;      /**< index in the workload */
	uint32_t older, newer; /**< its neighbours while outstanding */
	uint32_t state;        /**< enum packet_state */
};

struct in_flight {
	struct sent_packet *packets;
	uint32_t mask;    /**< entries of the table, a power of two, less 1 */
	uint32_t next_id; /**< to be claimed next */
	uint64_t claimed; /**< ids so far */
	uint64_t timeout; /**< TSC cycles */
	uint32_t oldest, newest;
	uint32_t outstanding;
};

/** What is known of an id. */
enum id_state {
	ID_NEVER_SENT, /**< no such packet was sent */
	ID_FORGOTTEN,  /**< sent so long ago that its entry belongs to another */
	ID_KNOWN,
};

/**
 * Make an empty table.
 *
 * @param most packets outstanding at most
 * @param first_id the first packet's id
 * @param timeout TSC cycles after which a packet is lost
 * @return 0 or -1 (out of memory)
 */
int
in_flight_create(struct in_flight *in_flight, uint64_t most, uint32_t first_id, uint64_t timeout);

/** Free it. */
void in_flight_free(struct in_flight *in_flight);

/** Packets that may be outstanding at once. */
static inline uint32_t
in_flight_capacity(const struct in_flight *in_flight)
{
	return (in_flight->mask + 1) / 2;
}

/** Claim an entry for a packet that carries a request. Fewer than the capacity are claimed. */
struct sent_packet *in_flight_claim(struct in_flight *in_flight, uint32_t request);

/** A claimed packet has been sent. */
void in_flight_sent(struct in_flight *in_flight, struct sent_packet *packet, uint64_t now);

/** A claimed packet will not be sent. */
static inline void
in_flight_release(struct sent_packet *packet)
{
	packet->state = PACKET_EMPTY;
}

/** Find a packet by its id; *packet is set if it is known. */
enum id_state in_flight_find(struct in_flight *in_flight, uint32_t id, struct sent_packet **packet);

/** An outstanding packet was answered or is lost. */
void
in_flight_end(struct in_flight *in_flight, struct sent_packet *packet, enum packet_state state);

/** Give up what is overdue. Returns how many packets that were. */
uint64_t in_flight_expire(struct in_flight *in_flight, uint64_t now);

#endif /* IN_FLIGHT_H */
