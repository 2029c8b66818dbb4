/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_SLOT_H
#define AGGREGATE_SLOT_H

/**
 * @file
 * The slot machine: (entry, packet) -> (entry, action), with nothing else that it depends on.
 *
 * A job has S slots, a power of two, and a slot has two entries. Chunk c uses slot c mod S, and
 * of its entries the one that c div S, even or odd, says. A worker sends chunk c only when it has
 * the result of chunk c - S; so every worker that sends c - S has the result of c - 2S, and the
 * entry that held c - 2S is free for c. Chunks are numbered through the job's whole life, mod
 * 2^32.
 *
 * What a packet of worker w with chunk c does, in this order:
 *  1. the entry holds c, complete: the stored result is sent to w once more (REPEATED; MISMATCH,
 *     if w asks for another operation, format, count or owner).
 *  2. it holds c and has w: dropped (DUPLICATE), or, once the chunk has been incomplete for
 *     `stall` ticks, answered with the least worker that is missing (STALLED).
 *  3. it holds c: operation, format, count and owner have to be as the others' (MISMATCH, and the
 *     entry stays as it was). The values are added, or kept, if it is a copy and w its owner.
 * ADDED; or COMPLETED: the result is rounded and stored; or STALLED as in 2, the values added all
 * the same.
 *  4. it is empty and c < 2S, or holds c - 2S, complete: it is begun with c, then as 3.
 *  5. c is older than what it holds: dropped (STALE). Anything else: WINDOW.
 */

#include <stddef.h>
#include <stdint.h>

#include "aggregate_action.h"
#include "aggregate_format.h"
#include "aggregate_lanes.h"
#include "aggregate_owner.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an entry holds. */
enum aggregate_state {
	AGGREGATE_EMPTY,
	AGGREGATE_OPEN, /**< a chunk that some workers' values are missing of */
	AGGREGATE_COMPLETE,
};

/** An entry. Behind it, in the same piece of memory, lie its result and its accumulators. */
struct aggregate_entry {
	uint64_t seen;  /**< bit w: worker w's values are in */
	uint64_t begun; /**< ticks: when its first packet came */
	uint32_t chunk;
	uint16_t count; /**< values */
	uint8_t state;  /**< enum aggregate_state */
	uint8_t op;
	uint8_t format;
	uint8_t owner; /**< AGGREGATE_OWNER + worker, or 0 */
	uint8_t flags; /**< complete: enum netfc_flag of the result, of all lanes */
	const struct aggregate_kernel *kernel;
	struct aggregate_lanes *lanes;
	uint8_t *result; /**< complete: `count` results, big-endian */
	uint16_t
		ports[AGGREGATE_MAX_WORKERS]; /**< the UDP source ports they came from, by worker */
} __attribute__((aligned(AGGREGATE_ALIGN)));

/** What a job's entries go by. */
struct aggregate_rules {
	uint32_t slots;         /**< S, a power of two, 1 .. 32768 */
	uint8_t workers;        /**< 1 .. AGGREGATE_MAX_WORKERS */
	enum aggregate_isa isa; /**< of the kernels */
	uint64_t stall;         /**< ticks until a worker is called silent */
};

/** A chunk's packet from one worker. Its values, or results, are no more than its entry is made
 * for.
 */
struct aggregate_chunk {
	uint32_t chunk;
	uint16_t count; /**< at least 1; a copy of nothing: 0 */
	uint16_t port;  /**< UDP source port */
	uint8_t op;     /**< aggregate_is_chunk() */
	uint8_t format;
	uint8_t worker;        /**< less than the rules' workers */
	uint8_t owner;         /**< AGGREGATE_OWNER + worker, or 0; a copy of something has one */
	const uint8_t *values; /**< of a worker that sends none: NULL */
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

/** Which of its slot's two entries a chunk uses, 0 or 1. */
static inline unsigned int
aggregate_entry_of(uint32_t chunk, uint32_t slots)
{
	return (chunk & slots) != 0;
}

/**
 * One step of the slot machine: ADDED, COMPLETED, REPEATED, DUPLICATE, STALE, MISMATCH, WINDOW or
 * STALLED.
 *
 * @param entry the one that the chunk's number says
 * @param now ticks, any unit, never less than before
 */
enum aggregate_action aggregate_entry_step(struct aggregate_entry *entry,
	const struct aggregate_rules *rules, const struct aggregate_chunk *chunk, uint64_t now);

/** Bytes of values in a worker's result: 0, or all. */
uint32_t aggregate_result_bytes(const struct aggregate_entry *entry, unsigned int worker);

/** The least worker whose values are missing; `workers` if there is none. */
unsigned int aggregate_entry_missing(const struct aggregate_entry *entry, unsigned int workers);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_SLOT_H */
