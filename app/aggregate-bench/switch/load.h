/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOAD_H
#define LOAD_H

/**
 * @file
 * Workers that live in the callbacks of a port: when the switch polls it, they make the packets
 * that come in; what the switch sends, they check before the port takes it. The time that they need
 * is known and left out, so that what remains is the switch's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "app.h"
#include "chunks.h"
#include "dpdk/worker_packet.h"

/** Packets that wait for each lcore to receive them. */
#define LOAD_QUEUE 1024

/** Measurements of one lcore; their median counts. */
#define LOAD_SAMPLES 64

struct load_options {
	struct chunks_config chunks;
	unsigned int lcores;
	uint32_t slots;   /**< of the job */
	uint32_t ahead;   /**< chunks that each worker sends before the next one does */
	uint32_t flood;   /**< bad packets beside each good one */
	bool add;         /**< or else received and replicated alone */
	bool handed_over; /**< packets come to another lcore than their shard's */
	double seconds;   /**< of work */
};

/** What one lcore has seen. It alone writes here. */
struct load_counters {
	uint64_t sent, results, values, wrong, other;
	uint64_t bad[BAD_PACKETS];
	uint64_t refusals; /**< answers to bad packets */
	unsigned int samples;
	double rate[LOAD_SAMPLES]; /**< values per second of the switch's time */
};

/**
 * Run the switch's loop under load, until enough is measured.
 *
 * @param poll_run the loop
 * @param counters by shard
 * @return 0 or -1 (said on stderr)
 */
int load_run(struct app *app, const struct load_options *options, const struct chunks *chunks,
	void (*poll_run)(struct app *app), struct load_counters *counters);

#endif /* LOAD_H */
