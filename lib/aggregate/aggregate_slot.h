/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_SLOT_H
#define AGGREGATE_SLOT_H

/**
 * @file
 * The slot's state machine: (entry, packet) -> (entry, action), a function of nothing else.
 *
 * A job has S slots, a power of two, and a slot has two entries. Chunk c uses slot c mod S, and
 * entry (c div S) mod 2 of it. A worker sends chunk c only once it has the result of chunk c - S;
 * so every worker that sends c - S has the result of c - 2S, and the entry that held c - 2S is free
 * for c. Chunks are numbered throughout the job's life, mod 2^32.
 *
 * What a packet of worker w with chunk c does; the first rule that applies:
 *  1. the entry holds c, complete: the stored result is sent to w again, to the port that this
 *     packet came from (REPEATED; MISMATCH, if w asks for another operation, format, count or
 *     owner).
 *  2. it holds c and has w: dropped (DUPLICATE), or, once the chunk has been incomplete for
 *     `stall` ticks, answered with the lowest worker that is missing (STALLED).
 *  3. it holds c: operation, format, count and owner have to be as the others' (MISMATCH, and the
 *     entry stays as it was). The values are added, or kept, if it is a copy and w its owner.
 * ADDED; or COMPLETED: the result is rounded and stored; or STALLED as in 2, the values added all
 * the same.
 *  4. it is empty and c < 2S, or holds c - 2S, complete: c begins, then as 3.
 *  5. c is older than what it holds: dropped (STALE). Anything else: WINDOW.
 *
 * A member may send exact partial sums in parts (aggregate_digits.h) in place of values. It has
 * contributed once all of its parts have arrived, in any order; a part that arrives twice is a
 * DUPLICATE. Parts that overlap, that leave lanes out or that are not what they were before, and
 * digits of a member that has sent values or the other way round: BAD_PARTS. To save packets, only
 * a member's last part is answered.
 *
 * If the rules say so, a chunk that all members have sent is not rounded but passed on to the
 * parent (PASSED), and is complete once the parent's result has been stored. Until then a
 * retransmission makes the sums be sent again (PASSED_AGAIN), at most once in `repeat` ticks; or it
 * is answered with what the parent said (REFUSED_ABOVE, STALLED), or that the parent is silent
 * (PARENT_SILENT).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate_action.h"
#include "aggregate_digits.h"
#include "aggregate_format.h"
#include "aggregate_lanes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State of an entry. */
enum aggregate_state {
	AGGREGATE_EMPTY,
	AGGREGATE_OPEN, /**< a chunk that lacks some workers' values */
	AGGREGATE_COMPLETE,
	AGGREGATE_ABOVE, /**< all have arrived; the sum is with the parent */
};

/** State for digits: the totals, and which parts of each member have arrived. */
struct aggregate_digit_sums;

/** The parent's answer to a chunk, other than its result. */
struct aggregate_above {
	uint64_t sent;    /**< ticks: when sums were sent last */
	uint64_t unheard; /**< ticks: when it became silent */
	uint64_t told;    /**< bit w: worker w has been told what it said, or that it is silent */
	uint64_t heard;   /**< ticks: when it refused */
	uint8_t reason;   /**< enum aggregate_reason; 0: not refused */
	uint8_t absence;  /**< reason AGGREGATE_MISSING + w: enum aggregate_absence */
	uint8_t detail;   /**< of the absence */
	uint8_t level;    /**< of the absence: 1: the parent's members */
};

/** An entry. Its result and its accumulators follow it in the same memory. */
struct aggregate_entry {
	uint64_t seen;  /**< bit w: worker w's values have arrived */
	uint64_t begun; /**< ticks: when its first packet came */
	uint32_t chunk;
	uint16_t count; /**< values */
	uint8_t state;  /**< enum aggregate_state */
	uint8_t op;
	uint8_t format;
	uint8_t owner;          /**< AGGREGATE_OWNER + worker, or 0 */
	uint8_t flags;          /**< complete: enum netfc_flag of the result, of all lanes */
	enum aggregate_isa isa; /**< of the kernels */
	const struct aggregate_kernel *kernel;
	struct aggregate_lanes *lanes;
	uint8_t *result;                     /**< complete: `count` results, big-endian */
	struct aggregate_digit_sums *digits; /**< NULL: takes no digits */
	struct aggregate_above above;
	uint16_t ports[AGGREGATE_MAX_WORKERS]; /**< where results go, by worker */
} __attribute__((aligned(AGGREGATE_ALIGN)));

/** The parameters of a job's entries. */
struct aggregate_rules {
	uint32_t slots;         /**< S, a power of two, 1 .. 32768 */
	uint8_t workers;        /**< 1 .. AGGREGATE_MAX_WORKERS */
	enum aggregate_isa isa; /**< of the kernels */
	uint64_t stall;         /**< ticks until a worker counts as silent */
	bool passes_on;         /**< send sums to the parent instead of rounding */
	/** Ticks until the parent counts as silent: it needs some itself to name who is missing. */
	uint64_t patience;
	/** Since when the sender was heard without a gap: an outage here is not the parent's. */
	uint64_t since;
	uint64_t repeat; /**< ticks after which sums may be sent again */
	/** Workers of the whole tree, the divisor of a mean. 0: as many as members. */
	uint32_t all_workers;
};

/** A worker's packet of a chunk. Values and results fit its entry. */
struct aggregate_chunk {
	uint32_t chunk;
	uint16_t count; /**< at least 1; a copy of nothing: 0 */
	uint16_t port;  /**< UDP source port */
	uint8_t op;     /**< aggregate_is_chunk() */
	uint8_t format;
	uint8_t worker;        /**< less than the rules' workers */
	uint8_t owner;         /**< AGGREGATE_OWNER + worker, or 0; a copy of something has one */
	const uint8_t *values; /**< NULL: the worker sends none */
	/** In their place: a part that fits format and count; NULL: none. */
	const struct aggregate_part *part;
};

/**
 * Bytes of an entry, with result and accumulators: a multiple of AGGREGATE_ALIGN.
 *
 * @param formats the formats that it has to be able to keep, a set of bits 1 << format
 * @param bytes of values at the most, 1 .. 65535
 */
size_t aggregate_entry_bytes(unsigned int formats, uint32_t bytes);

/**
 * Make an empty entry.
 *
 * @param memory aggregate_entry_bytes(formats, bytes), aligned to AGGREGATE_ALIGN
 * @param bytes of values at the most
 */
struct aggregate_entry *aggregate_entry_init(void *memory, uint32_t bytes);

/**
 * Further bytes of an entry whose members may send digits: a multiple of AGGREGATE_ALIGN.
 *
 * @param digits formats, a set of bits 1 << format; 0: 0 bytes
 * @param bytes of values at the most
 * @param workers at the most
 */
size_t aggregate_entry_digit_bytes(unsigned int digits, uint32_t bytes, unsigned int workers);

/**
 * Let an entry take digits.
 *
 * @param memory aggregate_entry_digit_bytes() with the same numbers, aligned to AGGREGATE_ALIGN
 */
void aggregate_entry_take_digits(struct aggregate_entry *entry, void *memory, unsigned int digits,
	uint32_t bytes, unsigned int workers);

/**
 * The sums of an entry that is ABOVE, whether they came as values or as digits.
 *
 * @param scratch totals of any format, for the sums of an entry without digits: in memory of
 *   aggregate_totals_bytes() of its format and count, of which all that they do not use is 0
 */
struct aggregate_totals
aggregate_entry_totals(const struct aggregate_entry *entry, struct aggregate_totals *scratch);

/**
 * The parent's result of an entry that is ABOVE: it is complete.
 *
 * @param values as many bytes as the entry has of them; NULL: there are none
 */
void aggregate_entry_complete(struct aggregate_entry *entry, const uint8_t *values, uint8_t flags);

/** Which of its slot's two entries a chunk uses, 0 or 1. */
static inline unsigned int
aggregate_entry_of(uint32_t chunk, uint32_t slots)
{
	return (chunk & slots) != 0;
}

/**
 * One step of the state machine: ADDED, COMPLETED, REPEATED, DUPLICATE, STALE, MISMATCH, WINDOW,
 * STALLED, NO_DIGITS, BAD_PARTS; PASSED, PASSED_AGAIN, REFUSED_ABOVE or PARENT_SILENT.
 *
 * @param entry the chunk's
 * @param now ticks, any unit, never less than before
 */
enum aggregate_action aggregate_entry_step(struct aggregate_entry *entry,
	const struct aggregate_rules *rules, const struct aggregate_chunk *chunk, uint64_t now);

/** Bytes of values in a worker's result: 0, or all; what is not complete has none. */
uint32_t aggregate_result_bytes(const struct aggregate_entry *entry, unsigned int worker);

/** The lowest worker whose values are missing; `workers` if there is none. */
unsigned int aggregate_entry_missing(const struct aggregate_entry *entry, unsigned int workers);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_SLOT_H */
