/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DETECTOR_H
#define SLOWLORIS_DETECTOR_H

/** @file What the detector's files share and nobody else sees. */

#include <stddef.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_ring.h>

#include "bucket.h"
#include "divide.h"
#include "segment.h"
#include "slowloris.h"

/* Time in ticks of 2^16 TSC cycles, 20 to 65 microseconds; differences hold for a day. */
#define TICK_SHIFT 16

/* No position, no record. */
#define NONE UINT32_MAX

enum connection_state {
	CONNECTION_ENDED = 0, /* or never used */
	CONNECTION_SYN,       /* its client has asked */
	CONNECTION_ANSWERED,  /* its server has answered, with the number in `expected` */
	CONNECTION_OPEN,      /* its client has that number, so that it is where it says it is */
};

/* Two in a cache line. */
struct connection {
	uint64_t bytes;        /* of its client; subtracted when it ends */
	uint32_t seen, opened; /* ticks */
	uint32_t expected;     /* what the client acknowledges at first */
	uint32_t state;        /* enum connection_state, and above it the destination's index */
	uint32_t source;       /* with the destination's address and the ports, its key */
	uint16_t source_port, destination_port;
} __attribute__((aligned(32)));

_Static_assert(sizeof(struct connection) == 32, "a power of two");
_Static_assert(
	offsetof(struct connection, destination_port) - offsetof(struct connection, source) ==
		offsetof(struct connection_key, destination_port),
	"the key, but for the destination's address");

#define STATE_BITS 2
#define STATE_MASK ((1u << STATE_BITS) - 1)

static inline enum connection_state
connection_state(const struct connection *connection)
{
	return (enum connection_state)(
		__atomic_load_n(&connection->state, __ATOMIC_ACQUIRE) & STATE_MASK);
}

/* Does not change as long as an lcore may use the record. */
static inline uint32_t
connection_destination(const struct connection *connection)
{
	return __atomic_load_n(&connection->state, __ATOMIC_RELAXED) >> STATE_BITS;
}

/* Change the state; false if it is not `from` any more. */
static inline bool
connection_advance(
	struct connection *connection, enum connection_state from, enum connection_state to)
{
	uint32_t destination = connection_destination(connection) << STATE_BITS;
	uint32_t before = destination | from;

	return __atomic_compare_exchange_n(&connection->state, &before, destination | to, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

struct destination {
	uint64_t bytes;
	uint64_t unattributed;        /* of the bytes: those of no connection, since `rotated` */
	uint64_t unattributed_before; /* and before it; subtracted at the next rotation */
	uint32_t address;             /* as in packets */
	uint32_t connections, established;
	uint32_t seen, rotated; /* ticks */
	uint32_t since; /* ticks: since when the condition of an alarm holds; 0: it does not */
	uint32_t calm;  /* ticks: the same for the alarm's end */
	uint16_t ratio; /* connections per byte */
	uint8_t alarm;  /* under attack */
	uint8_t used;
} __attribute__((aligned(64)));

/* A handshake that may not be complete. */
struct half_open {
	uint32_t connection;
	uint32_t opened;
};

/* The connections, in one table. Only the holder of the writer lock changes it. */
struct connections {
	struct rte_hash *hash;
	struct bucket *bucket; /* where to look first */
	uint32_t bucket_mask;
	size_t own_bytes; /* of its memory that is none of the EAL's */
	struct connection *record;
	const struct destination *destination; /* their records */
	struct hash_secret secret;
	uint32_t capacity;
	uint32_t count;
	uint32_t high; /* records from here on have never been used */
	uint32_t next; /* the record that ageing looks at next */
	/* Handshakes by age, a ring; completed ones stay in it until they are the oldest. */
	struct half_open *half_open;
	uint32_t half_open_mask, half_open_first, half_open_last;
};

/* The bucket of a hash. */
static inline struct bucket *
connections_bucket(const struct connections *connections, uint32_t hash)
{
	return &connections->bucket[hash & connections->bucket_mask];
}

/* Whether a record is that of an open connection with that key. */
static inline bool
connections_is(
	const struct connections *connections, uint32_t index, const struct connection_key *key)
{
	const struct connection *connection = &connections->record[index];
	uint32_t word = __atomic_load_n(&connection->state, __ATOMIC_ACQUIRE);

	return (word & STATE_MASK) != CONNECTION_ENDED &&
		memcmp(&connection->source, key, offsetof(struct connection_key, destination)) ==
		0 &&
		connections->destination[word >> STATE_BITS].address == key->destination;
}

/* The destinations, likewise. */
struct destinations {
	struct rte_hash *hash;
	struct destination *record;
	struct hash_secret secret;
	uint32_t capacity;
	uint32_t count;
	uint32_t high;
	uint32_t next;
};

/* The rules as lcores read them, one by one, by RULE(): any may change at any time. */
struct rules {
	uint64_t slow_bytes;
	uint32_t least, least_release;
	uint32_t time, grace, timeout, handshake; /* ticks */
	uint16_t threshold, release;
	uint8_t policy;
	bool dry_run;
};

#define RULE(detector, name) __atomic_load_n(&(detector)->rules.name, __ATOMIC_RELAXED)

struct slowloris {
	struct slowloris_config config;
	struct rules rules;
	struct divider *divider;
	struct connections connections;
	struct destinations destinations;
	struct rte_ring *segments; /* left to the holder of the writer lock */
	struct rte_ring *alerts;
	struct slowloris_memory memory;
	uint32_t aged_at, watched_at;             /* ticks: ageing has come so far */
	uint32_t writer_lock __rte_cache_aligned; /* 1: held by an lcore */
	uint32_t established, alarms;             /* of all destinations */
	struct slowloris_counters counters;
};

/* Registers that have changed and are to be divided. */
struct division_batch {
	unsigned int count;
	uint32_t connections[DIVIDE_BULK];
	uint32_t established[DIVIDE_BULK];
	uint64_t bytes[DIVIDE_BULK];
	uint16_t ratio[DIVIDE_BULK];
	uint32_t destination[DIVIDE_BULK];
	uint8_t query[DIVIDE_BULK]; /* which of the burst's queries asks, plus 1 */
};

/* The records that a segment belongs to; NONE: there is none. */
struct found_records {
	uint32_t connection;  /* whose client sent the segment */
	uint32_t answered;    /* whose client receives it: an answer of the server */
	uint32_t destination; /* that receives it */
};

struct slowloris_worker {
	struct slowloris_worker_counters counters;
	struct slowloris *detector;
	uint32_t now;   /* ticks */
	bool is_writer; /* it holds the writer lock */
	bool quiet;     /* no segment was waiting in the ring before the burst was looked up */
	bool changed;   /* tables have changed since */
	struct slowloris_verdict *verdict;
	struct division_batch pending;
	struct segment segment[PIPELINE_BURST];
	struct found_records found[PIPELINE_BURST];
} __rte_cache_aligned;

/* Counters that several lcores may add to, or that only one does. */
static inline uint64_t
add_u64(const struct slowloris *detector, uint64_t *counter, uint64_t value)
{
	if (detector->config.shared)
		return __atomic_add_fetch(counter, value, __ATOMIC_RELAXED);
	return *counter += value;
}

static inline uint32_t
add_u32(const struct slowloris *detector, uint32_t *counter, uint32_t value)
{
	if (detector->config.shared)
		return __atomic_add_fetch(counter, value, __ATOMIC_RELAXED);
	return *counter += value;
}

static inline uint32_t
load_u32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Written only if it changes, so that lcores do not fight for cache lines. */
static inline void
refresh(uint32_t *seen, uint32_t now)
{
	if (load_u32(seen) != now)
		__atomic_store_n(seen, now, __ATOMIC_RELAXED);
}

/* connections.c */
int connections_create(struct connections *connections, const struct slowloris_config *config);
void connections_destroy(struct connections *connections);
uint32_t connections_find(
	const struct connections *connections, const struct connection_key *key, uint32_t hash);
/* Add a connection. The caller fills in its record. NONE if the table is full. */
uint32_t
connections_add(struct connections *connections, const struct connection_key *key, uint32_t now);
/* The caller subtracts its bytes. */
void connections_remove(
	struct connections *connections, const struct connection_key *key, uint32_t index);
/* The oldest incomplete handshake, if one must be removed before another can be added. */
uint32_t connections_evict(struct connections *connections);
/* An incomplete handshake older than `age`, or NONE. Each record looked at takes one of `looks`. */
uint32_t connections_expire(
	struct connections *connections, uint32_t now, uint32_t age, unsigned int *looks);

/* destinations.c */
int destinations_create(struct destinations *destinations, const struct slowloris_config *config);
void destinations_destroy(struct destinations *destinations);
uint32_t destinations_find(const struct destinations *destinations, uint32_t address);
uint32_t destinations_add(struct destinations *destinations, uint32_t address, uint32_t now);
void destinations_remove(struct destinations *destinations, uint32_t index);
void destination_read(const struct destination *destination, struct slowloris_registers *registers);

/* track.c */
/* Count a segment. False if that needs the writer lock, which this lcore does not hold. */
bool
track(struct slowloris_worker *worker, const struct segment *segment, struct found_records found);
/* End a connection; the lock's holder only. */
void track_end(struct slowloris_worker *worker, uint32_t connection);
/* Subtract a connection's bytes from its destination's; the lock's holder only. */
void track_settle(struct slowloris_worker *worker, struct connection *connection);
/* Divide what has changed: registers, alarms, answers. */
void track_flush(struct slowloris_worker *worker);

/* Divide a destination's registers. `query`: 0, or which of the burst's queries asks, plus 1. */
static inline void
track_divide(struct slowloris_worker *worker, uint32_t destination, uint64_t bytes, uint8_t query)
{
	const struct destination *record = &worker->detector->destinations.record[destination];
	struct division_batch *batch = &worker->pending;
	unsigned int lane;

	if (unlikely(batch->count == DIVIDE_BULK))
		track_flush(worker);
	lane = batch->count++;
	batch->connections[lane] = load_u32(&record->connections);
	batch->established[lane] = load_u32(&record->established);
	batch->bytes[lane] = bytes;
	batch->destination[lane] = destination;
	batch->query[lane] = query;
}

/* Count a segment's bytes for its receiver, and for its connection, if it has one. */
static inline void
track_bytes(struct slowloris_worker *worker, const struct segment *segment, uint32_t destination,
	struct connection *connection)
{
	struct slowloris *detector = worker->detector;
	struct destination *record = &detector->destinations.record[destination];
	uint64_t bytes = add_u64(detector, &record->bytes, segment->length);

	if (connection != NULL) {
		add_u64(detector, &connection->bytes, segment->length);
		refresh(&connection->seen, worker->now);
	} else {
		add_u64(detector, &record->unattributed, segment->length);
	}
	refresh(&record->seen, worker->now);
	track_divide(worker, destination, bytes, 0);
}

/* defence.c */
/* A destination's registers were written: an attack may begin. */
void defence_watch(struct slowloris_worker *worker, struct destination *destination, uint16_t ratio,
	uint32_t established);
/* The same from time to time, whether it was written or not: an attack may begin or end. */
void defence_review(struct slowloris_worker *worker, struct destination *destination);
/* Whether to drop a packet; if so, its bit is set in the verdict. */
bool defence_drops(struct slowloris_worker *worker, unsigned int packet,
	const struct destination *destination, struct connection *connection);

/* ageing.c */
/* Age as much as is due; the lock's holder only. */
void age_tables(struct slowloris_worker *worker);

/* find.c */
/* The records that a segment belongs to now: those found, unless tables have changed since. */
struct found_records find_again(const struct slowloris_worker *worker,
	const struct segment *segment, struct found_records found);

/* writer.c */
/* Take the writer lock if it is free; never waits. */
bool writer_trylock(struct slowloris_worker *worker);
/* Count what others have left meanwhile, and release the lock. */
void writer_unlock(struct slowloris_worker *worker);
/* Leave a segment to the lock's holder, in the ring. */
void writer_leave(struct slowloris_worker *worker, struct segment *segment);
/* Count what others have left; the lock's holder only. */
void writer_drain(struct slowloris_worker *worker);
/* Whether all that anybody has left has been counted. */
bool writer_is_quiet(const struct slowloris *detector);

#endif /* SLOWLORIS_DETECTOR_H */
