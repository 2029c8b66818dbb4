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
make_requests(struct rooms *rooms, uint32_t first, uint32_t count)
{
	const struct capture *capture = &rooms->capture;

	for (uint32_t p = first; p < first + count; p++)
		memcpy(rte_pktmbuf_mtod(rooms->packets[p], void *),
			capture->frames + (size_t)p * capture->frame_bytes, capture->frame_bytes);
}

static int
create_pipeline(struct rooms *rooms)
{
	struct pipeline_config config = {
		.match = rooms->kind,
		.isa = vector_isa_best(),
		.udp_port = NETFC_UDP_PORT,
		.socket_id = SOCKET_ID_ANY,
	};
	int error;

	config.sets[rooms->capture.format] = rooms->set;
	error = pipeline_create(&config, &rooms->pipeline);
	if (error != 0) {
		fprintf(stderr, PROGRAM ": cannot make the pipeline: %s\n", rte_strerror(-error));
		return -1;
	}
	rooms->worker = pipeline_worker_create(rooms->pipeline, SOCKET_ID_ANY);
	return rooms->worker != NULL ? 0 : -1;
}

static int
create_mbufs(struct rooms *rooms)
{
	const struct capture *capture = &rooms->capture;

	rooms->pool = rte_pktmbuf_pool_create("packets", capture->packets, 0, 0,
		(uint16_t)(RTE_PKTMBUF_HEADROOM + capture->frame_bytes), SOCKET_ID_ANY);
	rooms->packets = calloc(capture->packets, sizeof(struct rte_mbuf *));
	if (rooms->pool == NULL || rooms->packets == NULL ||
		rte_pktmbuf_alloc_bulk(rooms->pool, rooms->packets, capture->packets) != 0) {
		fprintf(stderr, PROGRAM ": no memory for %u packets\n", capture->packets);
		return -1;
	}
	for (uint32_t p = 0; p < capture->packets; p++)
		rte_pktmbuf_append(rooms->packets[p], (uint16_t)capture->frame_bytes);
	return 0;
}

/* What the room must compute: the table set's result, or without tables the correctly rounded. */
static uint16_t
expected(const struct rooms *rooms, size_t lane)
{
	const struct capture *capture = &rooms->capture;
	uint16_t x = capture->x[lane], y = capture->y[lane];

	if (rooms->has_stages)
		return netfc_calc(rooms->set, capture->op, x, y).z;
	return netfc_exact(netfc_set_format(rooms->set), capture->op, x, y).z;
}

/* The status and the lanes of every packet. */
static bool
is_computed(const struct rooms *rooms)
{
	const struct capture *capture = &rooms->capture;
	bool right = true;

	for (uint32_t p = 0; p < capture->packets; p++) {
		const uint8_t *frame = rte_pktmbuf_mtod(rooms->packets[p], const uint8_t *);
		const size_t first = (size_t)p * capture->lanes;
		uint8_t status = frame[capture_status_offset()];

		right &= status >> NETFC_STATUS_CODE_SHIFT ==
			NETFC_STATUS_REPLY >> NETFC_STATUS_CODE_SHIFT;
		for (uint32_t l = 0; l < capture->lanes; l++)
			right &= capture_result(capture, frame, l) == expected(rooms, first + l);
	}
	return right;
}

int
packets_create(struct rooms *rooms)
{
	if (create_pipeline(rooms) != 0 || create_mbufs(rooms) != 0)
		return -1;
	measure_packets(rooms);
	if (is_computed(rooms))
		return 0;
	fprintf(stderr, PROGRAM ": the pipeline computes other results than it must\n");
	return -1;
}

const char *
packets_kernel(const struct rooms *rooms)
{
	return pipeline_kernel(rooms->pipeline, rooms->capture.format);
}

void
packets_free(struct rooms *rooms)
{
	if (rooms->packets != NULL)
		rte_pktmbuf_free_bulk(rooms->packets, rooms->capture.packets);
	free(rooms->packets);
	rte_mempool_free(rooms->pool);
	pipeline_worker_free(rooms->worker);
	pipeline_free(rooms->pipeline);
}

/* Each burst has just been written, as by a device that puts packets into the cache. */
uint64_t
measure_packets(struct rooms *rooms)
{
	struct frame frames[PIPELINE_BURST];
	uint64_t cycles = 0;

	for (uint32_t first = 0; first < rooms->capture.packets; first += PIPELINE_BURST) {
		uint32_t count = RTE_MIN(rooms->capture.packets - first, (uint32_t)PIPELINE_BURST);
		uint64_t start;

		make_requests(rooms, first, count);
		start = rte_rdtsc_precise();
		pipeline_process(rooms->worker, rooms->packets + first, frames, (uint16_t)count);
		cycles += rte_rdtsc_precise() - start;
	}
	return cycles;
}
