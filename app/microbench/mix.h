/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MIX_H
#define MIX_H

/**
 * @file
 * Any packets through the pipeline, without ports: where the cycles of a traffic mix go.
 */

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <netfc.h>

#include "classify.h"
#include "groups.h"
#include "match.h"
#include "pipeline.h"

/** Functions of the library, of one format each. */
struct mix_functions {
	unsigned int count;
	struct pipeline_function function[EXTENDED_GROUPS];
	struct mix_entries {
		uint16_t z[NETFC_FUNCTION_ENTRIES];
		uint8_t flags[NETFC_FUNCTION_ENTRIES];
	} *entries[EXTENDED_GROUPS];
};

/** A capture's packets and what they go through. */
struct mix {
	struct netfc_set *set[NETFC_SET_FORMAT_END]; /**< by format; NULL: none */
	struct mix_functions *functions;
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_mempool *pool;
	struct rte_mbuf *burst[PIPELINE_BURST]; /**< always the same, as from a pool's cache */
	uint32_t packet_count;
	uint16_t *length; /**< of each frame */
	uint8_t *frames;  /**< as they came: `packet_count` times MIX_FRAME_BYTES */
};

/** The longest frame that is taken. */
#define MIX_FRAME_BYTES 2048

/** TSC cycles of one pass over all packets. */
struct mix_cycles {
	uint64_t classify; /**< a burst's packets classified, what pipeline_process() begins with */
	uint64_t pipeline; /**< pipeline_process(), classification included */
	uint64_t reflect;  /**< addresses swapped */
};

/**
 * Read a capture, build the table sets, make the pipeline. What is wrong is said on stderr.
 *
 * @param sets names of table sets, joined by commas
 * @param functions names of functions of the library, for the formats of the sets, likewise; or
 * NULL
 * @return 0 or -1; mix_free() frees in both cases
 */
int mix_create(struct mix *mix, const char *path, const char *sets, const char *functions,
	enum match_kind kind);
void mix_free(struct mix *mix);

/** Time one pass. */
struct mix_cycles mix_measure(struct mix *mix);

#endif /* MIX_H */
