/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch that leaves rounding to the workers: the bits are those of one that rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "register_switch.h"
#include "relay.h"
#include "workers.h"

#define LANES 12

struct job {
	struct place place;
	struct vector *vector;
};

static int
work(unsigned int w, unsigned int n, void *context)
{
	struct job *job = context;
	struct netfc_allreduce_options options = worker_options(&job->place, w, n);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	const struct vector *vector = job->vector;
	const size_t width = aggregate_value_bytes(vector->format);
	uint8_t *data = malloc(width * vector->count);
	struct netfc_allreduce_handle *handle;
	unsigned int flags = ~0u;
	int wrong;

	if (data == NULL)
		abort();
	memcpy(data, vector->values[w], width * vector->count);
	options.slots = 16;
	wrong = netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK ||
		netfc_allreduce_start(comm, data, vector->count, vector->format, vector->op, 0,
			&handle) != NETFC_ALLREDUCE_OK ||
		netfc_allreduce_wait(&handle, -1, &flags) != NETFC_ALLREDUCE_OK;
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	else
		wrong = vector_differs(vector, data) || flags != vector->flags;
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	free(data);
	return wrong;
}

static void
reduce(enum aggregate_format format, unsigned int workers, unsigned int op, uint32_t count,
	bool bad)
{
	const struct register_switch_options options = {
		.format = format,
		.lanes = LANES,
		.slots = 16,
		.workers = workers,
		.job = 7,
		.token = UINT64_C(0x0123456789abcdef),
	};
	struct register_switch *self = register_switch_start(&options);
	struct relay_options network = {.shards = 1,
		.seed = count,
		.lost = 0.1,
		.repeated = 0.1,
		.delayed = 0.2,
		.delay_us = 500};
	struct relay *relay = NULL;
	struct job job = {.vector = vector_new(format, op, workers, count, count)};
	uint16_t port;

	assert_non_null(self);
	port = network.to = register_switch_port(self);
	if (bad) {
		relay = relay_start(&network);
		port = relay_port(relay);
	}
	job.place = place_of(1, &port);
	assert_int_equal(workers_run(workers, work, &job), 0);
	assert_int_equal(register_switch_completed(self), (count + LANES - 1) / LANES);
	if (bad)
		relay_stop(relay);
	register_switch_stop(self);
	vector_free(job.vector);
}

/* Lengths around one chunk: what is missing is filled up with zeros. */
TEST(test_sums)
{
	static const uint32_t counts[] = {1, LANES - 1, LANES, LANES + 1, 1000};

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		reduce(AGGREGATE_FP16, 1 + i, NETFC_ALLREDUCE_SUM, counts[i], false);
		reduce(AGGREGATE_FP16, 5 - i, NETFC_ALLREDUCE_MEAN, counts[i], false);
		reduce(AGGREGATE_INT32, 5 - i, NETFC_ALLREDUCE_SUM, counts[i], false);
		reduce(AGGREGATE_INT32, 1 + i, NETFC_ALLREDUCE_MEAN, counts[i], false);
		reduce(AGGREGATE_FP8_E4M3, 1 + i, NETFC_ALLREDUCE_SUM, counts[i], false);
		reduce(AGGREGATE_FP8_E4M3, 5 - i, NETFC_ALLREDUCE_MEAN, counts[i], false);
	}
}

TEST(test_most_workers)
{
	reduce(AGGREGATE_FP16, 32, NETFC_ALLREDUCE_SUM, 500, false);
	reduce(AGGREGATE_INT32, 32, NETFC_ALLREDUCE_MEAN, 500, false);
}

TEST(test_bad_network)
{
	reduce(AGGREGATE_FP16, 4, NETFC_ALLREDUCE_SUM, 2500, true);
	reduce(AGGREGATE_FP16, 3, NETFC_ALLREDUCE_MEAN, 1000, true);
	reduce(AGGREGATE_INT32, 4, NETFC_ALLREDUCE_SUM, 2500, true);
	reduce(AGGREGATE_FP8_E4M3, 3, NETFC_ALLREDUCE_MEAN, 1000, true);
}
