/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_TABLE_H
#define AGGREGATE_TABLE_H

/**
 * @file
 * The job table: which workers are in which jobs, and the slots of all jobs.
 *
 * All of it is in one block of memory that the caller provides at start. Nothing is allocated
 * afterwards, and no function locks, waits, logs or makes system calls. Time is a parameter, in
 * ticks of any unit.
 *
 * ## Who may call what
 * The work is divided into shards; one thread (lcore) at a time works on a shard. Shard s gets the
 * packets received on UDP port P + s, through aggregate_shard_packet(): chunks of the slots with
 * slot mod shards = s, which no other shard accesses. Joins and leaves go to port P, so only shard
 * 0 changes the table of jobs; its thread also calls aggregate_table_poll().
 *
 * A job is published to the other shards with a release store when all of its workers have joined,
 * before the first reply that says so, and what the others read of it does not change until it
 * ends, except for who has left or failed and when a join came, single words that may be read at
 * any time. A job that has ended can no longer be found, but its slots are reused only after every
 * shard has reported a quiescent state with aggregate_shard_quiescent(). So **every shard's thread
 * has to call that once per iteration of its loop**, even if no packet came. It costs a load and a
 * compare. Returned results (struct aggregate_outcome) are valid until then.
 *
 * ## Incarnations
 * Each complete job has its own session, 64 unguessable bits that its workers are told once all
 * have joined. Chunks and leaves carry it, so delayed packets of an earlier job of the same number
 * are not taken for this one's. A delayed join takes no place, either: its cookie was made for the
 * earlier job, or for the place's previous holder.
 *
 * A job that is not complete yet has no slots, and ends after `half_open` ticks without a join.
 * There may be several of one number, each with its own token; the first to be complete is the job.
 *
 * Counters and aggregate_table_info() may be read by any thread at any time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate_member.h"
#include "aggregate_slot.h"
#include "aggregate_tag.h"
#include "aggregate_wire.h"

#define AGGREGATE_MAX_JOBS 1024
#define AGGREGATE_MAX_SLOTS 32768

/** Bytes that the caller may store with each worker: struct aggregate_sender's path. */
#define AGGREGATE_PATH_BYTES 48

/** Bytes of the cookies' key. */
#define AGGREGATE_KEY_BYTES 16

/** The parent switch, see aggregate_leaf.h. All zero: none. */
struct aggregate_parent {
	uint8_t address[16]; /**< IPv6, or IPv4 mapped into it */
	uint16_t port;       /**< UDP, of its shard 0; 0: there is no parent */
	uint64_t retry;      /**< ticks after which a join or leave is sent again, from 1 */
	uint64_t repeat;     /**< ticks after which a chunk's sums may be sent again */
};

/** The limits of a table. */
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
	uint32_t per_address; /**< incomplete jobs that one address may have begun, from 1 */
	uint64_t idle;        /**< ticks of silence that end a job */
	uint64_t half_open; /**< ticks within which a waiting worker joins again, or loses its place
			     */
	uint64_t stall;     /**< ticks until a missing worker is named */
	uint64_t cookie_period;           /**< ticks: a cookie is good for one to two of these */
	uint8_t key[AGGREGATE_KEY_BYTES]; /**< for cookies: random, secret, new at each start */
	/** The cluster's: every packet is tagged, see struct aggregate_seal. NULL: no tags.
	 * Outlives the table. */
	const struct aggregate_secret *secret;
};

/** Where a packet came from. */
struct aggregate_sender {
	uint8_t address[16]; /**< IPv6, or IPv4 mapped into it: ::ffff:a.b.c.d */
	uint16_t port;       /**< UDP source port, host order */
	/**
	 * Opaque: what the caller needs to send there (MAC addresses, VLAN, device). The table
	 * keeps the latest of each worker and shard.
	 */
	uint8_t path[AGGREGATE_PATH_BYTES];
};

/** The jobs, their slots and their shards. */
struct aggregate_table;

/** One thread's share of a table. */
struct aggregate_shard;

/** What happened to a packet. */
struct aggregate_outcome {
	enum aggregate_action action;
	uint8_t reason; /**< AGGREGATE_SEND_REPLY: enum aggregate_reason */
	uint8_t code;   /**< AGGREGATE_STATUS_CODE, or the parent's that has no reasons */
	/** Whether it carried a part of digits or a label in place of values: `bytes` are its. */
	bool no_values;
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

/** Bytes of a table's memory; 0: limits out of range. */
size_t aggregate_table_bytes(const struct aggregate_limits *limits);

/** What is wrong with limits, as text without a final full stop; NULL: nothing. */
const char *aggregate_limits_problem(const struct aggregate_limits *limits);

/**
 * Make an empty table.
 *
 * @param memory aggregate_table_bytes(limits), aligned to AGGREGATE_ALIGN, any content
 * @param limits copied; in range
 */
struct aggregate_table *aggregate_table_init(void *memory, const struct aggregate_limits *limits);

/** Shard s, 0 .. the limits' shards - 1. */
struct aggregate_shard *aggregate_table_shard(struct aggregate_table *table, uint32_t s);

/**
 * Process a request: join, leave or a chunk; count it.
 *
 * @param shard the one whose UDP port it came to
 * @param request as aggregate_parse_request() gave it
 * @param now ticks, never less than before
 * @param outcome the result; aggregate_action_send() says what to send
 */
void aggregate_shard_packet(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome);

/**
 * Write the reply over its request: AGGREGATE_SEND_REPLY and AGGREGATE_SEND_RESULT.
 *
 * @param payload the request's; aggregate_parse_request() returned 0 for it
 * @param length of the request, with anything that follows its values
 * @return of the reply: the same, but that a result may have values where the request has none,
 *   for which there must be room, and the other way round; what refuses a part has none
 */
size_t
aggregate_write_reply(uint8_t *payload, size_t length, const struct aggregate_outcome *outcome);

/**
 * Where to reach a job's worker: as in its latest packet to this shard, except for the port, which
 * is that of its packet of the chunk (struct aggregate_entry).
 *
 * @param index of an outcome
 */
const struct aggregate_sender *
aggregate_worker_sender(const struct aggregate_shard *shard, uint16_t index, uint8_t worker);

/** Report a quiescent state: the shard's thread uses none of the results it was given before. */
void aggregate_shard_quiescent(struct aggregate_shard *shard);

/**
 * End idle jobs, and free the slots of jobs that have ended. Shard 0's thread calls it
 * periodically: the more often, the sooner slots are free again.
 *
 * @return jobs ended because they were idle, or unknown to the parent
 */
unsigned int aggregate_table_poll(struct aggregate_table *table, uint64_t now);

/** What a shard counts. Packets are counted by action. */
struct aggregate_counters {
	uint64_t actions[AGGREGATE_ACTION_COUNT];
	uint64_t values; /**< added: values, of all workers */
	uint64_t zeros;  /**< of the chunks added: those of zeros, headers alone */
};

/** Events of jobs: X(name, meaning). */
#define AGGREGATE_JOB_COUNTERS(X)                                      \
	X(made, "jobs made")                                           \
	X(complete, "jobs that all of their workers joined")           \
	X(ended, "jobs that all of their workers left")                \
	X(timed_out, "jobs ended because nothing came of them")        \
	X(displaced, "incomplete jobs ended to make room for another") \
	X(lost, "jobs ended because the switch above knew them no more")

struct aggregate_job_counters {
#define AGGREGATE_COUNTER_(name, meaning) uint64_t name;
	AGGREGATE_JOB_COUNTERS(AGGREGATE_COUNTER_)
#undef AGGREGATE_COUNTER_
};

/**
 * Let no further job begin; those that there are go on, incomplete ones included. Any thread may
 * call it.
 */
void aggregate_table_drain(struct aggregate_table *table);

/** Whether that was called, and the last job has ended and left the parent. Shard 0's thread's. */
bool aggregate_table_is_drained(const struct aggregate_table *table);

/** How much of a table is in use. */
struct aggregate_usage {
	bool draining; /**< no further job begins */
	uint32_t jobs;
	uint32_t slots; /**< those of ended jobs included until they are taken back */
	struct aggregate_job_counters counters;
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
	uint8_t parent_state; /**< enum aggregate_member_state, at the parent */
	uint8_t above;        /**< REFUSED: for which reason */
	uint64_t above_heard; /**< ticks: the parent's latest reply; 0: none of this job yet */
	struct aggregate_counters counters; /**< of all shards, of this job */
	/** By worker, in a job of several: chunks that it was the last to send values for. */
	uint64_t last[AGGREGATE_MAX_WORKERS];
	/**
	 * By worker: ticks that chunks lacked its values alone. Chunks that wait at the same time
	 * count once: in one shard; of several, which wait at the same time, it is the greatest.
	 */
	uint64_t waited[AGGREGATE_MAX_WORKERS];
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

/*
 * Authentication in a switch that has a cluster key: the tag of each packet (aggregate_tag.h) is
 * checked before anything in it is trusted, and each reply gets a tag. Without a key, nothing
 * changes.
 */

/** The key and number to tag replies to a packet with. */
struct aggregate_seal {
	const struct aggregate_tag_key *key; /**< NULL: there are no tags */
	uint32_t high;                       /**< upper half of the chunk's number */
};

/** Result of aggregate_shard_read(): the tag is wrong. The packet is counted: BAD_TAG. */
#define AGGREGATE_FORGED (-2)

/**
 * Read a request, as aggregate_parse_request(), and check its tag if tags are in use.
 *
 * @param length the tag's included
 * @param request filled in if 0 is returned
 * @param seal for the reply, valid until the shard's next packet
 * @return 0; AGGREGATE_NOT_OURS; AGGREGATE_FORGED; or, without a key only, the code to refuse with
 */
int aggregate_shard_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *request, struct aggregate_seal *seal);

/** Bytes of a tag; 0 without a key. */
static inline size_t
aggregate_seal_bytes(const struct aggregate_seal *seal)
{
	return seal->key == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/**
 * Tag a reply that is otherwise complete.
 *
 * @param length the request's: the last bytes of it are the tag's
 */
static inline void
aggregate_seal_reply(const struct aggregate_seal *seal, uint8_t *payload, size_t length)
{
	if (seal->key != NULL)
		aggregate_tag_make(seal->key, payload, length - AGGREGATE_TAG_BYTES, seal->high);
}

#endif /* AGGREGATE_TABLE_H */
