/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLIGHT_H
#define FLIGHT_H

/**
 * @file
 * Packets in flight: a table indexed by id that knows when each packet was sent and which card it
 * is, and a list of those outstanding, oldest first, so that what is overdue is found at once.
 */

#include <stdbool.h>
#include <stdint.h>

/** What has become of a packet. */
enum slot_state {
	SLOT_EMPTY,
	SLOT_CLAIMED, /**< about to be sent */
	SLOT_OUTSTANDING,
	SLOT_ANSWERED,
	SLOT_LOST,
};

/** The end of the list. */
#define NO_SLOT UINT32_MAX

struct slot {
	uint64_t sent_at; /**< TSC */
	uint32_t id;
	uint32_t card;
	uint32_t older, newer; /**< its neighbours while outstanding */
	uint32_t state;        /**< enum slot_state */
};

struct flight {
	struct slot *slots;
	uint32_t mask;    /**< slots less 1 */
	uint32_t next_id; /**< to be claimed next */
	uint64_t claimed; /**< ids so far */
	uint64_t timeout; /**< TSC cycles */
	uint32_t oldest, newest;
	uint32_t outstanding;
};

/** What an id says. */
enum flight_age {
	FLIGHT_NEVER,     /**< no such packet was sent */
	FLIGHT_FORGOTTEN, /**< sent, but so many others since that only that is known */
	FLIGHT_KNOWN,
};

/**
 * Make an empty table.
 *
 * @param most packets outstanding at the most
 * @param first_id the first packet's id
 * @param timeout TSC cycles after which a packet is lost
 * @return 0 or -1 (out of memory)
 */
int flight_make(struct flight *flight, uint64_t most, uint32_t first_id, uint64_t timeout);

/** Free it. */
void flight_free(struct flight *flight);

/** Packets that may be outstanding at once. */
static inline uint32_t
flight_capacity(const struct flight *flight)
{
	return (flight->mask + 1) / 2;
}

/** Claim a slot for a card; its id is the packet's. There must be room. */
struct slot *flight_claim(struct flight *flight, uint32_t card);

/** A claimed packet has been sent. */
void flight_sent(struct flight *flight, struct slot *slot, uint64_t now);

/** A claimed packet will not be sent. */
static inline void
flight_release(struct slot *slot)
{
	slot->state = SLOT_EMPTY;
}

/** Find a packet by its id; *slot is set if it is known. */
enum flight_age flight_find(struct flight *flight, uint32_t id, struct slot **slot);

/** An outstanding packet is that no more, but answered or lost. */
void flight_end(struct flight *flight, struct slot *slot, enum slot_state state);

/** Give up what is overdue; gives how many. */
uint64_t flight_expire(struct flight *flight, uint64_t now);

#endif /* FLIGHT_H */
