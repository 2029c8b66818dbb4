/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_H
#define SLOWLORIS_H

/**
 * @file
 * Slowloris in the data path (paper, section VI): for each IPv4 destination the connections open
 * to it, their bytes, and connections per byte, divided by table look-ups.
 *
 * All lcores share one detector. Each lcore counts packets of known connections itself. Only the
 * holder of the writer lock changes the tables. No lcore waits for the lock: one that does not get
 * it puts its segments into a ring, and the holder counts them in the order in which they came. So
 * the result does not depend on which lcore received which packet.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include "frame.h"
#include "match.h"
#include "pipeline.h"

/** What is dropped while a destination is under attack. */
enum slowloris_policy {
	SLOWLORIS_DESTINATION, /**< all packets to it */
	SLOWLORIS_CONNECTION,  /**< connections below a bound of bytes */
	SLOWLORIS_POLICIES,
};

/** What counts as an attack, and the response. */
struct slowloris_rules {
	uint16_t threshold; /**< fp16: more established connections per byte of theirs, and ... */
	uint16_t release;   /**< fp16: no more than this are its end */
	uint32_t least; /**< ... at least so many established connections are an attack, if ... */
	uint32_t least_release; /**< fewer than this are its end */
	uint32_t time_ms;       /**< ... that lasts so long: both to begin and to end */
	enum slowloris_policy policy;
	uint64_t slow_bytes; /**< SLOWLORIS_CONNECTION: a slow client has sent less ... */
	uint32_t grace_ms;   /**< ... in so long since its SYN */
	uint32_t timeout_s;  /**< a connection that is silent for so long has ended */
	bool dry_run;        /**< drop nothing */
};

/** Configuration of a detector. */
struct slowloris_config {
	struct slowloris_rules rules;       /**< to begin with */
	bool shared;                        /**< more than one lcore receives */
	uint32_t connections, destinations; /**< maximum tracked, at least 1 */
	enum match_kind match;              /**< of the expTable's stage */
	int socket_id;
	struct rte_rcu_qsbr *qsbr; /**< every lcore that receives is registered with it */
};

/** What one lcore counts: X(name, meaning). */
#define SLOWLORIS_WORKER_COUNTERS(X)                                 \
	X(segments, "TCP segments over IPv4, but those dropped")     \
	X(divisions, "registers divided")                            \
	X(queries, "queries answered")                               \
	X(queued, "segments left to the lcore with the writer lock") \
	X(missed, "segments not counted: the ring was full")         \
	X(would_drop, "packets that only a dry run let pass")

struct slowloris_worker_counters {
#define SLOWLORIS_COUNTER_(name, meaning) uint64_t name;
	SLOWLORIS_WORKER_COUNTERS(SLOWLORIS_COUNTER_)
#undef SLOWLORIS_COUNTER_
};

/** What the holder of the writer lock counts: X(name, meaning). */
#define SLOWLORIS_COUNTERS(X)                                                                  \
	X(opened, "connections opened")                                                        \
	X(retransmitted, "SYNs of connections that were open")                                 \
	X(closed, "connections ended by FIN or RST")                                           \
	X(timed_out, "connections ended by silence")                                           \
	X(half_open_expired, "handshakes not completed in time")                               \
	X(half_open_evicted, "handshakes forgotten: too many others in progress")              \
	X(connections_refused, "connections not tracked: the table was full")                  \
	X(destinations_refused, "connections not tracked: the table of destinations was full") \
	X(destinations_forgotten, "destinations that were silent")                             \
	X(alarms_raised, "destinations found under attack")                                    \
	X(alarms_released, "destinations found to have recovered")                             \
	X(alerts_lost, "alerts not reported: too many at once")

struct slowloris_counters {
#define SLOWLORIS_COUNTER_(name, meaning) uint64_t name;
	SLOWLORIS_COUNTERS(SLOWLORIS_COUNTER_)
#undef SLOWLORIS_COUNTER_
};

/** How much of a detector is in use. */
struct slowloris_usage {
	uint32_t connections, half_open, destinations;
	uint32_t alarms; /**< destinations under attack */
};

/** The registers of one destination. */
struct slowloris_registers {
	uint32_t address;           /**< in host order */
	uint32_t connections;       /**< open */
	uint32_t established;       /**< of those, whose handshake was completed */
	uint64_t bytes;             /**< see docs/slowloris.md */
	uint64_t established_bytes; /**< of those, the bytes of established connections */
	uint16_t ratio;             /**< connections per byte, fp16 */
	bool alarm;                 /**< under attack */
};

/** An attack began or ended. */
struct slowloris_alert {
	struct slowloris_registers registers; /**< alarm says which */
	uint64_t after_ms;                    /**< since the condition began to hold */
	uint32_t dry_run;                     /**< 1: nothing is dropped */
};

/** The detector of all lcores. */
struct slowloris;

/** The working memory of one lcore. */
struct slowloris_worker;

/** The result for a burst; packets by their index, as bits. */
struct slowloris_verdict {
	uint64_t drop_destination; /**< their destination is under attack */
	uint64_t drop_connection;  /**< their connection is a slow one */
	uint16_t query_count;
	struct {
		uint16_t packet;
		struct pipeline_answer answer;
	} query[PIPELINE_BURST];
};

/**
 * Make a detector. The EAL must have been initialised.
 *
 * @return 0, -ENOMEM, or an error of match_create()
 */
int slowloris_create(const struct slowloris_config *config, struct slowloris **detector);

/** Free a detector that no lcore uses any more; NULL is allowed. */
void slowloris_free(struct slowloris *detector);

/**
 * Change the rules while lcores work; one thread at a time. They apply from an lcore's next burst
 * on, or from the middle of the current one.
 */
void slowloris_set_rules(struct slowloris *detector, const struct slowloris_rules *rules);

/** Make the working memory of one lcore; NULL where memory is short. */
struct slowloris_worker *slowloris_worker_create(struct slowloris *detector, int socket_id);

/** Free it; NULL is allowed. */
void slowloris_worker_free(struct slowloris_worker *worker);

/**
 * Count a burst and say what to drop of it. Each packet sees the registers as those before it left
 * them.
 *
 * @param frames what pipeline_process() found
 * @param now TSC
 */
void slowloris_process(struct slowloris_worker *worker, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count, uint64_t now,
	struct slowloris_verdict *verdict);

/** End what is silent, find attacks that begin or end without packets. Call it often: each call
 * looks at a few records only. */
void slowloris_maintain(struct slowloris_worker *worker, uint64_t now);

/** Take the next alert; only one thread may. */
bool slowloris_next_alert(struct slowloris *detector, struct slowloris_alert *alert);

/** The registers of a destination, by any thread; false where it is not known. */
bool slowloris_find(
	const struct slowloris *detector, uint32_t address, struct slowloris_registers *registers);

/**
 * The destinations under attack, by any thread.
 *
 * @param registers space for `max` of them
 * @return how many were found
 */
uint32_t slowloris_alarms(
	const struct slowloris *detector, struct slowloris_registers *registers, uint32_t max);

/** What was counted so far. */
const struct slowloris_counters *slowloris_counters(const struct slowloris *detector);
const struct slowloris_worker_counters *
slowloris_worker_counters(const struct slowloris_worker *worker);

/** How much is in use. */
void slowloris_usage(const struct slowloris *detector, struct slowloris_usage *usage);

/** Memory of the two tables. */
struct slowloris_memory {
	uint64_t connections, destinations; /**< bytes, for all that are tracked at most */
};

/** How much memory was taken at the start; later, none is. */
struct slowloris_memory slowloris_memory(const struct slowloris *detector);

#endif /* SLOWLORIS_H */
