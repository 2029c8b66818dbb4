/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_PARENT_LINK_H
#define AGGREGATE_PARENT_LINK_H

/**
 * @file
 * The parent switch in a tree (--aggregate parent=IP): how to reach it, and what is sent to it.
 *
 * Between two bursts, the main lcore resolves the address of the parent or its gateway, and sends
 * joins and leaves. Each shard's lcore sends the sums of its own chunks. Nothing is sent until the
 * address is resolved; senders repeat.
 */

#include "aggregate_leaf.h"
#include "app.h"
#include "endpoint/neighbour.h"

/** Packet counters of an lcore: X(name, meaning). */
#define PARENT_LINK_COUNTERS(X)                               \
	X(sent, "packets to the parent: joins, sums, leaves") \
	X(unsent, "packets to the parent not made, as its address was not resolved")

struct parent_link_counters {
#define PARENT_LINK_FIELD_(name, meaning) uint64_t name;
	PARENT_LINK_COUNTERS(PARENT_LINK_FIELD_)
#undef PARENT_LINK_FIELD_
};

/** What an lcore knows of the parent. Only that lcore writes here. */
struct parent_link_side {
	uint64_t joining; /**< TSC: since when it owes an answer to a join; 0: it owes none */
	uint64_t owed;    /**< TSC: since when it owes any answer; 0: it owes none */
	uint64_t heard;   /**< TSC: when it was last heard; 0: never */
	struct parent_link_counters counters;
};

/** The parent. */
struct parent_link {
	struct address parent;
	uint8_t address[16]; /**< the parent's, IPv4 mapped into IPv6 */
	uint16_t port;       /**< its first UDP port */
	bool through_gateway;
	struct neighbour neighbour; /**< the parent, or the gateway */
};

/** States of the parent: X(symbol, name, meaning). */
#define PARENT_LINK_STATES(X)                                                       \
	X(LOOKING, "looking", "its address is not resolved yet")                    \
	X(TAGGED, "tagged",                                                         \
		"answers have a VLAN tag, which packets to a parent do not: remove" \
		" the tag before the switch, at an access port")                    \
	X(UNREACHABLE, "unreachable", "no answer to address resolution")            \
	X(REACHABLE, "reachable", "its address is resolved")                        \
	X(SILENT, "silent", "it does not answer")                                   \
	X(ANSWERING, "answering", "it answers")

enum parent_link_state {
#define PARENT_LINK_ENUM_(symbol, name, meaning) PARENT_LINK_##symbol,
	PARENT_LINK_STATES(PARENT_LINK_ENUM_)
#undef PARENT_LINK_ENUM_
};

/**
 * Make it, if the options name a parent.
 *
 * @return 0, or -1 (reported on stderr)
 */
int parent_link_create(struct app *app);

/** What the table of jobs must know of the parent; all zero without one. */
struct aggregate_parent parent_link_limits(const struct parent_link *parent_link);

/** Send the questions, joins and leaves that are due: the main lcore, between two bursts. */
void parent_link_poll(struct app *app, struct lcore *lcore, uint64_t now);

/** Send the sums of a chunk: an outcome that is AGGREGATE_SEND_UPWARDS. */
void parent_link_send_sums(
	struct app *app, struct lcore *lcore, const struct aggregate_outcome *outcome);

/**
 * Process an answer to a question where the parent is.
 *
 * @param in index of the port where the packet came in; it is freed
 */
void parent_link_take_answer(struct app *app, struct lcore *lcore, unsigned int in,
	struct rte_mbuf *mbuf, const struct frame *frame);

/** The parent's state. Any thread may call this. */
enum parent_link_state parent_link_state(const struct app *app);

/** A state's name. */
const char *parent_link_state_name(enum parent_link_state state);

/** A packet from the parent has arrived. */
static inline void
parent_link_heard(struct parent_link_side *side, uint64_t now)
{
	__atomic_store_n(&side->heard, now, __ATOMIC_RELAXED);
	__atomic_store_n(&side->owed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&side->joining, 0, __ATOMIC_RELAXED);
}

/** What all lcores know of it, combined. Any thread may call this. */
void parent_link_sum(const struct app *app, struct parent_link_side *sum);

/** The thread that logs changes of the parent's state. */
struct parent_link_log;

/** Start it, if there is a parent. 0, or -1 (reported on stderr). */
int parent_link_log_start(struct app *app, struct parent_link_log **log);

/** Stop it; NULL is allowed. */
void parent_link_log_stop(struct parent_link_log *log);

#endif /* AGGREGATE_PARENT_LINK_H */
