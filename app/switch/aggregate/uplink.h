/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_UPLINK_H
#define AGGREGATE_UPLINK_H

/**
 * @file
 * The way to the switch above, in a tree (--aggregate parent=IP): where it is, and what goes there.
 *
 * The main lcore, between two bursts, asks where the parent or its gateway is, and sends joins and
 * leaves. Each shard's lcore sends the sums of its own chunks. Until it is known where the parent
 * is nothing is sent; whoever waits for it repeats.
 */

#include "aggregate_leaf.h"
#include "app.h"
#include "endpoint/neighbour.h"

/** What an lcore counts of it: X(name, meaning). */
#define UPLINK_COUNTERS(X)                                    \
	X(sent, "packets to the parent: joins, sums, leaves") \
	X(unsent, "packets to the parent not made, since nobody knew where it is")

struct uplink_counters {
#define UPLINK_FIELD_(name, meaning) uint64_t name;
	UPLINK_COUNTERS(UPLINK_FIELD_)
#undef UPLINK_FIELD_
};

/** What an lcore knows of the parent. It alone writes here. */
struct uplink_side {
	uint64_t joining; /**< TSC: since when it owes an answer to a join; 0: it owes none */
	uint64_t owed;    /**< TSC: since when it owes any answer; 0: it owes none */
	uint64_t heard;   /**< TSC: when it was last heard; 0: never */
	struct uplink_counters counters;
};

/** The way up. */
struct uplink {
	struct address parent;
	uint8_t address[16]; /**< the parent's, IPv4 mapped into IPv6 */
	uint16_t port;       /**< its first UDP port */
	bool through_gateway;
	struct neighbour neighbour; /**< the parent, or the gateway */
};

/** How the parent is: X(symbol, name, meaning). */
#define UPLINK_STATES(X)                                                           \
	X(LOOKING, "looking", "it is not known yet where it is")                   \
	X(UNREACHABLE, "unreachable", "nobody answers who would know where it is") \
	X(REACHABLE, "reachable", "it is known where it is")                       \
	X(SILENT, "silent", "it does not answer")                                  \
	X(ANSWERING, "answering", "it answers")

enum uplink_state {
#define UPLINK_ENUM_(symbol, name, meaning) UPLINK_##symbol,
	UPLINK_STATES(UPLINK_ENUM_)
#undef UPLINK_ENUM_
};

/**
 * Make it, if the options name a parent.
 *
 * @return 0, or -1 (reported on stderr)
 */
int uplink_create(struct app *app);

/** What the table of jobs has to know of the parent; all zero where there is none. */
struct aggregate_parent uplink_limits(const struct uplink *uplink);

/** Ask, join and leave, as is due: the main lcore, between two bursts. */
void uplink_poll(struct app *app, struct lcore *lcore, uint64_t now);

/** Send the sums of a chunk: an outcome that is AGGREGATE_SEND_UPWARDS. */
void
uplink_send_sums(struct app *app, struct lcore *lcore, const struct aggregate_outcome *outcome);

/**
 * Take up where the parent is.
 *
 * @param in index of the port where the packet came in; it is freed
 */
void uplink_take_answer(struct app *app, struct lcore *lcore, unsigned int in,
	struct rte_mbuf *mbuf, const struct frame *frame);

/** How the parent is. Any thread may ask. */
enum uplink_state uplink_state(const struct app *app);

/** Its name, and what it means. */
const char *uplink_state_name(enum uplink_state state);
const char *uplink_state_meaning(enum uplink_state state);

/** The parent was heard. */
static inline void
uplink_heard(struct uplink_side *side, uint64_t now)
{
	__atomic_store_n(&side->heard, now, __ATOMIC_RELAXED);
	__atomic_store_n(&side->owed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&side->joining, 0, __ATOMIC_RELAXED);
}

/** What all lcores know of it together. Any thread may ask. */
void uplink_sum(const struct app *app, struct uplink_side *sum);

#endif /* AGGREGATE_UPLINK_H */
