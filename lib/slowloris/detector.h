/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DETECTOR_H
#define SLOWLORIS_DETECTOR_H

/** @file What the detector's files share, and no other file uses. */

#include <rte_ring.h>

#include "connections.h"
#include "destinations.h"
#include "divide.h"
#include "segment.h"
#include "slowloris.h"

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
	unsigned int tick_shift;                  /* of TSC cycles */
	uint32_t aged_at, watched_at;             /* ticks: ageing has come so far */
	uint32_t writer_lock __rte_cache_aligned; /* 1: held by an lcore */
	uint32_t established, alarms;             /* of all destinations */
	struct slowloris_counters counters;
};

/* Registers that have changed and are to be divided. */
struct division_batch {
	unsigned int count;
	uint32_t connections[DIVIDE_BULK];
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
	uint64_t tsc;   /* the time, in cycles */
	uint32_t now;   /* and in ticks */
	bool is_writer; /* it holds the writer lock */
	bool quiet;     /* no segment was waiting in the ring before the burst was looked up */
	bool changed;   /* tables have changed since */
	struct slowloris_verdict *verdict;
	struct division_batch pending;
	struct segment segment[PIPELINE_BURST];
	struct found_records found[PIPELINE_BURST];
} __rte_cache_aligned;

static inline void
set_time(struct slowloris_worker *worker, uint64_t tsc)
{
	worker->tsc = tsc;
	worker->now = (uint32_t)(tsc >> worker->detector->tick_shift);
}

/* Add to a counter, atomically if several lcores do. */
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

/* ---- track.c: segments counted in the registers of their connections and destinations -------- */

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
		uint64_t sum = add_u64(detector, &connection->bytes, segment->length);

		if (unlikely((sum & BYTES_COMPLETE) == 0))
			add_u64(detector, &record->incomplete, segment->length);
		refresh(&connection->seen, worker->now);
	} else {
		add_u64(detector, &record->unattributed, segment->length);
	}
	refresh(&record->seen, worker->now);
	track_divide(worker, destination, bytes, 0);
}

/* The records that a segment belongs to now: those found, unless tables have changed since. */
struct found_records find_again(const struct slowloris_worker *worker,
	const struct segment *segment, struct found_records found);

/* ---- defence.c: what follows from registers: alarms, and which packets to drop --------------- */

/* A destination's registers were written: an attack may begin. */
void defence_watch(struct slowloris_worker *worker, struct destination *destination);
/* The same periodically, without a write: an attack may begin or end. */
void defence_review(struct slowloris_worker *worker, struct destination *destination);
/* Whether to drop a packet; if so, its bit is set in the verdict. */
bool defence_drops(struct slowloris_worker *worker, unsigned int packet,
	const struct destination *destination, struct connection *connection);

/* ---- writer.c: the writer lock, the segments that are left to its holder, ageing ------------- */

/* Take the writer lock if it is free; never waits. */
bool writer_trylock(struct slowloris_worker *worker);
/* Count what others have left meanwhile, and release the lock. */
void writer_unlock(struct slowloris_worker *worker);
/* Leave a segment to the lock's holder, in the ring. */
void writer_leave(struct slowloris_worker *worker, struct segment *segment);
/* Count what others have left; the lock's holder only. */
void writer_drain(struct slowloris_worker *worker);
/* Whether all segments that were left have been counted. */
bool writer_is_quiet(const struct slowloris *detector);

/* Age as much as is due; the lock's holder only. */
void age_tables(struct slowloris_worker *worker);

#endif /* SLOWLORIS_DETECTOR_H */
