/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_ACTION_H
#define AGGREGATE_ACTION_H

/**
 * @file
 * The verdict on a packet: what to send, and the counter that it goes to.
 */

#include <stdbool.h>
#include <stdint.h>

#include "aggregate_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the caller sends. */
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
		"operation, format, count or owner not as the others'")                        \
	X(WINDOW, window, REPLY, WINDOW, "chunks further ahead than the slots allow")          \
	X(STALLED, stalled, REPLY, NONE, "told which worker's values are missing, and why")    \
	X(TOO_LARGE, too_large, REPLY, MISMATCH, "chunks larger than granted")                 \
	X(MISDIRECTED, misdirected, REPLY, MISMATCH, "sent to another shard's port")           \
	X(NO_JOB, no_job, REPLY, NO_JOB, "chunks of, or leaving, a job that is not there")     \
	X(STALE_SESSION, stale_session, NOTHING, NONE,                                         \
		"with a session that is not the job's, dropped")                               \
	X(BAD_TAG, bad_tag, NOTHING, NONE, "without a good tag, dropped")                      \
	X(WRONG_TOKEN, wrong_token, REPLY, FULL, "joins with another token than the job's")    \
	X(UNKNOWN_WORKER, unknown_worker, NOTHING, NONE,                                       \
		"of a worker that is not in the job, dropped")                                 \
	X(WRONG_ADDRESS, wrong_address, NOTHING, NONE,                                         \
		"not from the address that joined, dropped")                                   \
	X(COOKIE, cookie, REPLY, COOKIE, "joins answered with a cookie")                       \
	X(WAITING, waiting, REPLY, WAITING, "joins while others are missing")                  \
	X(JOINED, joined, REPLY, NONE, "joins, all being there")                               \
	X(JOIN_MISMATCH, join_mismatch, REPLY, MISMATCH, "joins that ask for something else")  \
	X(FULL, full, REPLY, FULL, "joins that the tables are full for")                       \
	X(TAKEN, taken, REPLY, FULL, "of another process than the one that has the place")     \
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

/** What that counter counts, for people. */
const char *aggregate_action_meaning(enum aggregate_action action);

/** What the caller sends. */
enum aggregate_send aggregate_action_send(enum aggregate_action action);

/** The reason of its reply; STALLED has it from its entry. */
uint8_t aggregate_action_reason(enum aggregate_action action);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_ACTION_H */
