/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums that workers give in the place of values: the bits of the oracle, whoever adds up
 * what, over good networks and bad ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_format.h>

#include "cases.h"
#include "register_switch.h"
#include "network.h"
#include "plays.h"

#define VECTORS 12

struct job {
	struct place place;
	struct vector *vector; /* of as many workers as there are vectors to add */
	bool all_totals;       /* else who has one vector only gives that */
	unsigned int rounds;
	uint32_t divisor; /* of means; 0: the number of workers */
};

/* The vectors are dealt to the workers, in turn and then the rest to the last one. */
static bool
has(unsigned int w, unsigned int n, unsigned int v)
{
	return v < n ? v == w : w == n - 1;
}

static unsigned int
number_of(unsigned int w, unsigned int n, unsigned int vectors)
{
	unsigned int number = 0;

	for (unsigned int v = 0; v < vectors; v++)
		number += has(w, n, v);
	return number;
}

static int
reduce(struct netfc_allreduce *comm, const struct job *job, unsigned int w, unsigned int n,
	uint8_t *result)
{
	const struct vector *vector = job->vector;
	const unsigned int bytes = netfc_allreduce_value_bytes(vector->format);
	struct netfc_allreduce_totals *totals;
	int status;

	if (!job->all_totals && number_of(w, n, vector->workers) == 1) {
		memcpy(result, vector->values[w], (size_t)vector->count * bytes);
		return netfc_allreduce(comm, result, vector->count, vector->format, vector->op);
	}
	totals = netfc_allreduce_totals_new(vector->format, vector->count);
	if (totals == NULL)
		abort();
	/* What was there before is forgotten. */
	netfc_allreduce_totals_add(totals, vector->values[0]);
	netfc_allreduce_totals_clear(totals);
	for (unsigned int v = 0; v < vector->workers; v++) {
		if (has(w, n, v))
			netfc_allreduce_totals_add(totals, vector->values[v]);
	}
	netfc_allreduce_totals_divide(totals, job->divisor);
	status = netfc_allreduce_digits(comm, totals, result, vector->op);
	netfc_allreduce_totals_free(totals);
	return status;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	const struct job *job = context;
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&job->place, w, n);
	size_t bytes =
		(size_t)job->vector->count * aggregate_result_value_bytes(job->vector->format);
	uint8_t *result = malloc(bytes);
	int status;

	status = netfc_allreduce_join(comm, &options);
	for (unsigned int round = 0; round < job->rounds && status == NETFC_ALLREDUCE_OK; round++) {
		memset(result, 0xa5, bytes);
		status = reduce(comm, job, w, n, result);
		if (status == NETFC_ALLREDUCE_OK && vector_differs(job->vector, result))
			status = NETFC_ALLREDUCE_STATUS_COUNT;
	}
	if (status != NETFC_ALLREDUCE_OK)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	free(result);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return status;
}

static void
run(struct job *job, unsigned int workers)
{
	assert_int_equal(workers_run(workers, work, job), 0);
	vector_free(job->vector);
}

/* Every format; 12 vectors at 1, 2, 3, 5 and 12 workers. */
SERVER_TEST(test_formats)
{
	static const unsigned int teams[] = {1, 2, 3, 5, VECTORS};

	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++) {
		for (unsigned int t = 0; aggregate_is_format(format) && t < 5; t++) {
			struct job job = {.place = place_at(server_port(server)),
				.rounds = 1,
				.all_totals = t % 2 == 0,
				.vector = vector_new(format, NETFC_ALLREDUCE_SUM, VECTORS,
					t == 1 ? 1 : 1500, format)};

			run(&job, teams[t]);
		}
	}
	assert_true(server_count(server, AGGREGATE_COMPLETED) > 0);
}

/* A mean is over workers. */
SERVER_TEST(test_means)
{
	for (unsigned int workers = 1; workers <= 64; workers = workers * 2 + 1) {
		struct job job = {.place = place_at(server_port(server)),
			.rounds = 1,
			.all_totals = true,
			.vector = vector_new(
				NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MEAN, workers, 800, workers)};

		run(&job, workers);
	}
}

/* Every format and pair; 12 vectors, and by that many it is divided, at 1, 2, 3, 5 and 12 workers.
 */
SERVER_TEST(test_means_of_vectors)
{
	static const unsigned int teams[] = {1, 2, 3, 5, VECTORS};

	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) {
		struct job job = {.place = place_at(server_port(server)),
			.rounds = 1,
			.all_totals = true,
			.divisor = VECTORS};

		if (!aggregate_has_format(AGGREGATE_MEAN, format))
			continue;
		job.vector = vector_new(format, NETFC_ALLREDUCE_MEAN, VECTORS, 1500, format);
		run(&job, teams[format % 5]);
	}
}

/* Of two digits a lane, as of similar numbers: two packets for each chunk of 356 lanes. */
static int
send_ten_chunks(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 3560);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(context, w, n);
	static float values[3560], result[3560];
	int status;

	for (unsigned int i = 0; i < 3560; i++)
		values[i] = 0x1.fffffep0f;
	options.bytes = 1448;
	netfc_allreduce_totals_add(totals, values);
	netfc_allreduce_totals_divide(totals, 1);
	status = netfc_allreduce_join(comm, &options);
	if (status == NETFC_ALLREDUCE_OK)
		status = netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_MEAN);
	if (memcmp(values, result, sizeof(values)) != 0)
		status = NETFC_ALLREDUCE_STATUS_COUNT;
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	netfc_allreduce_totals_free(totals);
	return status;
}

SERVER_TEST(test_chunks_fill_parts)
{
	struct place place = place_at(server_port(server));

	assert_int_equal(workers_run(1, send_ten_chunks, &place), 0);
	assert_int_equal(server_count(server, AGGREGATE_COMPLETED), 10);
	assert_int_equal(server_count(server, AGGREGATE_ADDED), 10);
}

/* A worker says another divisor, or none; all are told. */
struct divided {
	struct place place;
	uint32_t other;
};

static int
divide_differently(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 1);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	const struct divided *divided = context;
	struct netfc_allreduce_options options = worker_options(&divided->place, w, n);
	const float one = 1;
	float result;
	int status;

	netfc_allreduce_totals_add(totals, &one);
	netfc_allreduce_totals_divide(totals, w == 1 ? divided->other : 7);
	status = netfc_allreduce_join(comm, &options);
	if (status == NETFC_ALLREDUCE_OK)
		status = netfc_allreduce_digits(comm, totals, &result, NETFC_ALLREDUCE_MEAN);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	netfc_allreduce_totals_free(totals);
	return status == NETFC_ALLREDUCE_MISMATCH ? NETFC_ALLREDUCE_OK
						  : NETFC_ALLREDUCE_STATUS_COUNT;
}

SERVER_TEST(test_divisors_that_differ)
{
	struct divided divided = {.place = place_at(server_port(server))};

	for (; divided.other < 2; divided.other++)
		assert_int_equal(workers_run(3, divide_differently, &divided), 0);
}

/* Parts are lost, repeated and come in any order, at several shards. */
TEST(test_bad_network)
{
	static const unsigned int formats[] = {
		NETFC_ALLREDUCE_FP64, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_POSIT16_ES2};

	for (unsigned int f = 0; f < 3; f++) {
		const struct relay_options bad = {
			.seed = f, .lost = 0.1, .repeated = 0.1, .delayed = 0.3, .delay_us = 1000};
		struct network network = network_start(&(struct server_options){.shards = 3}, &bad);
		struct job job = {.place = network.place,
			.rounds = 2,
			.vector = vector_new(formats[f], NETFC_ALLREDUCE_SUM, VECTORS, 5000, f)};

		run(&job, 4);
		assert_true(server_count(network.server, AGGREGATE_DUPLICATE) > 0);
		assert_int_equal(server_count(network.server, AGGREGATE_BAD_PARTS), 0);
		network_stop(&network);
	}
}

/* ---- what is refused ------------------------------------------------------------------------- */

static struct netfc_allreduce *
join_alone(uint16_t port, unsigned int bytes)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct place place = place_of(1, &port);
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);

	options.bytes = bytes;
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_OK);
	return comm;
}

TEST(test_a_switch_without_digits)
{
	struct server *server = server_start(&(struct server_options){.no_digits = true});
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 4);
	struct netfc_allreduce *comm = join_alone(server_port(server), 0);
	float result[4];

	assert_int_equal(netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_MISMATCH);
	assert_non_null(strstr(netfc_allreduce_error(comm), "--aggregate digits="));
	netfc_allreduce_free(comm);
	netfc_allreduce_totals_free(totals);
	server_stop(server);
}

/* It would take digits for values. */
TEST(test_a_switch_with_registers)
{
	struct register_switch_options options = {.format = AGGREGATE_FP16,
		.lanes = 12,
		.slots = 8,
		.workers = 1,
		.job = 7,
		.token = UINT64_C(0x0123456789abcdef)};
	struct register_switch *other = register_switch_start(&options);
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP16, 4);
	struct netfc_allreduce *comm = join_alone(register_switch_port(other), 0);
	uint16_t result[4];

	assert_int_equal(netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "takes values only"));
	assert_int_equal(register_switch_completed(other), 0);
	netfc_allreduce_free(comm);
	netfc_allreduce_totals_free(totals);
	register_switch_stop(other);
}

SERVER_TEST(test_arguments)
{
	struct netfc_allreduce *comm = join_alone(server_port(server), 256);
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP64, 4);
	double result[5] = {0};
	struct netfc_collective other = {.kind = NETFC_COLLECTIVE_DIGITS,
		.format = NETFC_ALLREDUCE_FP64,
		.op = NETFC_ALLREDUCE_SUM,
		.values = totals,
		.result = result,
		.count = 5};

	assert_null(netfc_allreduce_totals_new(AGGREGATE_FORMAT_END, 1));
	assert_null(netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 0));
	assert_int_equal(netfc_allreduce_digits(comm, NULL, result, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_allreduce_digits(comm, totals, NULL, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_MIN),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_collective(comm, &other), NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "totals are 4"));
	/* A lane of fp64 may have 273 bytes. */
	assert_int_equal(netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "too small"));
	assert_int_equal(
		netfc_allreduce(comm, result, 1, NETFC_ALLREDUCE_FP64, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_OK);
	netfc_allreduce_totals_free(totals);
	netfc_allreduce_totals_free(NULL);
	netfc_allreduce_free(comm);
}
