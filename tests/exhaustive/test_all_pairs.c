/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All 2^32 pairs of operands, as packets through the pipeline, against the one-lane reference:
 * netfc_calc(), or for what is correctly rounded netfc_exact().
 * Usage: test_all_pairs [SET [OP [MATCH [ISA]]]]; default fp16_k1024 add direct, ISA (0 plain C, 1
 * AVX2, 2 AVX-512) the best there is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "eal.h"
#include "packets.h"
#include "pipeline.h"

#define OPERANDS 65536u
#define LANES 4096u

/* What the lcores share; each takes every n-th x. */
struct job {
	const struct netfc_set *set;
	bool exact;
	const struct pipeline *pipeline;
	struct rte_mempool *pool;
	unsigned int op;
	uint64_t wrong;
};

static struct netfc_result
reference(const struct job *job, uint16_t x, uint16_t y)
{
	return job->exact ? netfc_exact(netfc_set_format(job->set), job->op, x, y)
			  : netfc_calc(job->set, job->op, x, y);
}

static uint64_t
check_packet(const struct job *job, const uint8_t *frame, const uint16_t *x, const uint16_t *y)
{
	uint64_t wrong = !packet_checksum_is_right(frame);
	uint8_t flags = 0;

	for (uint16_t l = 0; l < LANES; l++) {
		struct netfc_result expected = reference(job, x[l], y[l]);

		wrong += packet_result(frame, LANES, l) != expected.z;
		flags |= expected.flags;
	}
	return wrong + (packet_status(frame) != (NETFC_STATUS_REPLY | flags));
}

static uint64_t
check_x(struct job *job, struct pipeline_worker *worker, uint16_t operand)
{
	unsigned int format = netfc_format_id(netfc_set_format(job->set));
	uint8_t frame[PACKET_HEADERS + LANES * NETFC_LANE_BYTES];
	uint16_t x[LANES], y[LANES];
	uint64_t wrong = 0;

	for (uint32_t first = 0; first < OPERANDS; first += LANES) {
		struct rte_mbuf *mbuf;
		struct frame parsed;

		for (uint32_t l = 0; l < LANES; l++) {
			x[l] = operand;
			y[l] = (uint16_t)(first + l);
		}
		packet_write(frame, job->op, format, LANES, x, y);
		mbuf = packet_of(job->pool, frame, sizeof(frame), 32768);
		if (mbuf == NULL)
			return OPERANDS;
		pipeline_process(worker, &mbuf, &parsed, 1);
		packet_bytes(mbuf, frame);
		rte_pktmbuf_free(mbuf);
		wrong += check_packet(job, frame, x, y);
	}
	return wrong;
}

static int
check_share(void *arg)
{
	struct job *job = arg;
	struct pipeline_worker *worker = pipeline_worker_create(job->pipeline, SOCKET_ID_ANY);
	uint64_t wrong = worker == NULL;

	for (uint32_t x = rte_lcore_index(-1); worker != NULL && x < OPERANDS;
		x += rte_lcore_count())
		wrong += check_x(job, worker, (uint16_t)x);
	__atomic_add_fetch(&job->wrong, wrong, __ATOMIC_RELAXED);
	pipeline_worker_free(worker);
	return 0;
}

static unsigned int
op_by_name(const char *name)
{
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (strcmp(netfc_op_name(op), name) == 0)
			return op;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "fp16_k1024";
	struct job job = {.op = op_by_name(argc > 2 ? argv[2] : "add")};
	struct pipeline_config config = {.udp_port = NETFC_UDP_PORT, .socket_id = SOCKET_ID_ANY};
	struct pipeline *pipeline;
	struct netfc_set *set;
	const char *kernel;

	config.match = match_kind_by_name(argc > 3 ? argv[3] : "direct");
	if (job.op == 0 || config.match == MATCH_KINDS || netfc_set_build(name, &set) != 0) {
		fprintf(stderr, "usage: %s [SET [add|sub|mul|div [lpm|hash|direct|fpu [0|1|2]]]]\n",
			argv[0]);
		return 1;
	}
	config.sets[netfc_format_id(netfc_set_format(set))] = set;
	if (eal_start(2) != 0)
		return 1;
	config.isa = argc > 4 ? (enum vector_isa)atoi(argv[4]) : vector_isa_best();
	if (config.isa > vector_isa_best() || pipeline_create(&config, &pipeline) != 0)
		return 1;
	job.set = set;
	job.exact = config.match == MATCH_FPU || netfc_set_family(set) == NETFC_FAMILY_EXACT;
	job.pipeline = pipeline;
	kernel = pipeline_kernel(pipeline, netfc_format_id(netfc_set_format(set)));
	job.pool = rte_pktmbuf_pool_create("test", 63, 0, 0, 33000, SOCKET_ID_ANY);
	if (job.pool == NULL)
		return 1;
	rte_eal_mp_remote_launch(check_share, &job, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	printf("%s %s: %" PRIu64 " pairs through %s (%s), %" PRIu64 " wrong\n", name,
		netfc_op_name(job.op), (uint64_t)OPERANDS * OPERANDS, match_kind_name(config.match),
		kernel != NULL ? kernel : "step by step", job.wrong);
	pipeline_free(pipeline);
	netfc_set_free(set);
	return job.wrong != 0;
}
