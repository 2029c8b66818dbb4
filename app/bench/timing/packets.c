/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "bench.h"
#include "classify.h"
#include "dpdk/eal.h"
#include "dpdk/reflect.h"
#include "timing/timing.h"

/* A burst as it came, written just now, as by a device that puts packets into the cache. */
static void
restore(const struct parts *parts, uint32_t first, uint16_t count)
{
	const struct capture *capture = parts->capture;

	for (uint16_t p = 0; p < count; p++) {
		const uint16_t length = capture->length[first + p];

		rte_pktmbuf_reset(parts->burst[p]);
		memcpy(rte_pktmbuf_append(parts->burst[p], length),
			capture_frame(capture, first + p), length);
	}
}

static uint64_t
measure_classify(const struct parts *parts, uint16_t count)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	struct classified classified;
	uint64_t start;

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	start = rte_rdtsc_precise();
	classified_clear(&classified);
	classify(pipeline_classifier(parts->pipeline), mbufs, frames, 0, count, &classified);
	return rte_rdtsc_precise() - start;
}

static uint16_t
burst_size(const struct parts *parts, uint32_t first)
{
	return (uint16_t)RTE_MIN(parts->capture->packets - first, (uint32_t)PIPELINE_BURST);
}

struct packet_cycles
measure_packets(const struct parts *parts)
{
	struct packet_cycles cycles = {0, 0, 0};
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	for (uint32_t first = 0; first < parts->capture->packets; first += PIPELINE_BURST) {
		const uint16_t count = burst_size(parts, first);
		uint64_t start, computed;

		restore(parts, first, count);
		cycles.classify += measure_classify(parts, count);
		restore(parts, first, count);
		start = rte_rdtsc_precise();
		pipeline_process(parts->worker, mbufs, frames, count);
		computed = rte_rdtsc_precise();
		reflect(mbufs, frames, count);
		cycles.pipeline += computed - start;
		cycles.reflect += rte_rdtsc_precise() - computed;
	}
	return cycles;
}

/* What must be computed: the table set's result, or, without tables, the correctly rounded one. */
static uint32_t
expected(const struct parts *parts, size_t lane)
{
	const struct capture *capture = parts->capture;
	const enum netfc_op op = (enum netfc_op)capture->op;
	const uint32_t x = capture->x[lane], y = capture->y[lane];

	if (parts->has_stages)
		return netfc_calc(parts->set, op, x, y).z;
	return netfc_exact(netfc_set_format(parts->set), op, x, y).z;
}

/* The status and the lanes of a packet that has been through the pipeline. */
static bool
is_computed(const struct parts *parts, uint32_t packet, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint32_t lanes = parts->capture->lanes;

	if (capture_status(frame) >> NETFC_STATUS_CODE_SHIFT !=
		NETFC_STATUS_REPLY >> NETFC_STATUS_CODE_SHIFT)
		return false;
	for (uint32_t l = 0; l < lanes; l++)
		if (capture_result(parts->capture, frame, l) !=
			expected(parts, (size_t)packet * lanes + l))
			return false;
	return true;
}

static int
check_results(const struct parts *parts)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];

	memcpy(mbufs, parts->burst, sizeof(mbufs));
	for (uint32_t first = 0; first < parts->capture->packets; first += PIPELINE_BURST) {
		const uint16_t count = burst_size(parts, first);

		restore(parts, first, count);
		pipeline_process(parts->worker, mbufs, frames, count);
		for (uint16_t p = 0; p < count; p++) {
			if (is_computed(parts, first + p, mbufs[p]))
				continue;
			return REPORT("--time: the pipeline computes other results than it "
				      "must\n");
		}
	}
	return 0;
}

int
packets_create(struct parts *parts)
{
	parts->worker = pipeline_worker_create(parts->pipeline, SOCKET_ID_ANY);
	parts->pool = ethdev_pool_create("packets", 2 * MBUF_CACHE,
		RTE_PKTMBUF_HEADROOM + CAPTURE_FRAME_BYTES, rte_socket_id());
	if (parts->worker == NULL || parts->pool == NULL ||
		rte_pktmbuf_alloc_bulk(parts->pool, parts->burst, PIPELINE_BURST) != 0)
		return REPORT("--time: no memory; give the EAL more (-m MB)\n");
	return parts->set != NULL ? check_results(parts) : 0;
}

void
packets_free(struct parts *parts)
{
	if (parts->burst[0] != NULL)
		rte_pktmbuf_free_bulk(parts->burst, PIPELINE_BURST);
	rte_mempool_free(parts->pool);
	pipeline_worker_free(parts->worker);
}
