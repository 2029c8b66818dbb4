/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_UPLINK_H
#define AGGREGATE_UPLINK_H

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
#define UPLINK_COUNTERS(X)                                    \
	X(sent, "packets to the parent: joins, sums, leaves") \
	X(unsent, "packets to the parent not made, as its address was not resolved")

struct uplink_counters {
#define UPLINK_FIELD_(name, meaning) uint64_t name;
	UPLINK_COUNTERS(UPLINK_FIELD_)
#undef UPLINK_FIELD_
};

/** What an lcore knows of the parent. Only that lcore writes here. */
struct uplink_side {
	uint64_t joining; /**< TSC: since when it owes an answer to a join; 0: it owes none */
	uint64_t owed;    /**< TSC: since when it owes any answer; 0: it owes none */
	uint64_t heard;   /**< TSC: when it was last heard; 0: never */
	struct uplink_counters counters;
};

/** The parent. */
struct uplink {
	struct address parent;
	uint8_t address[16]; /**< the parent's, IPv4 mapped into IPv6 */
	uint16_t port;       /**< its first UDP port */
	bool through_gateway;
	struct neighbour neighbour; /**< the parent, or the gateway */
};

/** States of the parent: X(symbol, name, meaning). */
#define UPLINK_STATES(X)                                                            \
	X(LOOKING, "looking", "its address is not resolved yet")                    \
	X(TAGGED, "tagged",                                                         \
		"answers have a VLAN tag, which packets to a parent do not: remove" \
		" the tag before the switch, at an access port")                    \
	X(UNREACHABLE, "unreachable", "no answer to address resolution")            \
	X(REACHABLE, "reachable", "its address is resolved")                        \
	X(SILENT, "silent", "it does not answer")                                   \
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

/** What the table of jobs must know of the parent; all zero without one. */
struct aggregate_parent uplink_limits(const struct uplink *uplink);

/** Send the questions, joins and leaves that are due: the main lcore, between two bursts. */
void uplink_poll(struct app *app, struct lcore *lcore, uint64_t now);

/** Send the sums of a chunk: an outcome that is AGGREGATE_SEND_UPWARDS. */
void
uplink_send_sums(struct app *app, struct lcore *lcore, const struct aggregate_outcome *outcome);

/**
 * Process an answer to a question where the parent is.
 *
 * @param in index of the port where the packet came in; it is freed
 */
void uplink_take_answer(struct app *app, struct lcore *lcore, unsigned int in,
	struct rte_mbuf *mbuf, const struct frame *frame);

/** The parent's state. Any thread may call this. */
enum uplink_state uplink_state(const struct app *app);

/** A state's name. */
const char *uplink_state_name(enum uplink_state state);

/** A packet from the parent has arrived. */
static inline void
uplink_heard(struct uplink_side *side, uint64_t now)
{
	__atomic_store_n(&side->heard, now, __ATOMIC_RELAXED);
	__atomic_store_n(&side->owed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&side->joining, 0, __ATOMIC_RELAXED);
}

/** What all lcores know of it, combined. Any thread may call this. */
void uplink_sum(const struct app *app, struct uplink_side *sum);

/** The thread that logs changes of the parent's state. */
struct uplink_log;

/** Start it, if there is a parent. 0, or -1 (reported on stderr). */
int uplink_log_start(struct app *app, struct uplink_log **log);

/** Stop it; NULL is allowed. */
void uplink_log_stop(struct uplink_log *log);

#endif /* AGGREGATE_UPLINK_H */
