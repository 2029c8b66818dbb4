/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_WINDOW_H
#define ALLREDUCE_WINDOW_H

/**
 * @file
 * What is in flight to a switch: which pieces of which calls are to be sent, and are lost. Pure: it
 * is told what has been sent and answered, and the time, and says what is to be sent.
 *
 * A *slot* has one chunk in flight at most; each slot advances independently, so a loss delays one
 * slot only. A *channel* is what goes to one of the switch's shards.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "netfc_allreduce.h"
#include "window/congestion.h"
#include "window/rtt.h"

#define WINDOW_NO_SLOT UINT32_MAX

/* ---- calls and their pieces ---- */

/*
 * A collective that is under way. Its values are one block, or one block for each worker, which
 * owns that block's chunks. Chunks are taken from the blocks in turn, so that all links are used
 * evenly.
 */
struct call {
	TAILQ_ENTRY(call) in_queue;
	const struct netfc_allreduce_totals *totals; /* what this worker gives; NULL: values */
	const uint8_t *from;                         /* the values; totals: where their bins are */
	uint8_t *to;                                 /* where results go */
	uint64_t from_step, to_step;                 /* bytes from a block to the next */
	uint64_t bytes;                              /* of a block */
	uint64_t values;                             /* that are reduced */
	uint64_t first; /* its first chunk, numbered as the communicator does */
	uint64_t chunks;
	uint64_t left; /* chunks whose results are not there */
	unsigned int blocks;
	unsigned int in_chunk; /* bytes */
	unsigned int value_bytes;
	unsigned int word_bytes;        /* in host byte order: those of a value, or 1 */
	unsigned int result_word_bytes; /* likewise, those of a result */
	unsigned int flags;
	uint32_t label; /* which call it is: its first chunk; 0: none, nor such a chunk */
	uint8_t format; /* as in requests */
	uint8_t op;
	uint8_t owner; /* of the first block's chunks, as in requests */
	uint8_t worker;
};

TAILQ_HEAD(call_list, call);

/* Those that are not done, in order; the chunks of all are numbered. */
struct calls {
	struct call_list queue;
	uint64_t next_chunk;
};

/* Put one at the end: number its chunks. */
void calls_append(struct calls *calls, struct call *call);

/* Whose chunk that is; it is not done. */
struct call *calls_find(const struct calls *calls, uint64_t number);

/* A chunk's values in the arrays. */
struct piece {
	const uint8_t *from; /* NULL: this worker sends none */
	bool zeros;          /* it sends none since they are all +0 */
	uint8_t *to;         /* NULL: it receives none */
	uint32_t bytes;      /* of values */
	uint32_t result_bytes;
	uint32_t label;            /* of the call that it begins, without values; 0: none */
	uint16_t count;            /* values; the last one's bytes may be there in part */
	uint8_t op, format, owner; /* as in requests */
};

/* The values of a chunk that is not done. */
struct piece piece_numbered(const struct call *call, uint64_t number);

/* Whether it is of exact sums. */
static inline bool
call_has_totals(const struct call *call, uint64_t number)
{
	return call->totals != NULL && (call->label == 0 || number != call->first);
}

/*
 * How many parts of a chunk of exact sums are sent, after that many times. Mostly fewer than all,
 * since most may be lost in a queue that is too short for all; each time others are the first.
 */
unsigned int parts_to_send(unsigned int all, uint32_t times);

/* ---- a window ---- */

struct slot {
	uint64_t chunk;        /* of the job; idle: the next one */
	struct call *call;     /* whose chunk it is; NULL: idle */
	uint64_t first;        /* ns: when it was sent the first time */
	uint64_t sent;         /* ns: the last time */
	uint64_t order;        /* of that packet in its channel */
	uint32_t older, newer; /* in flight: slots linked in this order */
	uint32_t times;        /* sent */
	uint32_t packets;      /* of the last time */
	uint32_t times_before; /* the chunk before it */
	bool queued;           /* for sending */
	bool lost;             /* a packet of it counts as lost */
	bool lost_before;      /* of the chunk before it */
	bool ack_ambiguous;    /* which of its packets will be answered */
	unsigned int part;     /* of totals: how many have been sent this time */
};

struct window;

struct channel {
	struct window *window;
	unsigned int number;
	uint32_t slots;
	uint32_t *queue; /* slots whose chunk is to be sent, a ring */
	uint32_t queue_mask, queue_first, queued;
	uint32_t oldest, newest; /* slots in flight */
	uint32_t flying;         /* so many */
	uint32_t packets;        /* theirs, but for what is to be sent again */
	uint32_t parts;          /* packets of the latest chunk, when it was sent first */
	uint32_t probes;         /* to be sent whatever the window says */
	uint64_t orders;         /* packets sent */
	uint64_t heard;          /* ns: the latest result */
	uint64_t due;            /* ns: no time-out of what is in flight is earlier */
	unsigned int backoff;    /* time-outs since a result came */
	uint64_t answered;       /* results since a time-out */
	struct rtt rtt;
	struct congestion congestion;
};

struct window {
	const struct calls *calls;
	struct netfc_allreduce_stats *stats;
	unsigned int index, of; /* which of so many windows, which take chunks in turn */
	unsigned int slots;     /* a power of two */
	unsigned int channels;
	struct slot *slot;
	struct channel *channel;
	uint64_t limit; /* chunks of all calls so far */
	bool late;      /* one is known to be that this worker waits for */
};

/* Slots and channels, of which it has the numbers; its calls come later. False: out of memory. */
bool window_init(struct window *window, const struct rtt *rtt);

void window_free(struct window *window);

/* The number, among those of all windows, of a slot's chunk. */
static inline uint64_t
window_number(const struct window *window, const struct slot *slot)
{
	return slot->chunk * window->of + window->index;
}

/* The values of the chunk that a slot has in flight. */
static inline struct piece
window_piece(const struct window *window, const struct slot *slot)
{
	return piece_numbered(slot->call, window_number(window, slot));
}

/* Whether that is of exact sums: several packets, maybe. */
static inline bool
window_has_totals(const struct window *window, const struct slot *slot)
{
	return slot->call != NULL && call_has_totals(slot->call, window_number(window, slot));
}

/* A call has been appended: begin those of its chunks that can be. */
void window_extend(struct window *window);

/* Whether anything is in flight, or to be sent. */
bool window_is_busy(const struct window *window);

/*
 * For tests: go on as if `chunks` more had been done, a multiple of twice the slots. Nothing may be
 * under way.
 */
void window_skip(struct window *window, uint64_t chunks);

/* ---- sending ---- */

/* How many from the queue's head may be sent, up to `most`, of one packet each; else only one. */
uint32_t channel_may_send(const struct channel *channel, uint32_t most);

/* The i-th of the queue. */
struct slot *channel_head(const struct channel *channel, uint32_t i);

/* The first `count` of the queue have been sent, or as many packets of one as its `part` says. */
void channel_sent(struct channel *channel, uint32_t count, uint64_t now);

/* ---- results ---- */

/* What was learnt from a batch of packets. */
struct evidence {
	uint64_t now;
	bool marked;       /* the packet that is at hand, by a router that was congested */
	uint64_t answered; /* the greatest order of a packet that was, plus 1 */
	uint64_t sent;     /* ns: when that packet was */
};

/* The channel's slot whose chunk is in flight, by the chunk's lower half, or NULL. */
struct slot *channel_find(const struct channel *channel, uint32_t chunk);

/*
 * The result of a slot's chunk has been stored: start its next one. Returns the call if that is
 * done; it has to leave the queue.
 */
struct call *
channel_answered(struct channel *channel, struct slot *slot, struct evidence *evidence);

/* A result that nobody waits for has come: maybe that of a chunk that was sent again for nothing.
 */
void channel_answered_again(struct channel *channel, uint32_t chunk);

/* ---- losses ---- */

/* After a batch of packets: what these show to be lost is to be sent again. */
void channel_learn(struct channel *channel, const struct evidence *evidence);

/* When to look whether something is lost, ns; UINT64_MAX: never. */
uint64_t channel_due(const struct channel *channel);

/* Look: that time has come. */
void channel_look(struct channel *channel, uint64_t now);

#endif /* ALLREDUCE_WINDOW_H */
