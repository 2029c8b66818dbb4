/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every state that two workers, a switch and a network between them can get into, the network
 * losing, repeating and reordering as it likes, up to three packets in flight (one more where a
 * result goes out to two). Chunks are, in turn, sums for all, sums for one and copies from one;
 * some workers' values of some are 0, and have none in their packets. In each state: no result is
 * wrong or goes to whom it is not for, and if from now on packets got through, all would come to an
 * end. Usage: aggregate_explore SLOTS ROUNDS
 *
 * A state is one word: what the entries hold, how far the workers are in each slot, and what is in
 * flight. An entry's sum is not part of it, as it has to follow from its chunk and the workers
 * seen; after each step that is checked.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate.h>

#include "exact.h"
#include "sums/lanes.h"

#define WORKERS 2
#define MAX_SLOTS 2
#define MAX_ENTRIES (2 * MAX_SLOTS)
#define MAX_ROUNDS 7
#define MAX_IN_FLIGHT 4
#define WORDS 1

/* In flight: 0 for nothing, or 1 + worker + 2 * reply + 4 * chunk. */
typedef uint16_t flying;

struct model {
	uint8_t state[MAX_ENTRIES], round[MAX_ENTRIES], seen[MAX_ENTRIES];
	uint8_t done[WORKERS][MAX_SLOTS]; /* rounds that a worker has the result of */
	flying flight[MAX_IN_FLIGHT];     /* descending */
};

#include "explore.h"

static struct aggregate_entry *entry;

static uint64_t
pack_switch(const struct model *m)
{
	uint64_t word = 0;

	for (unsigned int e = 0; e < 2 * slots; e++)
		word = word << 7 | (uint64_t)m->state[e] << 5 | (uint64_t)m->round[e] << 2 |
			m->seen[e];
	for (unsigned int w = 0; w < WORKERS; w++)
		for (unsigned int s = 0; s < slots; s++)
			word = word << 3 | m->done[w][s];
	return word;
}

/* Plus one: a state must not be 0. */
static void
pack(const struct model *m, uint64_t *words)
{
	uint64_t word = pack_switch(m);

	for (unsigned int f = 0; f < MAX_IN_FLIGHT; f++)
		word = word << 6 | m->flight[f];
	words[0] = word + 1;
}

static struct model
unpack(const uint64_t *words)
{
	uint64_t word = words[0] - 1;
	struct model m = {0};

	for (int f = MAX_IN_FLIGHT - 1; f >= 0; f--, word >>= 6)
		m.flight[f] = word & 63;
	for (int w = WORKERS - 1; w >= 0; w--)
		for (int s = (int)slots - 1; s >= 0; s--, word >>= 3)
			m.done[w][s] = word & 7;
	for (int e = (int)(2 * slots) - 1; e >= 0; e--, word >>= 7) {
		m.seen[e] = word & 3;
		m.round[e] = word >> 2 & 7;
		m.state[e] = word >> 5 & 3;
	}
	return m;
}

/* Whose values of a chunk are 0, a bit each: nobody's, one's, the other's, both's. */
static unsigned int
zeros_of(uint32_t chunk)
{
	return chunk / 3 % 4;
}

static int32_t
value_of(uint32_t chunk, unsigned int worker)
{
	if (zeros_of(chunk) >> worker & 1)
		return 0;
	return (int32_t)((chunk + 1) * 1000 + (worker + 1) * 37);
}

static int32_t
sum_of(uint32_t chunk, unsigned int seen)
{
	int32_t sum = 0;

	for (unsigned int w = 0; w < WORKERS; w++)
		sum += seen >> w & 1 ? value_of(chunk, w) : 0;
	return sum;
}

/* What a chunk is: a sum for all, a sum for one, a copy from one. */
static bool
is_copy(uint32_t chunk)
{
	return chunk % 3 == 2;
}

static unsigned int
owner_of(uint32_t chunk)
{
	return chunk % 3 == 0 ? WORKERS : chunk / 3 % WORKERS;
}

/* What its result has to be, as far as workers were seen. */
static int32_t
value_at(uint32_t chunk, unsigned int seen)
{
	if (!is_copy(chunk))
		return sum_of(chunk, seen);
	return seen >> owner_of(chunk) & 1 ? value_of(chunk, owner_of(chunk)) : -1;
}

/* Of those seen, whose packet has no value where it has one otherwise, a bit each. */
static unsigned int
zeros_seen(uint32_t chunk, unsigned int seen)
{
	return seen & zeros_of(chunk) & (is_copy(chunk) ? 1u << owner_of(chunk) : 3);
}

static void
write_value(uint8_t *packet, int32_t value)
{
	data_put(AGGREGATE_INT32, packet, 0, (uint32_t)value);
}

static uint8_t
owner_byte(uint32_t chunk)
{
	return owner_of(chunk) < WORKERS ? (uint8_t)(AGGREGATE_OWNER + owner_of(chunk)) : 0;
}

/* The real entry, as the model has it. */
static void
restore(const struct model *m, unsigned int e)
{
	const struct aggregate_kernel *kernel =
		aggregate_kernel(AGGREGATE_PLAIN, AGGREGATE_SUM, AGGREGATE_INT32);
	uint8_t packet[4];

	entry->state = m->state[e];
	entry->chunk = chunk_at(e, m->round[e]);
	entry->seen = m->seen[e];
	entry->zeros = zeros_seen(entry->chunk, m->seen[e]);
	entry->zero = entry->state == AGGREGATE_COMPLETE && value_at(entry->chunk, 3) == 0;
	entry->op = is_copy(entry->chunk) ? AGGREGATE_COPY : AGGREGATE_SUM;
	entry->owner = owner_byte(entry->chunk);
	entry->format = AGGREGATE_INT32;
	entry->count = 1;
	entry->kernel = is_copy(entry->chunk) ? NULL : kernel;
	write_value(packet, sum_of(entry->chunk, m->seen[e]));
	kernel->begin(entry->lanes, packet, 1);
	if (entry->state == AGGREGATE_COMPLETE || is_copy(entry->chunk))
		write_value(entry->result, value_at(entry->chunk, m->seen[e]));
	else
		write_value(entry->result, -1);
}

static void
keep(struct model *m, unsigned int e)
{
	int32_t value = value_at(entry->chunk, (unsigned int)entry->seen);
	bool copies = is_copy(entry->chunk);

	m->state[e] = entry->state;
	m->round[e] = (uint8_t)(entry->chunk / slots);
	m->seen[e] = (uint8_t)entry->seen;
	if (entry->state != AGGREGATE_EMPTY &&
		entry->zeros != zeros_seen(entry->chunk, (unsigned int)entry->seen))
		fail("an entry has taken zeros for values, or values for zeros");
	if (entry->state == AGGREGATE_OPEN && !copies && entry->seen != entry->zeros &&
		entry->lanes->sums[0] != value)
		fail("an open entry has a wrong sum");
	if (entry->state == AGGREGATE_COMPLETE && entry->seen != 3)
		fail("a complete entry has not seen all");
	if ((entry->state == AGGREGATE_COMPLETE || (copies && value != -1)) &&
		data_get(AGGREGATE_INT32, entry->result, 0) != (uint32_t)value)
		fail("an entry has a wrong result");
}

static enum aggregate_action
step(struct model *m, uint32_t number, unsigned int worker)
{
	const struct aggregate_rules rules = {
		.slots = slots, .workers = WORKERS, .stall = UINT64_MAX, .zeros = true};
	const bool zeros = zeros_seen(number, 1u << worker) != 0;
	uint8_t packet[4];
	struct aggregate_message chunk = {.id = number,
		.count = 1,
		.op = is_copy(number) ? AGGREGATE_COPY : AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.owner = owner_byte(number),
		.worker = (uint8_t)worker,
		.zeros = zeros,
		.values = zeros || (is_copy(number) && worker != owner_of(number)) ? NULL : packet};
	unsigned int e = entry_index(number);
	enum aggregate_action action;

	write_value(packet, value_of(number, worker));
	restore(m, e);
	action = aggregate_entry_step(entry, &rules, &chunk, 0);
	keep(m, e);
	if (action == AGGREGATE_WINDOW || action == AGGREGATE_MISMATCH ||
		action == AGGREGATE_STALLED)
		fail("an honest worker was refused");
	return action;
}

static flying
make(uint32_t chunk, unsigned int worker, bool reply)
{
	return (flying)(1 + worker + 2 * reply + 4 * chunk);
}

static flying
request(uint32_t chunk, unsigned int worker)
{
	return make(chunk, worker, false);
}

/* Values for all, for the owner, or for all but the owner. */
static void
send_result(struct model *m, uint32_t chunk, unsigned int worker)
{
	bool is_for = owner_of(chunk) == WORKERS || (owner_of(chunk) == worker) != is_copy(chunk);
	enum aggregate_kind kind = !is_for ? AGGREGATE_ACKNOWLEDGED
		: value_at(chunk, 3) == 0  ? AGGREGATE_ZEROS
					   : AGGREGATE_ROUNDED;

	if (aggregate_result_kind(entry, worker) != kind)
		fail("a result goes to whom it is not for, or is not what it says");
	flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, worker, true));
}

static void
receive_request(struct model *m, uint32_t chunk, unsigned int worker)
{
	switch (step(m, chunk, worker)) {
	case AGGREGATE_REPEATED:
		send_result(m, chunk, worker);
		break;
	case AGGREGATE_COMPLETED:
		for (unsigned int w = 0; w < WORKERS; w++)
			send_result(m, chunk, w);
		break;
	default:
		break;
	}
}

static void
deliver(struct model *m, unsigned int at)
{
	flying packet = m->flight[at] - 1;

	flight_remove(m->flight, MAX_IN_FLIGHT, at);
	if (packet >> 1 & 1)
		arrive_at_worker(m, packet >> 2, packet & 1);
	else
		receive_request(m, packet >> 2, packet & 1);
}

int
main(int argc, char **argv)
{
	void *memory;
	int status;

	if (argc > 2) {
		slots = (uint32_t)strtoul(argv[1], NULL, 10);
		rounds = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	/* Packets in flight have six bits. */
	if ((slots != 1 && slots != 2) || rounds < 1 || rounds > MAX_ROUNDS ||
		4 * slots * rounds + 3 > 63) {
		fprintf(stderr, "usage: %s SLOTS ROUNDS: 1 or 2 slots, SLOTS * ROUNDS up to 15\n",
			argv[0]);
		return 1;
	}
	memory = aligned_alloc(AGGREGATE_ALIGN, aggregate_entry_bytes(1u << AGGREGATE_INT32, 4));
	if (memory == NULL)
		fail("out of memory");
	entry = aggregate_entry_init(memory, 4);
	max_sent = 3;
	status = explore();
	free(entry);
	return status;
}
