/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PARTS_H
#define PARTS_H

/**
 * @file
 * What is timed of a capture: whole packets through the pipeline, classification, and the swap of
 * addresses. If its requests are uniform, also the look-ups of their lanes alone, by DPDK's library
 * or through a match engine, and the steps of their program one by one. All in TSC cycles for one
 * pass over all packets.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "match.h"
#include "pipeline.h"
#include "timing/capture.h"

/** The keys of one look-up step for all lanes of the capture, and where they are looked up. */
struct look_up {
	const struct netfc_table *table;
	/** By the match engine measured, or an array where that is too large. */
	struct match_stage *stage;
	bool is_shared; /**< the stage is an earlier look-up's, too */
	bool is_match;  /**< false: the decision table, an array for all engines */
	uint32_t *keys;
};

/** All that is measured. */
struct parts {
	enum match_kind kind;
	const struct capture *capture;
	const struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_mempool *pool;
	struct rte_mbuf *burst[PIPELINE_BURST]; /**< always the same, as from a pool's cache */
	/** Of uniform requests. */
	const struct netfc_set *set; /**< NULL: there are none, or no set for them */
	const struct netfc_program *program;
	uint32_t lanes; /**< of all packets together */
	unsigned int look_up_count;
	struct look_up look_up[NETFC_MAX_STEPS]; /**< in the program's order */
	bool has_stages;                         /**< false: the engine computes without tables */
};

/** Cycles of one pass. */
struct packet_cycles {
	uint64_t classify; /**< what pipeline_process() begins with */
	uint64_t pipeline; /**< pipeline_process(), classification included */
	uint64_t reflect;  /**< addresses swapped */
};

/** Cycles of one pass, by step of the program. */
struct step_cycles {
	uint64_t step[NETFC_MAX_STEPS];
};

/** Find the keys of all look-ups and make their stages. 0, or -1, reported on stderr. */
int look_ups_create(struct parts *parts);
void look_ups_free(struct parts *parts);

/** Make buffers, and see that results are right. 0, or -1, reported on stderr. */
int packets_create(struct parts *parts);
void packets_free(struct parts *parts);

/** The look-ups that go through match stages. */
uint64_t measure_look_ups(const struct parts *parts);

/** Whether measure_bare() has something to measure: the engine is on top of a library of DPDK. */
bool can_measure_bare(const struct parts *parts);

/** The same look-ups by the library's bulk look-up alone, its keys prepared as it wants them. */
uint64_t measure_bare(const struct parts *parts);

/** Every step of the program, over batches. */
void measure_steps(const struct parts *parts, struct step_cycles *cycles);

/** Whole packets, in bursts. */
struct packet_cycles measure_packets(const struct parts *parts);

#endif /* PARTS_H */
