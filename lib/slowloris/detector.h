/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DETECTOR_H
#define SLOWLORIS_DETECTOR_H

/** @file What the detector's files share and nobody else sees. */

#include <rte_ring.h>

#include "connections.h"
#include "destinations.h"
#include "divide.h"
#include "records.h"
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

#endif /* SLOWLORIS_DETECTOR_H */
