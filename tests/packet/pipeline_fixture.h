/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_FIXTURE_H
#define PIPELINE_FIXTURE_H

/** @file A pipeline with one worker, and the packets that go through it; no test may lose one. */

#include <stdint.h>

#include <netfc.h>

#include "pipeline.h"

struct pipeline_fixture {
	struct rte_mempool *pool;
	struct netfc_set *set[NETFC_SET_FORMAT_END]; /**< by format */
	struct pipeline_config config;
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
};

/** Packets that go through together. */
struct fixture_burst {
	unsigned int count;
	uint8_t *bytes[PIPELINE_BURST]; /**< the frames; then what comes out in their place */
	uint32_t length[PIPELINE_BURST];
	struct frame frame[PIPELINE_BURST]; /**< what the pipeline says of them */
};

/**
 * Build table sets, and a configuration that matches directly, with the best instruction set, and
 * leaves queries.
 *
 * @param f zeroes
 */
void
fixture_set_up(struct pipeline_fixture *f, const char *const *set_names, unsigned int set_count);

/** Free everything, the pipeline if there is one, but `f` itself. */
void fixture_tear_down(struct pipeline_fixture *f);

/** Make pipeline and worker of the configuration. */
void fixture_create_pipeline(struct pipeline_fixture *f);

/** Free them: others can be made. */
void fixture_free_pipeline(struct pipeline_fixture *f);

/** Send a burst through, its packets cut into segments of `cut` bytes. */
void fixture_process(struct pipeline_fixture *f, struct fixture_burst *burst, uint32_t cut);

#endif /* PIPELINE_FIXTURE_H */
