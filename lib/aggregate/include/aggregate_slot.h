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
 *  3. it holds c: operation, format, count, owner and label have to be as the others' (MISMATCH,
 *     and the entry stays as it was). The values are added, or kept, if it is a copy and w its
 * owner. ADDED; or COMPLETED: the result is rounded and stored; or STALLED as in 2, with the values
 *     added all the same.
 *  4. it is empty and c < 2S, or holds c - 2S, complete: c begins, then as 3.
 *  5. c is older than what it holds: dropped (STALE). Anything else: WINDOW.
 *
 * A member may send exact partial sums in parts (aggregate_digits.h) in place of values. It has
 * contributed once all of its parts have arrived, in any order; a part that arrives twice is a
 * DUPLICATE. Parts that overlap, that leave lanes out or that are not what they were before, and
 * digits of a member that has sent values or the other way round: BAD_PARTS. To save packets, only
 * a member's last part is answered.
 *
 * A chunk of zeros (AGGREGATE_OF_ZEROS) is values, each +0. They are added when the last member's
 * are in, once for all who sent them. If all members did, there is nothing to add, nor to send to a
 * parent; and if the rules say that all members know results of zeros, results that are all +0,
 * without flags, have no values.
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

#include "aggregate_digits.h"
#include "aggregate_format.h"
#include "aggregate_lanes.h"
#include "aggregate_wire.h"

/** The verdict on a packet: what the caller sends. */
enum aggregate_send {
	AGGREGATE_SEND_NOTHING, /**< nothing; drop the packet */
	AGGREGATE_SEND_REPLY,   /**< the packet, as a reply, to its sender */
	AGGREGATE_SEND_RESULT,  /**< the entry's result, to the sender */
	AGGREGATE_SEND_RESULTS, /**< the entry's result, or the parent's refusal, to all workers */
	AGGREGATE_SEND_UPWARDS, /**< the entry's sums, to the parent: aggregate_leaf.h */
};

/**
 * Actions: X(symbol, name, send, reason, meaning). Every packet given to a shard gets one.
 *
 * `reason` is that of a reply; AGGREGATE_REASON_NONE means success. STALLED's is AGGREGATE_MISSING
 * + the missing worker, REFUSED_ABOVE's the parent's. The last ones are for the parent's replies.
 */
#define AGGREGATE_ACTIONS(X)                                                                   \
	X(ADDED, added, NOTHING, NONE, "values added")                                         \
	X(COMPLETED, completed, RESULTS, NONE, "values added, the last: results to all")       \
	X(REPEATED, repeated, RESULT, NONE, "results sent once more: the first were lost")     \
	X(DUPLICATE, duplicate, NOTHING, NONE, "values that were there already, dropped")      \
	X(STALE, stale, NOTHING, NONE, "chunks that are over, dropped")                        \
	X(MISMATCH, mismatch, REPLY, MISMATCH,                                                 \
		"operation, format, count, owner or label not as the others'")                 \
	X(WINDOW, window, REPLY, WINDOW, "chunks further ahead than the slots allow")          \
	X(STALLED, stalled, REPLY, NONE, "told which worker's values are missing, and why")    \
	X(TOO_LARGE, too_large, REPLY, MISMATCH, "chunks larger than granted")                 \
	X(MISDIRECTED, misdirected, REPLY, MISMATCH, "sent to another shard's port")           \
	X(NO_JOB, no_job, REPLY, NO_JOB, "chunks of, or leaving, a job that is not there")     \
	X(STALE_SESSION, stale_session, NOTHING, NONE,                                         \
		"with a session that is not the job's, dropped")                               \
	X(BAD_TAG, bad_tag, NOTHING, NONE, "without a good tag, dropped")                      \
	X(WRONG_TOKEN, wrong_token, REPLY, TAKEN, "joins with another token than the job's")   \
	X(UNKNOWN_WORKER, unknown_worker, NOTHING, NONE,                                       \
		"of a worker that is not in the job, dropped")                                 \
	X(WRONG_ADDRESS, wrong_address, NOTHING, NONE,                                         \
		"not from the address that joined, dropped")                                   \
	X(COOKIE, cookie, REPLY, COOKIE, "joins answered with a cookie")                       \
	X(WAITING, waiting, REPLY, WAITING, "joins while others are missing")                  \
	X(JOINED, joined, REPLY, NONE, "joins, all being there")                               \
	X(JOIN_MISMATCH, join_mismatch, REPLY, MISMATCH, "joins that ask for something else")  \
	X(FULL, full, REPLY, FULL, "joins that there is no job or worker number for")          \
	X(NO_SLOTS, no_slots, REPLY, NO_SLOTS, "joins that there is no slot for")              \
	X(DRAINING, draining, REPLY, FULL, "joins of new jobs while there are to be none")     \
	X(TAKEN, taken, REPLY, TAKEN, "of another process than the one that has the place")    \
	X(LEFT, left, REPLY, NONE, "workers that left")                                        \
	X(NO_DIGITS, no_digits, REPLY, DIGITS, "digits, which the switch was not started for") \
	X(BAD_PARTS, bad_parts, REPLY, MISMATCH,                                               \
		"parts that overlap, leave lanes out or change, or come besides values")       \
	X(BAD_PLACE, bad_place, REPLY, PLACE,                                                  \
		"joins with an impossible place in the tree, or another than the others'")     \
	X(LOOP, loop, REPLY, LOOP, "joins of a job that is here at another level of its tree") \
	X(NO_PARENT, no_parent, REPLY, NO_PARENT,                                              \
		"joins of a tree that goes on above, where the switch has no parent")          \
	X(PASSED, passed, UPWARDS, NONE, "values added, the last: sums to the parent")         \
	X(PASSED_AGAIN, passed_again, UPWARDS, NONE, "sums sent to the parent once more")      \
	X(REFUSED_ABOVE, refused_above, REPLY, NONE, "told what the parent refused")           \
	X(PARENT_SILENT, parent_silent, REPLY, PARENT, "told that the parent does not answer") \
	X(HANDED_DOWN, handed_down, RESULTS, NONE, "results of the parent, to all")            \
	X(REFUSAL_DOWN, refusal_down, RESULTS, NONE, "refusals of the parent, to all")         \
	X(PARENT_ANSWERED, parent_answered, NOTHING, NONE, "other replies of the parent")      \
	X(STRAY_REPLY, stray_reply, NOTHING, NONE,                                             \
		"replies of the parent that nothing waits for, dropped")                       \
	X(FORGED_REPLY, forged_reply, NOTHING, NONE, "replies that are not the parent's, dropped")

enum aggregate_action {
#define AGGREGATE_ACTION_ENUM_(symbol, name, send, reason, meaning) AGGREGATE_##symbol,
	AGGREGATE_ACTIONS(AGGREGATE_ACTION_ENUM_)
#undef AGGREGATE_ACTION_ENUM_
	AGGREGATE_ACTION_COUNT
};

/** The name, for counters: "added", "wrong_token". */
const char *aggregate_action_name(enum aggregate_action action);

/** What that counter counts, in words. */
const char *aggregate_action_meaning(enum aggregate_action action);

/** What the caller sends. */
enum aggregate_send aggregate_action_send(enum aggregate_action action);

/** The reason of its reply; STALLED has it from its entry. */
uint8_t aggregate_action_reason(enum aggregate_action action);

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
	uint8_t code;     /**< AGGREGATE_STATUS_CODE, or of a refusal that has no reasons */
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
	uint32_t label;   /**< of the call that it begins; 0: none */
	uint32_t divisor; /**< of a mean of digits; 0: the number of workers */
	uint16_t count;   /**< values */
	uint8_t state;    /**< enum aggregate_state */
	uint8_t op;
	uint8_t format;
	uint8_t owner;          /**< AGGREGATE_OWNER + worker, or 0 */
	uint8_t flags;          /**< complete: enum netfc_flag of the result, of all lanes */
	bool zero : 1;          /**< complete, above: all is +0, and travels as a header alone */
	bool marked : 1;        /**< one of its packets was, so that its results are */
	enum aggregate_isa isa; /**< of the kernels */
	const struct aggregate_kernel *kernel;
	struct aggregate_lanes *lanes;
	uint8_t *result;                     /**< complete: `count` results, big-endian */
	struct aggregate_digit_sums *digits; /**< NULL: takes no digits */
	uint64_t zeros;  /**< bit w: worker w's values are zeros; they are not among the lanes' */
	uint64_t latest; /**< ticks: when the latest worker's values arrived, but the last one's */
	struct aggregate_above above;
	uint16_t ports[AGGREGATE_MAX_WORKERS]; /**< where results go, by worker */
} __attribute__((aligned(AGGREGATE_ALIGN)));

/** The parameters of a job's entries, and of the sender of a packet. */
struct aggregate_rules {
	uint32_t slots;         /**< S, a power of two, 1 .. 32768 */
	uint8_t workers;        /**< 1 .. AGGREGATE_MAX_WORKERS */
	enum aggregate_isa isa; /**< of the kernels */
	uint64_t stall;         /**< ticks until a worker counts as silent */
	bool passes_on;         /**< send sums to the parent instead of rounding */
	bool zeros; /**< all members, and the parent, know chunks and results of zeros */
	/** Ticks until the parent counts as silent: it needs some itself to name who is missing. */
	uint64_t patience;
	/** Since when the sender was heard without a gap: an outage here is not the parent's. */
	uint64_t since;
	uint16_t port;   /**< the packet's UDP source port */
	uint64_t repeat; /**< ticks after which sums may be sent again */
	/** Workers of the whole tree, the divisor of a mean. 0: as many as members. */
	uint32_t all_workers;
};

/**
 * Bytes of an entry, with result and accumulators: a multiple of AGGREGATE_ALIGN.
 *
 * @param formats the formats that it has to be able to keep, a set of bits 1 << format
 * @param bytes of values at most, 1 .. 65535
 */
size_t aggregate_entry_bytes(unsigned int formats, uint32_t bytes);

/**
 * Make an empty entry.
 *
 * @param memory aggregate_entry_bytes(formats, bytes), aligned to AGGREGATE_ALIGN
 * @param bytes of values at most
 */
struct aggregate_entry *aggregate_entry_init(void *memory, uint32_t bytes);

/**
 * Further bytes of an entry whose members may send digits: a multiple of AGGREGATE_ALIGN.
 *
 * @param digits formats, a set of bits 1 << format; 0: 0 bytes
 * @param bytes of values at most
 * @param workers at most
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
 * The sums of an entry that is ABOVE and not zero, whether they came as values or as digits.
 *
 * @param scratch totals of any format, for the sums of an entry without digits: in memory of
 *   aggregate_totals_bytes() of its format and count, of which all that they do not use is 0
 */
struct aggregate_totals
aggregate_entry_totals(const struct aggregate_entry *entry, struct aggregate_totals *scratch);

/**
 * The parent's result of an entry that is ABOVE: it is complete.
 *
 * @param kind enum aggregate_kind
 * @param values ROUNDED: as many bytes as the entry has of them
 */
void aggregate_entry_complete(
	struct aggregate_entry *entry, uint8_t kind, const uint8_t *values, uint8_t flags);

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
 * @param chunk a worker's request, aggregate_is_chunk(), which fits its entry: the worker is less
 *   than the rules', the owner is another or there is none, a part fits format and count
 * @param now ticks, any unit, never less than before
 */
enum aggregate_action aggregate_entry_step(struct aggregate_entry *entry,
	const struct aggregate_rules *rules, const struct aggregate_message *chunk, uint64_t now);

/** What a worker's result is; of what is not complete, an acknowledgement. */
enum aggregate_kind aggregate_result_kind(const struct aggregate_entry *entry, unsigned int worker);

/** Bytes of values in a worker's result: 0, or all; what is not complete has none. */
uint32_t aggregate_result_bytes(const struct aggregate_entry *entry, unsigned int worker);

/** The lowest worker whose values are missing; `workers` if there is none. */
unsigned int aggregate_entry_missing(const struct aggregate_entry *entry, unsigned int workers);

#endif /* AGGREGATE_SLOT_H */
