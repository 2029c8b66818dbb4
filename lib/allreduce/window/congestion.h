/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_CONGESTION_H
#define ALLREDUCE_CONGESTION_H

/**
 * @file
 * The congestion window: how many packets may be in flight on a channel, so that they fit into the
 * queues of the links. Pure: packets, or all those of a chunk, are named by their order in the
 * channel, and trips are given.
 *
 * It follows TCP's (RFC 5681): twice as many after each round trip at first; a packet that is lost
 * or marked (RFC 3168) halves it, once for all that was in flight (RFC 9002, section 7.3.2); from
 * there on one more after each. Trips that become longer show that a queue fills, before there is a
 * loss: then it doubles no more (RFC 9406). It never grows while there is less to send than it
 * allows.
 */

#include <stdbool.h>
#include <stdint.h>

struct congestion {
	uint32_t most;            /* packets: that there are slots for */
	uint32_t window;          /* packets that may be in flight */
	uint32_t threshold;       /* from there on it grows by one */
	uint64_t recovery;        /* packets before that one say no more of the last congestion */
	uint64_t round;           /* which packet's result ends the round trip */
	uint64_t trips;           /* results in this round whose time is known */
	uint64_t trip_time;       /* ns: from chunks to their results, in all */
	uint64_t shortest;        /* ns: of these */
	uint64_t shortest_before; /* in the round before; 0: there was none */
	bool limited;             /* there was more to send in this round than the window allows */
	uint32_t before; /* the window before the last congestion; 0: it was none of losses */
	uint32_t lost;   /* packets of it that count as lost */
};

/* `most`: at least 1. */
void congestion_init(struct congestion *congestion, uint32_t most);

/* Chunks have more packets now, or fewer. */
void congestion_limit(struct congestion *congestion, uint32_t most);

/* What a result says. */
struct congestion_sample {
	uint64_t order; /* of the packet that it answers, as far as one knows */
	uint64_t next;  /* of the next one that is sent */
	uint64_t trip;  /* ns: from the one to the other; 0: not known */
	bool limited;   /* there is more to send than the window allows */
};

/* Returns how long results of a full window have taken on average, ns, if a round ends; else 0. */
uint64_t congestion_answered(struct congestion *congestion, const struct congestion_sample *sample);

/* Packet `order` was lost; the next one will be `next`. */
void congestion_lost(struct congestion *congestion, uint64_t order, uint64_t next);

/* One that counts as lost was late: if all were, there was no congestion (RFC 3522). */
void congestion_found(struct congestion *congestion);

/* Packet `order` or its result was marked. */
void congestion_marked(struct congestion *congestion, uint64_t order, uint64_t next);

#endif /* ALLREDUCE_CONGESTION_H */
