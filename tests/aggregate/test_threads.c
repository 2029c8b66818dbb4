/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shards in threads of their own, and jobs that come and go beneath them: what every worker gets is
 * right, and slots never go to a new job while a shard may still be at them. One thread plays
 * all workers of its shard's chunks; joins and leaves are played by shard 0's. With the thread
 * sanitizer it shows that nothing is shared that must not be.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "exact.h"

#define SHARDS 3
#define WORKERS 2
#define SLOTS 4
#define JOBS 4
#define ROUNDS 6 /* of chunks in a job: then its shards are done with it */
#define GENERATIONS 20000

/* A job's number changes each time; how far its shards are. */
struct play {
	uint32_t number; /* 0: there is none; stored with release */
	uint64_t session;
	uint32_t done[SHARDS]; /* the number that this shard is done with */
};

static struct aggregate_table *table;
static struct play plays[JOBS];
static bool failed, over;

static void
fail(const char *what)
{
	if (!__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED))
		printf("%s\n", what);
}

static struct aggregate_sender
sender_of(unsigned int worker)
{
	return (struct aggregate_sender){.address = {[15] = (uint8_t)(1 + worker)}, .port = 7};
}

static struct aggregate_outcome
handle(struct aggregate_shard *shard, const struct aggregate_message *message)
{
	const struct aggregate_sender sender = sender_of(message->worker);
	struct aggregate_outcome outcome;

	aggregate_shard_packet(shard, message, &sender, 1, &outcome);
	return outcome;
}

static uint32_t
value_of(uint32_t number, uint32_t chunk, unsigned int worker)
{
	return number * 1000 + chunk * 10 + worker;
}

static void
play_chunk(struct aggregate_shard *shard, uint32_t number, uint64_t session, uint32_t chunk)
{
	uint32_t sum = 0;

	for (unsigned int w = 0; w < WORKERS; w++) {
		uint8_t values[4];
		const struct aggregate_message message = {.op = AGGREGATE_SUM,
			.format = AGGREGATE_INT32,
			.count = 1,
			.job = (uint16_t)number,
			.worker = (uint8_t)w,
			.id = chunk,
			.session = session,
			.values = values};
		struct aggregate_outcome outcome;

		data_put(AGGREGATE_INT32, values, 0, value_of(number, chunk, w));
		sum += value_of(number, chunk, w);
		outcome = handle(shard, &message);
		if (outcome.action != (w + 1 < WORKERS ? AGGREGATE_ADDED : AGGREGATE_COMPLETED))
			fail(aggregate_action_name(outcome.action));
		else if (w + 1 == WORKERS &&
			data_get(AGGREGATE_INT32, outcome.entry->result, 0) != sum)
			fail("a wrong sum");
	}
}

/* All chunks of a shard's slots. */
static void
play_job(struct aggregate_shard *shard, uint32_t s, struct play *play)
{
	uint32_t number = __atomic_load_n(&play->number, __ATOMIC_ACQUIRE);

	if (number == 0 || play->done[s] == number)
		return;
	for (uint32_t chunk = 0; chunk < ROUNDS * SLOTS; chunk++)
		if (aggregate_shard_of(chunk, SLOTS, SHARDS) == s)
			play_chunk(shard, number, play->session, chunk);
	__atomic_store_n(&play->done[s], number, __ATOMIC_RELEASE);
}

static void *
run_shard(void *argument)
{
	uint32_t s = (uint32_t)(uintptr_t)argument;
	struct aggregate_shard *shard = aggregate_table_shard(table, s);

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		for (unsigned int j = 0; j < JOBS; j++)
			play_job(shard, s, &plays[j]);
		aggregate_shard_quiescent(shard);
		sched_yield();
	}
	return NULL;
}

static struct aggregate_message
control_message(unsigned int op, uint32_t number, uint64_t secret, unsigned int worker)
{
	return (struct aggregate_message){.op = (uint8_t)op,
		.job = (uint16_t)number,
		.worker = (uint8_t)worker,
		.token = secret,
		.join = {.workers = WORKERS, .slots = SLOTS, .bytes = 4, .incarnation = 1}};
}

static struct aggregate_outcome
join(struct aggregate_shard *shard, uint32_t number, unsigned int worker)
{
	struct aggregate_message message = control_message(AGGREGATE_JOIN, number, number, worker);

	message.join.cookie = handle(shard, &message).join.cookie;
	return handle(shard, &message);
}

static bool
is_done(const struct play *play)
{
	for (uint32_t s = 1; s < SHARDS; s++)
		if (__atomic_load_n(&play->done[s], __ATOMIC_ACQUIRE) != play->number)
			return false;
	return play->done[0] == play->number;
}

/* Begins a job, or ends it, or waits. Slots for three jobs are there: the fourth waits its turn. */
static void
direct(struct aggregate_shard *shard, struct play *play, uint32_t *last)
{
	struct aggregate_outcome joined;

	if (play->number != 0) {
		if (!is_done(play))
			return;
		for (unsigned int w = 0; w < WORKERS; w++) {
			const struct aggregate_message message =
				control_message(AGGREGATE_LEAVE, play->number, play->session, w);

			if (handle(shard, &message).action != AGGREGATE_LEFT)
				fail("leaving failed");
		}
		__atomic_store_n(&play->number, 0, __ATOMIC_RELEASE);
		return;
	}
	if (*last == GENERATIONS)
		return;
	join(shard, *last + 1, 0);
	joined = join(shard, *last + 1, 1);
	play->session = joined.join.session;
	if (joined.action == AGGREGATE_JOINED)
		__atomic_store_n(&play->number, ++*last, __ATOMIC_RELEASE);
}

static bool
any_left(uint32_t last)
{
	for (unsigned int j = 0; j < JOBS; j++)
		if (plays[j].number != 0)
			return true;
	return last < GENERATIONS;
}

static void
run_control(void)
{
	struct aggregate_shard *shard = aggregate_table_shard(table, 0);
	struct aggregate_info info;
	uint32_t last = 0;

	while (any_left(last) && !__atomic_load_n(&failed, __ATOMIC_RELAXED)) {
		for (unsigned int j = 0; j < JOBS; j++) {
			direct(shard, &plays[j], &last);
			play_job(shard, 0, &plays[j]);
		}
		aggregate_shard_quiescent(shard);
		aggregate_table_poll(table, 1);
		sched_yield();
	}
	if (aggregate_table_info(table, 0, &info) && !failed)
		fail("a job is left");
}

/* Reads what any thread may read. */
static void *
run_reader(void *argument)
{
	struct aggregate_counters counters;
	struct aggregate_usage usage;
	struct aggregate_info info;

	(void)argument;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		aggregate_table_usage(table, &usage);
		if (usage.jobs > JOBS || usage.slots > 3 * SLOTS)
			fail("more is in use than there is");
		for (uint16_t j = 0; j < JOBS; j++)
			if (aggregate_table_info(table, j, &info) && info.workers != WORKERS)
				fail("a job is not what it was made");
		for (uint32_t s = 0; s < SHARDS; s++)
			aggregate_shard_counters(aggregate_table_shard(table, s), &counters);
		sched_yield();
	}
	return NULL;
}

int
main(void)
{
	const struct aggregate_limits limits = {.shards = SHARDS,
		.jobs = JOBS,
		.slots = 3 * SLOTS,
		.workers = WORKERS,
		.bytes = 4,
		.formats = 1u << AGGREGATE_INT32,
		.per_address = JOBS,
		.idle = UINT64_MAX,
		.half_open = UINT64_MAX,
		.stall = UINT64_MAX,
		.cookie_period = 1000};
	struct aggregate_usage usage;
	pthread_t threads[SHARDS];

	table = aligned_alloc(AGGREGATE_ALIGN, aggregate_table_bytes(&limits));
	if (table == NULL)
		return 1;
	aggregate_table_init(table, &limits);
	pthread_create(&threads[0], NULL, run_reader, NULL);
	for (uintptr_t s = 1; s < SHARDS; s++)
		pthread_create(&threads[s], NULL, run_shard, (void *)s);
	run_control();
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (unsigned int s = 0; s < SHARDS; s++)
		pthread_join(threads[s], NULL);
	aggregate_table_usage(table, &usage);
	printf("%u jobs made, %u ended\n", (unsigned int)usage.counters.made,
		(unsigned int)usage.counters.ended);
	free(table);
	return failed ? 1 : 0;
}
