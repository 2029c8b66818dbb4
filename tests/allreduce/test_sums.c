/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results are the oracle's to the last bit: in every format, by every operation, over good networks
 * and bad ones, with several shards and switches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "clock.h"
#include "comm/comm.h"
#include "network.h"
#include "plays.h"
#include "window/window.h"

#define MAX_VECTORS 60

struct job {
	struct place place;
	struct vector *vectors[MAX_VECTORS];
	unsigned int count;
	unsigned int rounds;
	unsigned int slots;
	bool gso;
	uint64_t skip; /* chunks, after the first round */
	struct server *server;
	pthread_barrier_t barrier;
	struct netfc_allreduce_stats stats; /* of worker 0 */
	struct netfc_allreduce_info info;
};

static struct job
job_at(struct place place)
{
	return (struct job){.place = place, .rounds = 1, .slots = 64, .gso = true};
}

/* In place, or into an array of their own where results have another format. */
static int
reduce(struct netfc_allreduce *comm, const struct vector *vector, unsigned int w)
{
	const size_t bytes = (size_t)vector->count * netfc_allreduce_value_bytes(vector->format);
	const bool in_place = aggregate_is_format(vector->format);
	uint8_t *data =
		malloc((size_t)vector->count * aggregate_result_value_bytes(vector->format));
	const struct netfc_collective collective = {.format = vector->format,
		.op = vector->op,
		.values = in_place ? data : vector->values[w],
		.result = data,
		.count = vector->count};
	struct netfc_allreduce_handle *handle;
	unsigned int flags = ~0u;
	int wrong;

	if (data == NULL)
		abort();
	if (in_place)
		memcpy(data, vector->values[w], bytes);
	wrong = netfc_collective_start(comm, &collective, w % 2, &handle) != NETFC_ALLREDUCE_OK ||
		netfc_allreduce_wait(&handle, -1, &flags) != NETFC_ALLREDUCE_OK;
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	else
		wrong = vector_differs(vector, data);
	if (!wrong && flags != vector->flags) {
		fprintf(stderr, "worker %u: flags %x, not %x\n", w, flags, vector->flags);
		wrong = 1;
	}
	free(data);
	return wrong;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	struct job *job = context;
	struct netfc_allreduce_options options = worker_options(&job->place, w, n);
	struct netfc_allreduce *comm;
	int wrong = 0;

	options.slots = job->slots;
	options.gso = job->gso;
	comm = worker_join(&options);
	if (comm == NULL)
		return 1;
	for (unsigned int round = 0; round < job->rounds && !wrong; round++) {
		for (unsigned int i = 0; i < job->count && !wrong; i++)
			wrong = reduce(comm, job->vectors[i], w);
		if (job->skip == 0 || round > 0)
			continue;
		pthread_barrier_wait(&job->barrier);
		for (unsigned int k = 0; k < comm->peers; k++)
			window_skip(&comm->peer[k].window, job->skip);
		comm->calls.next_chunk += job->skip * comm->peers;
		if (w == 0)
			server_advance(job->server, (uint32_t)job->skip);
		pthread_barrier_wait(&job->barrier);
	}
	if (w == 0) {
		netfc_allreduce_stats(comm, &job->stats);
		netfc_allreduce_info(comm, &job->info);
	}
	if (netfc_allreduce_leave(comm) != NETFC_ALLREDUCE_OK) {
		fprintf(stderr, "worker %u leaving: %s\n", w, netfc_allreduce_error(comm));
		wrong = 1;
	}
	netfc_allreduce_free(comm);
	return wrong;
}

static void
run(struct job *job, unsigned int workers)
{
	assert_int_equal(workers_run(workers, work, job), 0);
	for (unsigned int i = 0; i < job->count; i++)
		vector_free(job->vectors[i]);
}

static void
add_vector(
	struct job *job, unsigned int format, unsigned int op, unsigned int workers, uint32_t count)
{
	assert_in_range(job->count, 0, MAX_VECTORS - 1);
	job->vectors[job->count] = vector_new(format, op, workers, count, 1 + job->count);
	job->count++;
}

/* Every format, and pair of them, by every operation; lengths around one chunk, and more. */
SERVER_TEST(test_formats)
{
	static const uint32_t counts[] = {1, 361, 725, 1449, 3000};

	for (unsigned int workers = 1; workers <= 8; workers++) {
		struct job job = job_at(place_at(server_port(server)));

		for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++)
			for (unsigned int op = NETFC_ALLREDUCE_SUM; op <= NETFC_ALLREDUCE_MAX; op++)
				if (aggregate_has_format(op, format))
					add_vector(&job, format, op, workers,
						counts[(format + op + workers) % 5]);
		run(&job, workers);
		assert_int_equal(server_jobs(server), 0);
	}
}

static void
bad_network(unsigned int shards, unsigned int slots, unsigned int workers, bool gso)
{
	const struct relay_options bad = {.seed = shards * 1000 + slots,
		.lost = 0.2,
		.repeated = 0.1,
		.delayed = 0.3,
		.delay_us = 1000};
	struct network network = network_start(&(struct server_options){.shards = shards}, &bad);
	struct job job = job_at(network.place);

	job.slots = slots;
	job.gso = gso;
	job.rounds = 2;
	add_vector(
		&job, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM, workers, slots > 1 ? 20000 : 5000);
	add_vector(
		&job, NETFC_ALLREDUCE_BF16, NETFC_ALLREDUCE_MEAN, workers, slots > 1 ? 7777 : 777);
	add_vector(&job, NETFC_ALLREDUCE_POSIT16, NETFC_ALLREDUCE_SUM, workers, 1);
	run(&job, workers);
	assert_true(job.stats.retransmitted > 0);
	assert_int_equal(job.info.sockets, shards);
	network_stop(&network);
}

/* 20 % of all packets lost, 10 % repeated, 30 % in another order. */
TEST(test_bad_network)
{
	bad_network(1, 64, 4, true);
	bad_network(2, 16, 3, false);
	bad_network(4, 32, 4, true);
	bad_network(3, 8, 2, true);
	bad_network(1, 1, 2, true);
}

static void
several_switches(unsigned int switches, bool bad)
{
	struct network networks[4];
	uint16_t ports[4];
	struct job job;

	for (unsigned int i = 0; i < switches; i++) {
		/* Each grants something else. */
		const struct server_options options = {
			.shards = 1 + i, .slots = 16u << i, .bytes = 1448 - 100 * i};
		const struct relay_options relay = {.seed = i, .lost = 0.1, .repeated = 0.1};

		networks[i] = network_start(&options, bad ? &relay : NULL);
		ports[i] = networks[i].place.ports[0];
	}
	job = job_at(place_of(switches, ports));
	job.rounds = 2;
	for (uint32_t count = 1; count < 40000; count = count * 7 + 1)
		add_vector(&job, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM, 3, count);
	run(&job, 3);
	assert_int_equal(job.info.switches, switches);
	assert_int_equal(job.info.bytes, 1448 - 100 * (switches - 1));
	for (unsigned int i = 0; i < switches; i++)
		network_stop(&networks[i]);
}

TEST(test_switches)
{
	several_switches(2, false);
	several_switches(3, true);
	several_switches(4, true);
}

/* Chunk numbers pass 2^32: the server's entries and the workers are put shortly before it. */
TEST(test_wrap_around)
{
	struct server *server = server_start(&(struct server_options){.renumbers = true});
	struct job job = job_at(place_at(server_port(server)));

	job.slots = 4;
	job.server = server;
	job.rounds = 5;
	/* 8 chunks, as many as there are entries */
	add_vector(&job, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM, 3, 8 * 362);
	job.skip = (UINT64_C(1) << 32) - 24;
	pthread_barrier_init(&job.barrier, NULL, 3);
	run(&job, 3);
	pthread_barrier_destroy(&job.barrier);
	assert_int_equal(server_count(server, AGGREGATE_COMPLETED), 5 * 8);
	server_stop(server);
}

/* Segmentation offload makes no difference but to the number of system calls. */
/* Nobody listens for the reply to a keep-alive of a job that is left. */
SERVER_TEST(test_leaving_ends_listening)
{
	const struct place place = place_at(server_port(server));
	const struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	struct netfc_allreduce *comm = worker_join(&options);

	assert_non_null(comm);
	pthread_mutex_lock(&comm->lock);
	comm->keepalive_until = clock_now() + 60 * NS_PER_S;
	pthread_mutex_unlock(&comm->lock);
	assert_int_equal(netfc_allreduce_leave(comm), NETFC_ALLREDUCE_OK);
	assert_int_equal(comm->keepalive_until, 0);
	netfc_allreduce_free(comm);
}

SERVER_TEST(test_gso)
{
	for (unsigned int gso = 0; gso < 2; gso++) {
		struct job job = job_at(place_at(server_port(server)));

		job.gso = gso != 0;
		add_vector(&job, NETFC_ALLREDUCE_FP16, NETFC_ALLREDUCE_SUM, 4, 100001);
		run(&job, 4);
		assert_int_equal(job.info.gso, gso); /* loopback has it */
		assert_int_equal(job.stats.sent, 100001 / 724 + 1);
		assert_int_equal(job.stats.received, job.stats.sent);
	}
}

/* Nor does it make one that the kernel hands over many results as one datagram. */
TEST(test_gro)
{
	struct server *server = server_start(&(struct server_options){.joins = true});
	struct job job = job_at(place_at(server_port(server)));

	add_vector(&job, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM, 1, 100001);
	add_vector(&job, NETFC_ALLREDUCE_FP16, NETFC_ALLREDUCE_MEAN, 1, 100001);
	run(&job, 1);
	assert_true(job.info.gro);
	server_stop(server);
}

/* The least there is: one worker, one slot, four bytes in a chunk. */
TEST(test_small)
{
	struct server *server = server_start(&(struct server_options){.bytes = 4, .slots = 1});
	struct job job = job_at(place_at(server_port(server)));

	add_vector(&job, NETFC_ALLREDUCE_FP16, NETFC_ALLREDUCE_MEAN, 1, 101);
	add_vector(&job, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MEAN, 1, 101);
	run(&job, 1);
	assert_int_equal(job.info.slots, 1);
	assert_int_equal(job.info.bytes, 4);
	server_stop(server);
}
