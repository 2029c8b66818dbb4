/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All collectives: every byte is what it should be and nothing else is written, for 1 to 64
 * workers, over good networks and bad ones. Some chunks are zeros, at one worker or at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_format.h>

#include "cases.h"
#include "network.h"
#include "plays.h"

#define UNTOUCHED 0xa5
#define FORMAT NETFC_ALLREDUCE_FP32
#define OP NETFC_ALLREDUCE_SUM

/* A collective as all workers call it. */
struct call {
	unsigned int kind, root;
	uint64_t count;
	bool in_place;
};

struct job {
	struct place place;
	unsigned int slots, rounds;
	bool lossy;
	const char *key_file;
};

/* ---- what it should come to ------------------------------------------------------------------ */

/* Half a chunk of values is 0 at all workers, or at one in three, or at none. */
static bool
is_zero(unsigned int worker, uint64_t i)
{
	const uint64_t block = i / 181 % 11;

	return block >= 8 || (block >= 2 && block < 6 && (block + worker) % 3 == 0);
}

/* Small integers: their sums are exact in fp32. */
static float
value_of(unsigned int worker, uint64_t i)
{
	if (is_zero(worker, i))
		return 0;
	return (float)((i * 7 + worker * 131) % 1021) - 300;
}

static float
sum_of(unsigned int workers, uint64_t i)
{
	float sum = 0;

	for (unsigned int w = 0; w < workers; w++)
		sum += value_of(w, i);
	return sum;
}

static uint8_t
byte_of(unsigned int worker, uint64_t i)
{
	if (is_zero(worker, i / sizeof(float)))
		return 0;
	return (uint8_t)(i * 13 + worker * 57 + (i >> 8));
}

static bool
is_reduction(const struct call *call)
{
	return call->kind <= NETFC_COLLECTIVE_REDUCE_SCATTER;
}

static uint64_t
unit(const struct call *call)
{
	return is_reduction(call) ? sizeof(float) : 1;
}

/* Blocks of what a worker gives, and of what it gets. */
static uint64_t
blocks_given(const struct call *call, unsigned int n)
{
	return call->kind == NETFC_COLLECTIVE_REDUCE_SCATTER ? n : 1;
}

static uint64_t
blocks_taken(const struct call *call, unsigned int n)
{
	return call->kind == NETFC_COLLECTIVE_ALLGATHER ? n : 1;
}

/* Elements are floats or bytes. */
static void
put(const struct call *call, uint8_t *array, uint64_t i, float value, uint8_t byte)
{
	if (is_reduction(call))
		memcpy(array + i * sizeof(value), &value, sizeof(value));
	else
		array[i] = byte;
}

static void
expect(const struct call *call, unsigned int w, unsigned int n, uint8_t *result)
{
	uint64_t first = call->kind == NETFC_COLLECTIVE_REDUCE_SCATTER ? w * call->count : 0;

	for (uint64_t b = 0; b < blocks_taken(call, n); b++) {
		unsigned int from =
			call->kind == NETFC_COLLECTIVE_ALLGATHER ? (unsigned int)b : call->root;

		for (uint64_t i = 0; i < call->count; i++)
			put(call, result, b * call->count + i, sum_of(n, first + i),
				byte_of(from, i));
	}
}

static bool
gets_nothing(const struct call *call, unsigned int w)
{
	return (call->kind == NETFC_COLLECTIVE_REDUCE && call->root != w) ||
		call->kind == NETFC_COLLECTIVE_BARRIER;
}

/* ---- calling it ------------------------------------------------------------------------------ */

static uint8_t *
allocate(uint64_t bytes)
{
	uint8_t *memory = malloc(bytes + 1);

	if (memory == NULL)
		abort();
	memset(memory, UNTOUCHED, bytes + 1);
	return memory;
}

static int
say_wrong(const char *what, const struct call *call, unsigned int w, unsigned int n,
	const struct netfc_allreduce *comm)
{
	fprintf(stderr, "%s: kind %u, %llu, root %u, worker %u of %u%s: %s\n", what, call->kind,
		(unsigned long long)call->count, call->root, w, n,
		call->in_place ? ", in place" : "", netfc_allreduce_error(comm));
	return 1;
}

static int
run_collective(struct netfc_allreduce *comm, const struct netfc_collective *collective, bool starts)
{
	/* The same at all workers. */
	const uint32_t label = (uint32_t)(collective->count % 3);
	struct netfc_allreduce_handle *handle;
	int status;

	if (!starts && label == 0)
		return netfc_collective(comm, collective);
	status = netfc_collective_start_labelled(comm, collective, label, !starts, &handle);
	return status == NETFC_ALLREDUCE_OK ? netfc_allreduce_wait(&handle, -1, NULL) : status;
}

/* What is given may be where results go: there is one array then, of the larger of both. */
static int
play(struct netfc_allreduce *comm, const struct call *call, unsigned int w, unsigned int n)
{
	uint64_t block = call->count * unit(call);
	uint64_t given = block * blocks_given(call, n), taken = block * blocks_taken(call, n);
	uint64_t both = given > taken ? given : taken;
	bool in_place = call->in_place || call->kind == NETFC_COLLECTIVE_BROADCAST;
	uint8_t *values = allocate(both), *result = in_place ? values : allocate(taken);
	uint8_t *expected = allocate(both);
	struct netfc_collective collective = {.kind = call->kind,
		.format = FORMAT,
		.op = OP,
		.root = call->root,
		.count = call->count};
	int status, wrong = 0;

	if (in_place && taken > given)
		values += w * block;
	if (in_place && given > taken)
		result += w * block;
	for (uint64_t i = 0; i < given / unit(call); i++)
		put(call, values, i, value_of(w, i), byte_of(w, i));
	collective.values = values;
	collective.result = result;
	if (gets_nothing(call, w))
		memcpy(expected, result, block);
	else
		expect(call, w, n, expected);
	status = run_collective(comm, &collective, (call->count + w) % 2 != 0);
	if (status != NETFC_ALLREDUCE_OK)
		wrong = say_wrong("failed", call, w, n, comm);
	else if (memcmp(result, expected, taken) != 0)
		wrong = say_wrong("wrong bytes", call, w, n, comm);
	for (uint64_t i = 0; i < given / unit(call) && !in_place && wrong == 0; i++) {
		put(call, expected, 0, value_of(w, i), byte_of(w, i));
		if (memcmp(values + i * unit(call), expected, unit(call)) != 0)
			wrong = say_wrong("changed what was given", call, w, n, comm);
	}
	if (in_place && taken > given)
		values -= w * block;
	if (!in_place && result[taken] != UNTOUCHED)
		wrong = say_wrong("wrote past the end", call, w, n, comm);
	free(values);
	free(in_place ? NULL : result);
	free(expected);
	return wrong;
}

/* Each kind with lengths around a chunk's, and more; roots in turn. */
static int
play_all(struct netfc_allreduce *comm, const struct job *job, unsigned int w, unsigned int n)
{
	static const uint64_t counts[] = {1, 361, 362, 363, 1447, 1449, 3001};
	int wrong = 0;

	for (unsigned int kind = 0; kind < NETFC_COLLECTIVE_DIGITS; kind++) {
		for (unsigned int i = 0; i < 7 && wrong == 0; i += n > 8 || job->lossy ? 3 : 1) {
			const struct call call = {.kind = kind,
				.root = (i + kind) % n,
				.count = counts[i],
				.in_place = i % 2 != 0};

			wrong = play(comm, &call, w, n);
		}
	}
	return wrong;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	const struct job *job = context;
	struct netfc_allreduce_options options = worker_options(&job->place, w, n);
	struct netfc_allreduce *comm;
	int wrong = 0;

	options.slots = job->slots;
	options.key_file = job->key_file;
	comm = worker_join(&options);
	if (comm == NULL)
		return 1;
	for (unsigned int round = 0; round < job->rounds && wrong == 0; round++)
		wrong = play_all(comm, job, w, n);
	if (wrong == 0)
		netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

/* ---- good networks and bad ------------------------------------------------------------------- */

SERVER_TEST(test_all_kinds)
{
	static const unsigned int workers[] = {1, 2, 3, 4, 5, 8, 17, 64};

	for (unsigned int i = 0; i < 8; i++) {
		struct job job = {.place = place_at(server_port(server)), .slots = 16, .rounds = 1};

		assert_int_equal(workers_run(workers[i], work, &job), 0);
		assert_int_equal(server_count(server, AGGREGATE_MISMATCH), 0);
		assert_int_equal(server_jobs(server), 0);
	}
	assert_true(server_zeros(server) > 0);
}

static void
play_badly(unsigned int workers, unsigned int shards, unsigned int slots)
{
	const struct relay_options bad = {
		.seed = workers, .lost = 0.2, .repeated = 0.2, .delayed = 0.2, .delay_us = 1000};
	struct network network = network_start(&(struct server_options){.shards = shards}, &bad);
	struct job job = {.place = network.place, .slots = slots, .rounds = 1, .lossy = true};

	assert_int_equal(workers_run(workers, work, &job), 0);
	assert_true(server_count(network.server, AGGREGATE_REPEATED) > 0);
	assert_int_equal(server_count(network.server, AGGREGATE_MISMATCH), 0);
	network_stop(&network);
}

/* A fifth of all packets lost, a fifth sent twice, a fifth late. */
TEST(test_bad_network)
{
	play_badly(1, 1, 4);
	play_badly(2, 2, 8);
	play_badly(3, 1, 1);
	play_badly(8, 2, 64);
	play_badly(64, 1, 64);
}

/* Chunks are spread over switches, whatever blocks they are of. */
TEST(test_switches)
{
	struct server *servers[3];
	struct job job = {.slots = 8, .rounds = 2};
	uint16_t ports[3];

	for (unsigned int i = 0; i < 3; i++) {
		servers[i] = server_start(&(struct server_options){.bytes = 1448 - 100 * i});
		ports[i] = server_port(servers[i]);
	}
	job.place = place_of(3, ports);
	assert_int_equal(workers_run(4, work, &job), 0);
	for (unsigned int i = 0; i < 3; i++)
		server_stop(servers[i]);
}
