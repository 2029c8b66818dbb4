/* SPDX-License-Identifier: BSD-3-Clause */
#include "workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

struct place
place_of(unsigned int switches, const uint16_t *ports)
{
	struct place place = {.switches = switches};

	for (unsigned int i = 0; i < switches; i++) {
		place.ports[i] = ports[i];
		snprintf(place.text[i], sizeof(place.text[i]), "127.0.0.1:%u", ports[i]);
	}
	return place;
}

struct place
place_at(uint16_t port)
{
	return place_of(1, &port);
}

struct netfc_allreduce_options
worker_options(const struct place *place, unsigned int w, unsigned int n)
{
	static _Thread_local const char *addresses[4];
	struct netfc_allreduce_options options;

	for (unsigned int i = 0; i < place->switches; i++)
		addresses[i] = place->text[i];
	netfc_allreduce_options_init(&options, sizeof(options));
	options.switches = addresses;
	options.switch_count = place->switches;
	options.job = 7;
	options.token = UINT64_C(0x0123456789abcdef);
	options.worker = w;
	options.workers = n;
	/* A busy machine stands still for seconds: these limits only end what hangs. */
	options.join_ms = options.deadline_ms = options.silence_ms = 600000;
	options.rto_max_us = 50000;
	return options;
}

struct netfc_allreduce *
worker_join(const struct netfc_allreduce_options *options)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();

	if (netfc_allreduce_join(comm, options) == NETFC_ALLREDUCE_OK)
		return comm;
	fprintf(stderr, "worker %u: %s\n", options->worker, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return NULL;
}

struct work {
	pthread_t thread;
	unsigned int worker, workers;
	worker_body body;
	void *context;
	int result;
};

static void *
run(void *argument)
{
	struct work *work = argument;

	work->result = work->body(work->worker, work->workers, work->context);
	return NULL;
}

int
workers_run(unsigned int n, worker_body body, void *context)
{
	struct work work[MAX_WORKERS];
	int sum = 0;

	for (unsigned int w = 0; w < n; w++) {
		work[w] =
			(struct work){.worker = w, .workers = n, .body = body, .context = context};
		if (pthread_create(&work[w].thread, NULL, run, &work[w]) != 0)
			abort();
	}
	for (unsigned int w = 0; w < n; w++) {
		pthread_join(work[w].thread, NULL);
		sum += work[w].result;
	}
	return sum;
}

static void
put(unsigned int bytes, uint8_t *values, uint32_t i, uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	const uint16_t half = (uint16_t)bits;

	if (bytes == 1)
		values[i] = (uint8_t)bits;
	else if (bytes == 2)
		memcpy(values + 2 * (size_t)i, &half, sizeof(half));
	else if (bytes == 4)
		memcpy(values + 4 * (size_t)i, &word, sizeof(word));
	else
		memcpy(values + 8 * (size_t)i, &bits, sizeof(bits));
}

static void *
allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory == NULL)
		abort();
	return memory;
}

struct vector *
vector_new(
	unsigned int format, unsigned int op, unsigned int workers, uint32_t count, uint64_t seed)
{
	struct vector *vector = allocate(sizeof(*vector));
	unsigned int bytes = aggregate_value_bytes(format);

	*vector = (struct vector){.format = format, .op = op, .workers = workers, .count = count};
	for (unsigned int w = 0; w < workers; w++)
		vector->values[w] = allocate((size_t)count * bytes);
	vector->expected = allocate((size_t)count * aggregate_result_value_bytes(format));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t lane[MAX_WORKERS];
		struct oracle_result result;

		data_fill((enum data_kind)(i % DATA_KINDS), format, lane, workers, &seed);
		result = oracle_reduce(op, format, lane, workers);
		for (unsigned int w = 0; w < workers; w++)
			put(bytes, vector->values[w], i, lane[w]);
		put(aggregate_result_value_bytes(format), vector->expected, i, result.bits);
		vector->flags |= result.flags;
	}
	return vector;
}

void
vector_free(struct vector *vector)
{
	for (unsigned int w = 0; w < vector->workers; w++)
		free(vector->values[w]);
	free(vector->expected);
	free(vector);
}

int
vector_differs(const struct vector *vector, const uint8_t *result)
{
	unsigned int bytes = aggregate_result_value_bytes(vector->format);

	for (uint32_t i = 0; i < vector->count * bytes; i++) {
		if (result[i] != vector->expected[i]) {
			fprintf(stderr, "%s of %u workers, %s: value %u of %u differs\n",
				aggregate_op_name(vector->op), vector->workers,
				aggregate_format_name(vector->format), i / bytes, vector->count);
			return 1;
		}
	}
	return 0;
}
