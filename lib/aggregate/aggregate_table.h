/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_TABLE_H
#define AGGREGATE_TABLE_H

/**
 * @file
 * The job table: who takes part in what, and the slots of all jobs together.
 *
 * Everything lies in one piece of memory that the caller provides at start; nothing is allocated
 * afterwards, and no function locks, waits, logs or calls the system. Time is a parameter, in
 * ticks of any unit.
 *
 * ## Who may call what
 * The work is divided into shards, each one thread's (lcore's) at a time. Shard s is given the
 * packets that came to UDP port P + s, with aggregate_shard_packet(): chunks of the slots that are
 * its own (slot mod shards = s), on which no other shard ever looks. Joins and leaves go to port P,
 * so shard 0 is the only one that changes the table of jobs; aggregate_table_poll() belongs to its
 * thread as well.
 *
 * A job is published to the other shards with a release store when all of its workers have joined,
 * before the first reply that says so, and what the others read of it does not change until it
 * ends, but for who has left or failed and when a join was heard, single words that may be read at
 * any time. When it ends it can't be found any more, but its slots are given to others only when
 * every shard has said, by aggregate_shard_quiescent(), that it is between two packets. So **every
 * shard's thread has to call that once in each round of its loop**, whether anything came or not.
 * That costs a load and a compare. Results that were returned (struct aggregate_outcome) are
 * valid until then.
 *
 * ## Incarnations
 * Each job that was ever complete has a session of its own, 64 bits that nobody can guess, told to
 * its workers when they have all joined. Chunks and leaves carry it, so that what a network held
 * back from an earlier job of the same number is none of this one's. A join that was held back
 * takes nobody's place, either: its cookie was made for the earlier job, or for whoever had the
 * place before.
 *
 * A job that is not complete yet has no slots, and ends when nobody has been heard for `half_open`
 * ticks. There may be several of one number, each with its own token; the first to be complete is
 * the job.
 *
 * Counters and aggregate_table_info() may be read by any thread at any time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate_action.h"
#include "aggregate_slot.h"
#include "aggregate_tag.h"
#include "aggregate_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGGREGATE_MAX_SHARDS 64
#define AGGREGATE_MAX_JOBS 1024
#define AGGREGATE_MAX_SLOTS 32768

/** Bytes of what the caller may keep of each worker: struct aggregate_sender's path. */
#define AGGREGATE_PATH_BYTES 48

/** Bytes of the cookies' key. */
#define AGGREGATE_KEY_BYTES 16

/** The switch above, see aggregate_leaf.h. All zero: there is none. */
struct aggregate_parent {
	uint8_t address[16]; /**< IPv6, or IPv4 mapped into it */
	uint16_t port;       /**< UDP, of its shard 0; 0: there is no parent */
	uint64_t retry;      /**< ticks after which a join or leave is sent again, from 1 */
	uint64_t repeat;     /**< ticks after which a chunk's sums may be sent again */
};

/** What a table is made for. */
struct aggregate_limits {
	uint32_t shards;      /**< 1 .. AGGREGATE_MAX_SHARDS */
	uint32_t jobs;        /**< at a time, 1 .. AGGREGATE_MAX_JOBS */
	uint32_t slots;       /**< of all jobs together, 1 .. AGGREGATE_MAX_SLOTS */
	uint32_t workers;     /**< of a job, 1 .. AGGREGATE_MAX_WORKERS */
	uint32_t bytes;       /**< of values in a chunk, 4 .. 65532 */
	unsigned int formats; /**< a set of bits 1 << format; others are refused: MISMATCH */
	/**
	 * Formats whose sums members may send as digits, among `formats`: what switches above
	 * others need. It takes memory: each slot has totals then.
	 */
	unsigned int digits;
	struct aggregate_parent parent;
	enum aggregate_isa isa;
	uint32_t per_address; /**< jobs begun from one address that are not complete yet, from 1 */
	uint64_t idle;        /**< ticks of silence that end a job */
	uint64_t half_open;   /**< ticks after which a worker that waits is heard again, or gone */
	uint64_t stall;       /**< ticks until a missing worker is named */
	uint64_t cookie_period;           /**< ticks: a cookie is good for one to two of these */
	uint8_t key[AGGREGATE_KEY_BYTES]; /**< of the cookies: random, secret, new at each start */
	/** The cluster's: every packet has a tag, see aggregate_seal.h. NULL: none has. Lives
	 * longer. */
	const struct aggregate_secret *secret;
};

/** Where a packet came from. */
struct aggregate_sender {
	uint8_t address[16]; /**< IPv6, or IPv4 mapped into it: ::ffff:a.b.c.d */
	uint16_t port;       /**< UDP source port, host order */
	/**
	 * The caller's own, never looked at: what it takes to send there (MAC addresses, VLAN,
	 * device). The table keeps the latest of each worker and shard.
	 */
	uint8_t path[AGGREGATE_PATH_BYTES];
};

/** The jobs, their slots, and the shards that work on them. */
struct aggregate_table;

/** What one thread works with. */
struct aggregate_shard;

/** What became of a packet. */
struct aggregate_outcome {
	enum aggregate_action action;
	uint8_t reason; /**< AGGREGATE_SEND_REPLY: enum aggregate_reason */
	bool digits;    /**< whether it had a part of digits: `bytes` are the part's */
	uint16_t
		index; /**< of the job, less than the limits' jobs; see aggregate_worker_sender() */
	uint8_t workers; /**< AGGREGATE_SEND_RESULTS: of the job */
	uint8_t worker;  /**< whose packet it was */
	uint32_t bytes;  /**< of values in it, or of its part */
	/**
	 * AGGREGATE_SEND_RESULT and _RESULTS: flags, result, count and ports are in there; see
	 * aggregate_result_bytes()
	 */
	const struct aggregate_entry *entry;
	struct aggregate_join join; /**< a join's: what its reply says, aggregate_write_join() */
	uint8_t absence;            /**< AGGREGATE_STALLED: enum aggregate_absence */
	uint8_t detail;             /**< AGGREGATE_STALLED: of the absence */
	uint8_t level;              /**< of the absence: 0: of this switch; 1: of its parent */
};

/** Bytes of a table's memory; 0 where limits are out of range. */
size_t aggregate_table_bytes(const struct aggregate_limits *limits);

/** What is wrong with limits, for people, without a final full stop; NULL: nothing. */
const char *aggregate_limits_problem(const struct aggregate_limits *limits);

/**
 * Make an empty table.
 *
 * @param memory aggregate_table_bytes(limits), aligned to AGGREGATE_ALIGN, any content
 * @param limits copied; in range
 */
struct aggregate_table *aggregate_table_init(void *memory, const struct aggregate_limits *limits);

/** What shard s works with, s less than the limits' shards. */
struct aggregate_shard *aggregate_table_shard(struct aggregate_table *table, uint32_t s);

/**
 * A request: join, leave or a chunk. Counts it, too.
 *
 * @param shard the one whose UDP port it came to
 * @param request as aggregate_parse_request() gave it
 * @param now ticks, never less than before
 * @param outcome what became of it; aggregate_action_send() says what to send
 */
void aggregate_shard_packet(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome);

/**
 * Write the reply to a request, where it is: AGGREGATE_SEND_REPLY and AGGREGATE_SEND_RESULT.
 *
 * @param payload the request's; aggregate_parse_request() returned 0 for it
 * @param length of the request, with whatever is behind its values
 * @return of the reply: the same, but that a result may have values where the request has none,
 *   for which there must be room, and the other way round; what refuses a part has none
 */
size_t
aggregate_write_reply(uint8_t *payload, size_t length, const struct aggregate_outcome *outcome);

/**
 * Where a job's worker can be reached: as in its latest packet to this shard, but for the port,
 * which is that of its packet of the chunk (struct aggregate_entry).
 *
 * @param index of an outcome
 */
const struct aggregate_sender *
aggregate_worker_sender(const struct aggregate_shard *shard, uint16_t index, uint8_t worker);

/** The shard's thread is between two packets: what it was given before, it needs no more. */
void aggregate_shard_quiescent(struct aggregate_shard *shard);

/**
 * End jobs that have been idle, and take back the slots of those that have ended. Shard 0's thread
 * calls it now and then: the oftener, the sooner slots are free again.
 *
 * @return jobs that were ended for being idle, or unknown to the switch above
 */
unsigned int aggregate_table_poll(struct aggregate_table *table, uint64_t now);

/** What a shard counts. Packets are counted by action. */
struct aggregate_counters {
	uint64_t actions[AGGREGATE_ACTION_COUNT];
	uint64_t values; /**< added: values, of all workers */
};

/** What becomes of the jobs: X(name, meaning). */
#define AGGREGATE_JOB_COUNTERS(X)                               \
	X(made, "jobs made")                                    \
	X(complete, "jobs that all of their workers joined")    \
	X(ended, "jobs that all of their workers left")         \
	X(timed_out, "jobs ended because nothing came of them") \
	X(lost, "jobs ended because the switch above knew them no more")

struct aggregate_job_counters {
#define AGGREGATE_COUNTER_(name, meaning) uint64_t name;
	AGGREGATE_JOB_COUNTERS(AGGREGATE_COUNTER_)
#undef AGGREGATE_COUNTER_
};

/** How much of a table is in use. */
struct aggregate_usage {
	uint32_t jobs;
	uint32_t slots; /**< those of ended jobs included until they are taken back */
	struct aggregate_job_counters counters;
};

/** How a job stands with the switch above: X(symbol, name, meaning). */
#define AGGREGATE_UPLINKS(X)                                                \
	X(NONE, "none", "there is none above")                              \
	X(GATHERING, "gathering", "not all are here yet")                   \
	X(ASKING, "asking", "it has been asked, and has not answered")      \
	X(WAITING, "waiting", "it waits for other members")                 \
	X(JOINED, "joined", "all is well")                                  \
	X(REFUSED, "refused", "it has refused the join, or knows no trees") \
	X(LOST, "lost", "it knows the job no more")                         \
	X(LEAVING, "leaving", "the job is over, and it is told")

enum aggregate_uplink {
#define AGGREGATE_UPLINK_ENUM_(symbol, name, meaning) AGGREGATE_UPLINK_##symbol,
	AGGREGATE_UPLINKS(AGGREGATE_UPLINK_ENUM_)
#undef AGGREGATE_UPLINK_ENUM_
	AGGREGATE_UPLINK_COUNT
};

/** A job, as aggregate_table_info() sees it. */
struct aggregate_info {
	uint16_t job;
	uint16_t slots;
	uint16_t bytes;
	uint8_t workers;
	bool open;            /**< all have joined */
	uint64_t joined;      /**< bit w: worker w has joined */
	uint64_t left;        /**< bit w: and left */
	uint64_t silent;      /**< bit w: a chunk waited for it longer than stall */
	int failed;           /**< the worker that the job failed for; -1: none */
	uint64_t latest;      /**< ticks: when the latest packet came */
	uint32_t all_workers; /**< of the whole tree */
	uint8_t levels;       /**< how many switches there are above */
	uint8_t uplink;       /**< enum aggregate_uplink */
	uint8_t above;        /**< REFUSED: for which reason */
	uint64_t above_heard; /**< ticks: the parent's latest reply; 0: none of this job yet */
	struct aggregate_counters counters; /**< of all shards, of this job */
};

/** Read what a shard has counted since the start. */
void
aggregate_shard_counters(const struct aggregate_shard *shard, struct aggregate_counters *counters);

/** Read how much is in use. */
void aggregate_table_usage(const struct aggregate_table *table, struct aggregate_usage *usage);

/**
 * Read a job.
 *
 * @param index 0 .. limits' jobs - 1
 * @return false: there is none at that index
 */
bool aggregate_table_info(
	const struct aggregate_table *table, uint16_t index, struct aggregate_info *info);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_TABLE_H */
