/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "aggregate/aggregation.h"
#include "app.h"
#include "dpdk/eal.h"
#include "program.h"
#include "vector.h"

/* Maximum number of packets that wait for a shard's lcore. */
#define INBOX_PACKETS 4096

/* Minimum lifetime of a cookie. */
#define COOKIE_S 30

/* A worker that waits for others asks again each tenth of a second. */
#define HALF_OPEN_S 5

/* The best kernels that the EAL allows (--force-max-simd-bitwidth). */
static enum aggregate_isa
choose_isa(void)
{
	static const enum aggregate_isa allowed[VECTOR_ISAS] = {
		[VECTOR_PLAIN] = AGGREGATE_PLAIN,
#if defined(RTE_ARCH_X86_64)
		[VECTOR_AVX2] = AGGREGATE_AVX2,
		[VECTOR_AVX512] = AGGREGATE_AVX512,
#elif defined(RTE_ARCH_ARM64)
		[VECTOR_NEON] = AGGREGATE_NEON,
		[VECTOR_NEON_FP16] = AGGREGATE_NEON,
#endif
	};

	return RTE_MIN(allowed[vector_isa_best()], aggregate_isa_best());
}

int
aggregation_read_key(const struct aggregate_options *options, struct aggregate_secret **secret)
{
	char error[AGGREGATE_SECRET_ERROR_BYTES];

	*secret = NULL;
	if (options->key[0] == '\0')
		return 0;
	*secret = aggregate_secret_read(options->key, error, sizeof(error));
	return *secret != NULL ? 0 : REPORT("--aggregate key=: %s\n", error);
}

static int
set_limits(const struct aggregate_options *options, uint32_t shards,
	const struct aggregation *aggregation, struct aggregate_limits *limits)
{
	const char *problem;

	*limits = (struct aggregate_limits){
		.shards = shards,
		.jobs = options->jobs,
		.slots = options->slots,
		.workers = options->workers,
		.bytes = options->bytes,
		.formats = options->formats,
		.digits = options->digits & options->formats,
		.parent = parent_link_limits(aggregation->parent_link),
		.isa = choose_isa(),
		.per_address = options->per_address,
		.idle = options->idle * rte_get_tsc_hz(),
		.half_open = HALF_OPEN_S * rte_get_tsc_hz(),
		.stall = options->stall * rte_get_tsc_hz(),
		.cookie_period = COOKIE_S * rte_get_tsc_hz(),
		.secret = aggregation->secret,
	};
	if (getrandom(limits->key, sizeof(limits->key), 0) != (ssize_t)sizeof(limits->key))
		return REPORT(
			"--aggregate: cannot draw the key of the cookies: %s\n", strerror(errno));
	problem = aggregate_limits_problem(limits);
	if (problem == NULL)
		return 0;
	return REPORT("--aggregate: %s\n", problem);
}

static int
create_table(struct aggregation *aggregation)
{
	const struct aggregate_limits *limits = &aggregation->limits;
	const unsigned int socket = rte_socket_id();
	void *memory;

	aggregation->bytes = aggregate_table_bytes(limits);
	memory = rte_malloc_socket("aggregation", aggregation->bytes, AGGREGATE_ALIGN, (int)socket);
	if (memory != NULL) {
		aggregation->table = aggregate_table_init(memory, limits);
		return 0;
	}
	return REPORT(
		"--aggregate: no memory for %u slots of %u bytes: they need %zu MB; give the EAL -m "
		"%zu, or ask for fewer (slots=N, bytes=N, formats=NAME)\n",
		limits->slots, limits->bytes, aggregation->bytes / 1000000 + 1,
		eal_memory_option(socket, aggregation->bytes));
}

static int
create_shard(struct aggregation *aggregation, uint32_t s, unsigned int lcore_id)
{
	struct shard *shard = &aggregation->shard[s];
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "aggregate_%u", s);
	shard->state = aggregate_table_shard(aggregation->table, s);
	/* RTS: an lcore that is interrupted while it hands over does not hold up the others. */
	shard->inbox = rte_ring_create(name, INBOX_PACKETS, (int)rte_lcore_to_socket_id(lcore_id),
		RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	if (shard->inbox != NULL)
		return 0;
	return REPORT("--aggregate: cannot make an inbox: %s\n", rte_strerror(rte_errno));
}

int
aggregation_create(struct app *app)
{
	const struct aggregate_options *options = &app->options.aggregate;
	struct aggregation *aggregation;
	unsigned int lcore_id;

	if (!options->on)
		return 0;
	aggregation = rte_zmalloc_socket(
		"aggregation", sizeof(*aggregation), RTE_CACHE_LINE_SIZE, (int)rte_socket_id());
	if (aggregation == NULL)
		return REPORT("--aggregate: no memory; give the EAL more (-m MB)\n");
	app->aggregation = aggregation;
	aggregation->port = options->port;
	aggregation->shard_count = app->shard_count;
	if (aggregation_read_key(options, &aggregation->secret) != 0 ||
		parent_link_create(app) != 0 ||
		set_limits(options, app->shard_count, aggregation, &aggregation->limits) != 0 ||
		create_table(aggregation) != 0)
		return -1;
	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		if (!lcore->aggregates)
			continue;
		if (create_shard(aggregation, lcore->shard_index, lcore_id) != 0)
			return -1;
		lcore->shard = &aggregation->shard[lcore->shard_index];
		lcore->shard->sleeper = &lcore->sleeper;
	}
	return 0;
}

void
aggregation_drain(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];
		void *mbuf;

		while (lcore->shard != NULL && rte_ring_dequeue(lcore->shard->inbox, &mbuf) == 0) {
			lcore->counters.drops[DROP_AGGREGATE_INBOX]++;
			rte_pktmbuf_free(mbuf);
		}
	}
}

void
aggregation_counters(const struct aggregation *aggregation, struct aggregate_counters *counters)
{
	*counters = (struct aggregate_counters){0};
	for (uint32_t s = 0; s < aggregation->shard_count; s++) {
		struct aggregate_counters shard;

		aggregate_shard_counters(aggregation->shard[s].state, &shard);
		counters_add(counters, &shard, sizeof(shard));
	}
}

void
aggregation_free(struct app *app)
{
	struct aggregation *aggregation = app->aggregation;

	if (aggregation == NULL)
		return;
	for (uint32_t s = 0; s < aggregation->shard_count; s++)
		rte_ring_free(aggregation->shard[s].inbox);
	rte_free(aggregation->table);
	rte_free(aggregation->parent_link);
	aggregate_secret_free(aggregation->secret);
	rte_free(aggregation);
	app->aggregation = NULL;
}
