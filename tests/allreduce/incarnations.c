/* SPDX-License-Identifier: BSD-3-Clause */
#include "incarnations.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "exact.h"

#define SAID 5 /* complaints of each kind */

/* What the workers of one job share. */
struct common_job {
	struct incarnations *all;
	unsigned int number;
	unsigned int incarnation;
	pthread_barrier_t barrier;
	atomic_bool failed; /* something has, in this incarnation */
	bool over;
};

struct member {
	pthread_t thread;
	struct common_job *job;
	unsigned int worker;
};

/* An allreduce, the same for all workers of a job. */
struct task {
	unsigned int job, incarnation, round;
	unsigned int format, op;
	uint32_t count;
};

static uint64_t
mix(uint64_t x)
{
	return next_random(&x);
}

static uint64_t
mix_task(const struct task *task)
{
	return mix(mix(mix(task->job) + task->incarnation) + task->round);
}

static struct task
task_of(const struct common_job *job, unsigned int round)
{
	static const unsigned int formats[] = {NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_INT32};
	static const unsigned int ops[] = {
		NETFC_ALLREDUCE_SUM, NETFC_ALLREDUCE_MIN, NETFC_ALLREDUCE_MAX};
	struct task task = {
		.job = job->number,
		.incarnation = job->incarnation,
		.round = round,
		.format = formats[0],
		.op = ops[0],
		.count = job->all->count,
	};
	uint64_t chosen = mix_task(&task);

	if (job->all->varies) {
		task.format = formats[chosen % 2];
		task.op = ops[chosen / 2 % 3];
		task.count = 1 + (uint32_t)(chosen / 6 % job->all->count);
	}
	return task;
}

/* A worker's value: an integer of 18 bits, so that sums are exact in both formats. */
static int32_t
value_of(uint64_t mixed, unsigned int worker, uint32_t i)
{
	return (int32_t)(mix(mixed + ((uint64_t)worker << 32) + i) >> 46) - (1 << 17);
}

static uint32_t
bits_of(unsigned int format, int32_t value)
{
	float single = (float)value;
	uint32_t bits;

	if (format == NETFC_ALLREDUCE_FP32)
		memcpy(&bits, &single, sizeof(bits));
	else
		memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int32_t
reduce(unsigned int op, int32_t a, int32_t b)
{
	if (op == NETFC_ALLREDUCE_SUM)
		return a + b;
	return (a < b) == (op == NETFC_ALLREDUCE_MIN) ? a : b;
}

static void
fill(const struct task *task, unsigned int worker, uint32_t *values)
{
	uint64_t mixed = mix_task(task);

	for (uint32_t i = 0; i < task->count; i++)
		values[i] = bits_of(task->format, value_of(mixed, worker, i));
}

static void
check(struct incarnations *all, const struct task *task, const uint32_t *values)
{
	uint64_t mixed = mix_task(task), wrong = 0;

	for (uint32_t i = 0; i < task->count; i++) {
		int32_t expected = value_of(mixed, 0, i);

		for (unsigned int w = 1; w < all->workers; w++)
			expected = reduce(task->op, expected, value_of(mixed, w, i));
		wrong += values[i] != bits_of(task->format, expected);
	}
	if (wrong > 0 && atomic_fetch_add(&all->tally.wrong, wrong) < SAID)
		fprintf(stderr, "job %u, incarnation %u, round %u: %llu of %u values are wrong\n",
			task->job, task->incarnation, task->round, (unsigned long long)wrong,
			task->count);
	atomic_fetch_add(&all->tally.allreduces, 1);
}

static void
fail(struct common_job *job, unsigned int worker, const char *what, int status,
	const struct netfc_allreduce *comm)
{
	atomic_store(&job->failed, true);
	if (atomic_fetch_add(&job->all->tally.errors, 1) < SAID)
		fprintf(stderr, "job %u, incarnation %u, worker %u, %s: %s: %s\n", job->number,
			job->incarnation, worker, what, netfc_allreduce_status_name(status),
			netfc_allreduce_error(comm));
}

static void
live(struct member *member, struct netfc_allreduce *comm, uint32_t *values)
{
	struct common_job *job = member->job;
	struct incarnations *all = job->all;
	const struct place *place =
		&all->places[mix(job->number + 100 * job->incarnation) % all->place_count];
	struct netfc_allreduce_options options =
		worker_options(place, member->worker, all->workers);
	int status;

	options.job = (uint16_t)job->number;
	options.rto_max_us = all->rto_max_us;
	status = netfc_allreduce_join(comm, &options);
	if (status != NETFC_ALLREDUCE_OK) {
		fail(job, member->worker, "join", status, comm);
		return;
	}
	atomic_fetch_add(&all->tally.joins, 1);
	for (unsigned int round = 0; round < all->rounds; round++) {
		struct task task = task_of(job, round);

		fill(&task, member->worker, values);
		status = netfc_allreduce(comm, values, task.count, task.format, task.op);
		if (status != NETFC_ALLREDUCE_OK) {
			fail(job, member->worker, "allreduce", status, comm);
			break;
		}
		check(all, &task, values);
	}
	netfc_allreduce_leave(comm);
}

static bool
is_enough(const struct incarnations *all, unsigned int incarnation)
{
	return incarnation > all->times || clock_now() >= all->until ||
		(all->errors_most > 0 && all->tally.errors >= all->errors_most);
}

/* All members have come here. Is there another incarnation? */
static bool
is_another(struct common_job *job)
{
	struct incarnations *all = job->all;

	if (pthread_barrier_wait(&job->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		if (atomic_exchange(&job->failed, false))
			usleep(all->settle_ms * 1000);
		job->incarnation++;
		job->over = is_enough(all, job->incarnation);
	}
	pthread_barrier_wait(&job->barrier);
	return !job->over;
}

static void *
run(void *argument)
{
	struct member *member = argument;
	uint32_t *values = malloc(member->job->all->count * sizeof(*values));
	struct netfc_allreduce *comm = netfc_allreduce_new();

	if (values == NULL || comm == NULL)
		abort();
	while (is_another(member->job))
		live(member, comm, values);
	netfc_allreduce_free(comm);
	free(values);
	return NULL;
}

void
incarnations_run(struct incarnations *incarnations)
{
	struct common_job jobs[MAX_JOBS] = {0};
	struct member members[MAX_JOBS][MAX_WORKERS];

	for (unsigned int j = 0; j < incarnations->jobs; j++) {
		jobs[j].all = incarnations;
		jobs[j].number = j;
		pthread_barrier_init(&jobs[j].barrier, NULL, incarnations->workers);
		for (unsigned int w = 0; w < incarnations->workers; w++) {
			members[j][w] = (struct member){.job = &jobs[j], .worker = w};
			if (pthread_create(&members[j][w].thread, NULL, run, &members[j][w]) != 0)
				abort();
		}
	}
	for (unsigned int j = 0; j < incarnations->jobs; j++) {
		for (unsigned int w = 0; w < incarnations->workers; w++)
			pthread_join(members[j][w].thread, NULL);
		pthread_barrier_destroy(&jobs[j].barrier);
	}
}
