/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random walks: up to 64 workers and 8 slots, with numbers that wrap around, and a network that
 * loses, repeats and reorders. No worker ever gets a wrong result or is refused, and all get on.
 * Usage: aggregate_walk STEPS [SEED]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "exact.h"

#define MAX_SLOTS 8
#define MAX_IN_FLIGHT 512
#define STEPS_OF_A_JOB 100000

struct packet {
	uint32_t chunk;
	uint64_t bits; /* of a reply */
	uint8_t worker;
	bool reply;
};

struct job {
	struct aggregate_rules rules;
	unsigned int op, format;
	uint8_t owner; /* of the first chunk; 0: nobody */
	uint64_t salt;
	uint32_t first; /* number of the first chunk */
	uint32_t next[AGGREGATE_MAX_WORKERS][MAX_SLOTS];
	uint32_t loss, repetition; /* in 256 */
	unsigned int in_flight;
	struct packet flight[MAX_IN_FLIGHT];
};

static struct aggregate_entry *entries[2 * MAX_SLOTS];
static uint64_t seed, results, completed;

static void
fail(const struct job *job, const char *what)
{
	printf("%s: %u workers, %u slots, first chunk %u, %s %s\n", what, job->rules.workers,
		job->rules.slots, job->first, aggregate_format_name(job->format),
		aggregate_op_name(job->op));
	exit(1);
}

static uint32_t
below(uint32_t bound)
{
	return (uint32_t)(next_random(&seed) % bound);
}

/* Half of the values are 0, of which half have no values in their packets. */
static bool
is_zero(const struct job *job, uint32_t chunk, unsigned int worker)
{
	uint64_t mixed = ~job->salt ^ ((uint64_t)chunk << 8 | worker);

	return next_random(&mixed) % 2 == 0;
}

static uint64_t
value_of(const struct job *job, uint32_t chunk, unsigned int worker)
{
	uint64_t mixed = job->salt ^ ((uint64_t)chunk << 8 | worker);

	if (is_zero(job, chunk, worker))
		return 0;
	return next_random(&mixed) >> (64 - 8 * aggregate_value_bytes(job->format));
}

/* Chunks of another owner in turn, so that an entry has them all. */
static uint8_t
owner_of(const struct job *job, uint32_t chunk)
{
	uint32_t round = chunk / job->rules.slots;

	return job->owner == 0
		? 0
		: (uint8_t)(AGGREGATE_OWNER + (job->owner + round) % job->rules.workers);
}

static uint64_t
expected(const struct job *job, uint32_t chunk)
{
	uint64_t values[AGGREGATE_MAX_WORKERS];

	if (job->op == AGGREGATE_COPY)
		return value_of(job, chunk, owner_of(job, chunk) - AGGREGATE_OWNER);
	for (unsigned int w = 0; w < job->rules.workers; w++)
		values[w] = value_of(job, chunk, w);
	return oracle_reduce(job->op, job->format, values, job->rules.workers).bits;
}

static struct aggregate_entry *
entry_of(const struct job *job, uint32_t chunk)
{
	return entries[2 * (chunk & (job->rules.slots - 1)) +
		aggregate_entry_of(chunk, job->rules.slots)];
}

/* As if the job had run for long: all chunks before the first have been completed. */
static void
age(const struct job *job)
{
	for (uint32_t i = 1; i <= 2 * job->rules.slots; i++) {
		struct aggregate_entry *entry = entry_of(job, job->first - i);

		entry->state = AGGREGATE_COMPLETE;
		entry->chunk = job->first - i;
		entry->op = (uint8_t)job->op;
		entry->format = (uint8_t)job->format;
		entry->count = 1;
	}
}

static void
begin(struct job *job)
{
	job->rules = (struct aggregate_rules){.slots = 1u << below(4),
		.workers = (uint8_t)(1 + below(below(2) ? 4 : AGGREGATE_MAX_WORKERS)),
		.isa = below((uint32_t)aggregate_isa_best() + 1),
		.zeros = below(2),
		.stall = UINT64_MAX};
	job->op = AGGREGATE_SUM + below(5);
	job->owner = job->op == AGGREGATE_COPY || below(2) ? (uint8_t)(1 + below(99)) : 0;
	do
		job->format = 1 + below(AGGREGATE_FORMAT_END - 1);
	while (!aggregate_is_format(job->format));
	job->salt = next_random(&seed);
	job->loss = below(100);
	job->repetition = below(100);
	job->in_flight = 0;
	for (uint32_t e = 0; e < 2 * MAX_SLOTS; e++)
		entries[e]->state = AGGREGATE_EMPTY;
	job->first = below(2) ? 0 : -2 * job->rules.slots * below(20);
	if (job->first != 0)
		age(job);
	for (unsigned int w = 0; w < job->rules.workers; w++)
		for (uint32_t s = 0; s < job->rules.slots; s++)
			job->next[w][s] = job->first + s;
}

static void
launch(struct job *job, struct packet packet)
{
	if (job->in_flight < MAX_IN_FLIGHT && below(256) >= job->loss)
		job->flight[job->in_flight++] = packet;
}

static void
send_request(struct job *job)
{
	unsigned int worker = below(job->rules.workers);

	launch(job,
		(struct packet){.chunk = job->next[worker][below(job->rules.slots)],
			.worker = (uint8_t)worker});
}

static bool
has_values(const struct job *job, const struct packet *packet)
{
	uint8_t owner = owner_of(job, packet->chunk);

	return owner == 0 ||
		(owner == AGGREGATE_OWNER + packet->worker) != (job->op == AGGREGATE_COPY);
}

static void
receive_reply(struct job *job, const struct packet *packet)
{
	uint32_t *next = &job->next[packet->worker][packet->chunk & (job->rules.slots - 1)];

	if (*next != packet->chunk)
		return;
	if (has_values(job, packet) && packet->bits != expected(job, packet->chunk))
		fail(job, "a wrong result");
	*next += job->rules.slots;
	results++;
}

static void
reply(struct job *job, const struct aggregate_entry *entry, unsigned int worker)
{
	struct packet packet = {.chunk = entry->chunk, .worker = (uint8_t)worker, .reply = true};

	if (aggregate_result_bytes(entry, worker) > 0)
		packet.bits = data_get(job->format, entry->result, 0);
	launch(job, packet);
}

static void
receive_request(struct job *job, const struct packet *packet)
{
	struct aggregate_entry *entry = entry_of(job, packet->chunk);
	uint8_t owner = owner_of(job, packet->chunk);
	uint8_t values[8];
	const bool zeros = is_zero(job, packet->chunk, packet->worker) &&
		(packet->chunk + packet->worker) % 2 == 0;
	struct aggregate_message chunk = {.id = packet->chunk,
		.count = 1,
		.op = (uint8_t)job->op,
		.format = (uint8_t)job->format,
		.owner = owner,
		.worker = packet->worker,
		.values = aggregate_sends_values(job->op, owner, packet->worker) ? values : NULL};

	data_put(job->format, values, 0, value_of(job, packet->chunk, packet->worker));
	if (zeros && chunk.values != NULL) {
		chunk.values = NULL;
		chunk.zeros = true;
	}
	switch (aggregate_entry_step(entry, &job->rules, &chunk, 0)) {
	case AGGREGATE_COMPLETED:
		completed++;
		for (unsigned int w = 0; w < job->rules.workers; w++)
			reply(job, entry, w);
		break;
	case AGGREGATE_REPEATED:
		reply(job, entry, packet->worker);
		break;
	case AGGREGATE_ADDED:
	case AGGREGATE_DUPLICATE:
	case AGGREGATE_STALE:
		break;
	default:
		fail(job, "an honest worker was refused");
	}
}

static void
deliver(struct job *job)
{
	unsigned int at = below(job->in_flight);
	struct packet packet = job->flight[at];

	if (below(256) >= job->repetition)
		job->flight[at] = job->flight[--job->in_flight];
	if (packet.reply)
		receive_reply(job, &packet);
	else
		receive_request(job, &packet);
}

static void
walk(uint64_t steps)
{
	static struct job job;
	uint64_t before = results;

	begin(&job);
	for (uint64_t s = 0; s < steps; s++) {
		if (job.in_flight == 0 || (job.in_flight < MAX_IN_FLIGHT / 2 && below(2)))
			send_request(&job);
		else
			deliver(&job);
	}
	if (steps == STEPS_OF_A_JOB && results == before)
		fail(&job, "nothing was ever completed");
}

int
main(int argc, char **argv)
{
	uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (unsigned int e = 0; e < 2 * MAX_SLOTS; e++) {
		void *memory = aligned_alloc(
			AGGREGATE_ALIGN, aggregate_entry_bytes(AGGREGATE_ALL_FORMATS, 8));

		if (memory == NULL)
			return 1;
		entries[e] = aggregate_entry_init(memory, 8);
	}
	for (uint64_t done = 0; done < steps; done += STEPS_OF_A_JOB)
		walk(steps - done < STEPS_OF_A_JOB ? steps - done : STEPS_OF_A_JOB);
	printf("%" PRIu64 " steps, %" PRIu64 " chunks completed, %" PRIu64 " results received\n",
		steps, completed, results);
	for (unsigned int e = 0; e < 2 * MAX_SLOTS; e++)
		free(entries[e]);
	return results > 0 ? 0 : 1;
}
