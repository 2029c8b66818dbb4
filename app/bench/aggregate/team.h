/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEAM_H
#define TEAM_H

/** @file A run with --aggregate: its workers, all in one process, all on one lcore. */

#include <stdint.h>

#include <jansson.h>

#include <rte_mbuf.h>

#include <aggregate_member.h>

#include "bench.h"
#include "exact.h"
#include "dpdk/worker_packet.h"

/*
 * What members of an aggregation that are switches send, as the leaves of a tree do: for each
 * chunk, the exact sums of the workers behind them, in parts.
 */

struct exact_sums_config {
	unsigned int members;
	unsigned int first;  /**< of the chunks' workers, that behind the first member */
	unsigned int behind; /**< workers behind each */
	uint32_t bytes;      /**< of a part at most */
};

/** The parts of a chunk's sums. */
struct exact_sums_parts {
	uint8_t count;
	uint8_t *bytes;     /**< one after another */
	uint32_t *ends;     /**< of each, in `bytes` */
	uint16_t *checksum; /**< of each, RFC 1071, words as in memory */
};

/** Those of all chunks and members. */
struct exact_sums {
	unsigned int members, count, most; /**< count: of chunks; most: parts of one of these */
	struct exact_sums_parts *parts;    /**< NULL: there are none */
};

/** Make them. 0, or -1 if memory is short; exact_sums_free() frees in both cases. */
int exact_sums_create(const struct exact_sums_config *config, const struct chunks *chunks,
	struct exact_sums *sums);

/** Free them. */
void exact_sums_free(struct exact_sums *sums);

/** What a member sends as chunk number c. */
static inline struct exact_sums_parts
exact_sums_of(const struct exact_sums *sums, uint32_t c, unsigned int member)
{
	return sums->parts[c % sums->count * sums->members + member];
}

/** The most packets that a chunk takes; without sums it is one. */
static inline unsigned int
exact_sums_most_parts(const struct exact_sums *sums)
{
	return sums->parts == NULL ? 1 : sums->most;
}

/** A part as a packet's body. */
void
exact_sums_body(const struct exact_sums_parts *parts, unsigned int part, struct worker_body *body);

/*
 * An impaired link: packets are lost, duplicated and reordered, as a seed determines. One for
 * each direction.
 */

/** Packets that may be overtaken at the same time. */
#define IMPAIR_HELD 16

struct impair {
	uint64_t lose, duplicate, reorder; /* of 2^32 packets */
	uint64_t seed;
	struct rte_mempool *pool;           /* of doubles */
	struct rte_mbuf *held[IMPAIR_HELD]; /* some may be NULL */
	unsigned int held_count;
	uint64_t lost, duplicates, reordered; /* counted */
};

/** Shares are in percent. */
void impair_init(struct impair *impair, double loss, double duplicate, double reorder,
	uint64_t seed, struct rte_mempool *pool);

/**
 * Put a packet through.
 *
 * @param out what comes out: up to two
 * @return how many
 */
unsigned int impair_packet(struct impair *impair, struct rte_mbuf *mbuf, struct rte_mbuf **out);

/**
 * Let one go that is still held: when nothing else comes to overtake it.
 *
 * @return it, or NULL
 */
struct rte_mbuf *impair_release(struct impair *impair);

/* The workers of an aggregation, all in one process, all on one lcore. */

/** Packets that wait for the port. */
#define TEAM_UNSENT 256

/** What is counted: X(name, meaning). All but chunks and results are packets. */
#define TEAM_COUNTERS(X)                                                                 \
	X(chunks, "chunks that all workers have the result of")                          \
	X(results, "results, of each worker and chunk the first")                        \
	X(right, "results that are right to the bit, flags and headers included")        \
	X(wrong, "results that are not, of all that came, and answers to nothing asked") \
	X(requests, "chunks' packets made, of each worker and chunk the first")          \
	X(parts, "packets of exact sums besides the first of each chunk")                \
	X(retries, "made again because no result came")                                  \
	X(joins, "joins made")                                                           \
	X(leaves, "leaves made")                                                         \
	X(bad, "bad packets made")                                                       \
	X(sent, "packets that the port has taken")                                       \
	X(received, "packets that the port has given")                                   \
	X(answers, "answers to joins and leaves")                                        \
	X(repeated, "results that had come already")                                     \
	X(refused, "chunks that the switch has refused, and bad packets")                \
	X(forged, "packets without a good tag, where there is a key")                    \
	X(others, "packets that are none of these")                                      \
	X(no_buffer, "times all packet buffers were in use")

struct team_counters {
#define TEAM_FIELD_(name, meaning) uint64_t name;
	TEAM_COUNTERS(TEAM_FIELD_)
#undef TEAM_FIELD_
	uint64_t values; /**< of the right results: so many were added up for them */
	uint64_t bad_of[BAD_PACKETS];
	uint64_t refused_reason[256]; /**< by reason; other codes than 7: `refused_code` */
	uint64_t refused_code[8];
};

/** A worker's chunk in a slot. Times are TSC cycles. */
struct team_slot {
	uint32_t chunk;
	bool waiting; /**< for its result */
	uint64_t first_sent, latest_sent;
};

struct team_worker {
	struct flow flow;
	struct aggregate_member member; /**< of the job; its times are TSC cycles */
	uint32_t next;                  /**< chunk to send */
	uint32_t waiting;               /**< slots */
	struct team_slot *slots;
};

/** The first wrong result, as text. */
struct team_mismatch {
	bool any, has_lane;
	uint32_t chunk, lane;
	uint64_t expected, got;
	uint8_t worker, format, op;
};

struct team {
	const struct options *options;
	struct bench *bench;
	struct chunks chunks;
	struct impair outward, inward;
	unsigned int count;
	unsigned int first, all; /**< of the tree's workers: the first one here, and how many */
	struct exact_sums sums;  /**< if workers are switches */
	struct team_worker *workers;
	uint32_t slots, shards;          /**< as granted */
	uint64_t session;                /**< as granted */
	struct aggregate_secret *secret; /**< NULL: packets have no tags */
	struct worker_keys *keys;        /**< likewise */
	uint32_t end;                    /**< chunks to send; UINT32_MAX: not known yet */
	uint64_t retry;                  /**< TSC cycles */
	double flood_due;                /**< bad packets to send */
	uint64_t turn;                   /**< of bad packets */
	uint64_t seed;
	struct team_counters counters;
	struct team_mismatch mismatch;
	struct histogram latency; /**< from a worker's first packet to its result, TSC cycles */
	uint64_t start, last_result;
	uint8_t fatal_reason;                 /**< the job is over, says the switch; 0: not so */
	uint64_t abandoned_out, abandoned_in; /**< packets still on their way at the end */
	unsigned int unsent_count;
	struct rte_mbuf *unsent[TEAM_UNSENT];
	const char *failure; /**< what ended the run before its time; NULL: nothing */
};

/** Space for more packets? Each takes part of the port's queue. */
static inline bool
team_can_send(const struct team *team)
{
	return team->unsent_count + 2 * exact_sums_most_parts(&team->sums) < TEAM_UNSENT;
}

/** Send a worker's join or leave, if it is due. */
void team_send_short(struct team *team, unsigned int worker, uint64_t now);

/** When workers join and leave again, TSC cycles. */
struct aggregate_member_times team_times(void);

/** Send chunks that may be sent, and those whose result is late. Returns how many. */
unsigned int team_send_chunks(struct team *team, uint64_t now);

/** Send again what was not answered in time. Returns how many. */
unsigned int team_send_again(struct team *team, uint64_t now);

/** Give the port what waits for it. Returns how many it took. */
unsigned int team_flush(struct team *team);

/** Receive a burst. Returns how many packets there were. */
unsigned int team_receive(struct team *team, uint64_t now);

/** Free what waits for the port or is held back. */
void team_abandon(struct team *team);

/* A run with --aggregate: workers join, send chunks, check every result, leave. */

/**
 * Make the chunks, with what they have to come to, and the workers. 0, or -1 (reported on stderr).
 */
int team_create(struct bench *bench, struct team *team);

/** Run on the calling lcore. Why it ended is in bench->run.end, or in the team's failure. */
void team_run(struct team *team);

/** Whether the run was what it should be; what was not is reported on stderr. */
bool team_went_well(const struct team *team);

/** Free it. */
void team_free(struct team *team);

/** Print the effective configuration. */
void team_report_configuration(FILE *out, const struct team *team);

/** All results as an object, but the exit status. */
json_t *team_json(const struct team *team);

/** Print the results. */
void team_report(FILE *out, const struct team *team, const json_t *report);

#endif /* TEAM_H */
