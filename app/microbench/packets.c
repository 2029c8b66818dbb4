/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "measure.h"

/* The packets of a burst, requests again. */
static void
make_requests(struct microbench *bench, uint32_t first, uint32_t count)
{
	const struct capture *capture = &bench->capture;

	for (uint32_t p = first; p < first + count; p++)
		memcpy(rte_pktmbuf_mtod(bench->packets[p], void *),
			capture->frames + (size_t)p * capture->frame_bytes, capture->frame_bytes);
}

static int
create_pipeline(struct microbench *bench)
{
	struct pipeline_config config = {
		.match = bench->kind,
		.isa = vector_isa_best(),
		.udp_port = NETFC_UDP_PORT,
		.socket_id = SOCKET_ID_ANY,
	};
	int error;

	config.sets[bench->capture.format] = bench->set;
	error = pipeline_create(&config, &bench->pipeline);
	if (error != 0) {
		fprintf(stderr, PROGRAM ": cannot make the pipeline: %s\n", rte_strerror(-error));
		return -1;
	}
	bench->worker = pipeline_worker_create(bench->pipeline, SOCKET_ID_ANY);
	return bench->worker != NULL ? 0 : -1;
}

static int
create_mbufs(struct microbench *bench)
{
	const struct capture *capture = &bench->capture;

	bench->pool = rte_pktmbuf_pool_create("packets", capture->packets, 0, 0,
		(uint16_t)(RTE_PKTMBUF_HEADROOM + capture->frame_bytes), SOCKET_ID_ANY);
	bench->packets = calloc(capture->packets, sizeof(struct rte_mbuf *));
	if (bench->pool == NULL || bench->packets == NULL ||
		rte_pktmbuf_alloc_bulk(bench->pool, bench->packets, capture->packets) != 0) {
		fprintf(stderr, PROGRAM ": no memory for %u packets\n", capture->packets);
		return -1;
	}
	for (uint32_t p = 0; p < capture->packets; p++)
		rte_pktmbuf_append(bench->packets[p], (uint16_t)capture->frame_bytes);
	return 0;
}

/* What must be computed: the table set's result, or, without tables, the correctly rounded one. */
static uint32_t
expected(const struct microbench *bench, size_t lane)
{
	const struct capture *capture = &bench->capture;
	const uint32_t x = capture->x[lane], y = capture->y[lane];

	if (bench->has_stages)
		return netfc_calc(bench->set, capture->op, x, y).z;
	return netfc_exact(netfc_set_format(bench->set), capture->op, x, y).z;
}

/* The status and the lanes of every packet. */
static bool
is_computed(const struct microbench *bench)
{
	const struct capture *capture = &bench->capture;
	bool right = true;

	for (uint32_t p = 0; p < capture->packets; p++) {
		const uint8_t *frame = rte_pktmbuf_mtod(bench->packets[p], const uint8_t *);
		const size_t first = (size_t)p * capture->lanes;
		uint8_t status = frame[capture_status_offset()];

		right &= status >> NETFC_STATUS_CODE_SHIFT ==
			NETFC_STATUS_REPLY >> NETFC_STATUS_CODE_SHIFT;
		for (uint32_t l = 0; l < capture->lanes; l++)
			right &= capture_result(capture, frame, l) == expected(bench, first + l);
	}
	return right;
}

int
packets_create(struct microbench *bench)
{
	if (create_pipeline(bench) != 0 || create_mbufs(bench) != 0)
		return -1;
	measure_packets(bench);
	if (is_computed(bench))
		return 0;
	fprintf(stderr, PROGRAM ": the pipeline computes other results than it must\n");
	return -1;
}

const char *
packets_kernel(const struct microbench *bench)
{
	return pipeline_kernel(bench->pipeline, bench->capture.format);
}

void
packets_free(struct microbench *bench)
{
	if (bench->packets != NULL)
		rte_pktmbuf_free_bulk(bench->packets, bench->capture.packets);
	free(bench->packets);
	rte_mempool_free(bench->pool);
	pipeline_worker_free(bench->worker);
	pipeline_free(bench->pipeline);
}

/* Each burst has just been written, as by a device that puts packets into the cache. */
uint64_t
measure_packets(struct microbench *bench)
{
	struct frame frames[PIPELINE_BURST];
	uint64_t cycles = 0;

	for (uint32_t first = 0; first < bench->capture.packets; first += PIPELINE_BURST) {
		uint32_t count = RTE_MIN(bench->capture.packets - first, (uint32_t)PIPELINE_BURST);
		uint64_t start;

		make_requests(bench, first, count);
		start = rte_rdtsc_precise();
		pipeline_process(bench->worker, bench->packets + first, frames, (uint16_t)count);
		cycles += rte_rdtsc_precise() - start;
	}
	return cycles;
}
