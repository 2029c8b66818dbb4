/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_H
#define MEASURE_H

/**
 * @file
 * What is timed: the look-ups of a capture's lanes alone, by DPDK's library or through a match
 * engine; the steps of their program one by one; whole packets through the pipeline. All in TSC
 * cycles for one pass over all packets of the capture.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "capture.h"
#include "match.h"
#include "pipeline.h"

#define PROGRAM "netfc-microbench"

/** The keys of one look-up step for all lanes of the capture, and where they are looked up. */
struct look_up {
	const struct netfc_table *table;
	struct match_stage
		*stage; /**< by the match engine measured, or an array where that is too large */
	bool is_shared; /**< the stage is an earlier look-up's, too */
	bool is_match;  /**< false: the decision table, an array for all engines */
	uint32_t *keys;
};

/** All that is measured. */
struct microbench {
	enum match_kind kind;
	const struct netfc_set *set;
	struct capture capture;
	uint32_t lanes; /**< of all packets together */
	const struct netfc_program *program;
	unsigned int look_up_count;
	struct look_up look_up[NETFC_MAX_STEPS]; /**< in the program's order */
	bool has_stages;                         /**< false: the engine computes without tables */
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_mempool *pool;
	struct rte_mbuf **packets; /**< of the capture's frames */
};

/** Cycles of one pass, by step of the program. */
struct step_cycles {
	uint64_t step[NETFC_MAX_STEPS];
};

/** Find the keys of all look-ups and make their stages. 0, or -1, said on stderr. */
int look_ups_create(struct microbench *bench);
void look_ups_free(struct microbench *bench);

/** Make pipeline and packets, and see that it computes them. 0, or -1, said on stderr. */
int packets_create(struct microbench *bench);
void packets_free(struct microbench *bench);

/** The look-ups that go through match stages. */
uint64_t measure_look_ups(const struct microbench *bench);

/** Whether measure_bare() has something to measure: the engine is on top of a library of DPDK. */
bool can_measure_bare(const struct microbench *bench);

/** The same look-ups by the library's bulk look-up alone, its keys prepared as it wants them. */
uint64_t measure_bare(const struct microbench *bench);

/** Every step of the program, over batches. */
void measure_steps(const struct microbench *bench, struct step_cycles *cycles);

/** The kernel that computes the packets at once, described for people; NULL: stages do. */
const char *packets_kernel(const struct microbench *bench);

/** Whole packets through the pipeline, in bursts. */
uint64_t measure_packets(struct microbench *bench);

#endif /* MEASURE_H */
