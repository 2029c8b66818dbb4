/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every state that a root, two leaves of two workers each and the networks between them can get
 * into, the networks losing, repeating and reordering as they like, up to three packets in flight
 * (more where one makes several). Chunks are in turn sums, which go up in two parts, and least
 * values; from the third round on all workers but one have nothing but zeros, which travel as
 * headers alone. In each state: no result or sum is wrong, and if from now on
 * packets got through, all would come to an end. Usage: aggregate_explore_tree SLOTS ROUNDS SENT
 *
 * A state is three words: what the entries of the three switches hold, how far the workers are in
 * each slot, and what is in flight. What an entry has added up is not part of it: it has to follow
 * from its chunk and from who was seen. Real entries are made by giving them that again.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "exact.h"
#include "jobs/slot_digits.h"

#define LEAVES 2
#define SWITCHES (LEAVES + 1)
#define ROOT LEAVES
#define EACH 2 /* members of a switch */
#define WORKERS (LEAVES * EACH)
#define PARTS 2
#define LANES PARTS
#define BYTES (4 * LANES)
#define PART_BYTES (AGGREGATE_PART_BYTES + 4)
#define MAX_SLOTS 2
#define MAX_ENTRIES (2 * MAX_SLOTS)
#define MAX_ROUNDS 4
#define MAX_CHUNKS 4
#define MAX_IN_FLIGHT 10
#define WORDS 3

enum direction {
	TO_LEAF,   /* worker 0 .. 3 */
	TO_WORKER, /* the same */
	TO_ROOT,   /* leaf + LEAVES * part */
	DOWN,      /* leaf */
};

/* In flight: 0 for nothing, or 1 + who + 4 * direction + 16 * chunk: 6 bits and a bit more. */
typedef uint16_t flying;

struct held {
	uint8_t state, round, seen; /* seen: members; the root: parts by member */
};

struct model {
	struct held entry[SWITCHES][MAX_ENTRIES];
	uint8_t done[WORKERS][MAX_SLOTS]; /* rounds that a worker has the result of */
	flying flight[MAX_IN_FLIGHT];     /* descending */
};

#include "explore.h"

static struct aggregate_entry *leaf_entry, *root_entry;
static int64_t scratch[LANES * (AGGREGATE_MAX_DIGITS + 1)];

static void
code_model(struct coder *coder, struct model *m)
{
	for (unsigned int s = 0; s < SWITCHES; s++)
		for (unsigned int e = 0; e < 2 * slots; e++) {
			code(coder, &m->entry[s][e].state, 2);
			code(coder, &m->entry[s][e].round, 2);
			code(coder, &m->entry[s][e].seen, s == ROOT ? 4 : 2);
		}
	for (unsigned int w = 0; w < WORKERS; w++)
		for (unsigned int s = 0; s < slots; s++)
			code(coder, &m->done[w][s], 3);
	for (unsigned int f = 0; f < MAX_IN_FLIGHT; f++) {
		uint8_t packet = (uint8_t)m->flight[f];

		code(coder, &packet, 7);
		m->flight[f] = packet;
	}
}

/* With a bit that is 1: a state must not be 0. */
static void
pack(const struct model *m, uint64_t *words)
{
	struct coder coder = {words, 1, false};
	struct model copy = *m;

	memset(words, 0, WORDS * sizeof(*words));
	words[0] = 1;
	code_model(&coder, &copy);
	if (coder.at > WORDS * 64)
		fail("a state does not fit");
}

static struct model
unpack(const uint64_t *words)
{
	uint64_t copy[WORDS];
	struct coder coder = {copy, 1, true};
	struct model m = {0};

	memcpy(copy, words, sizeof(copy));
	code_model(&coder, &m);
	return m;
}

/* Values, and what has to become of them. */

static bool
is_sum(uint32_t chunk)
{
	return chunk % 2 == 0;
}

/* Whose values are zeros: one worker's of a leaf, and all of a leaf. */
static bool
is_zero(uint32_t chunk, unsigned int worker)
{
	return chunk >= 2 && worker != 1;
}

/* Of workers in a row. */
static bool
are_zeros(uint32_t chunk, unsigned int first, unsigned int workers)
{
	for (unsigned int w = first; w < first + workers; w++)
		if (!is_zero(chunk, w))
			return false;
	return true;
}

/* Whether a leaf's sum goes up in parts. */
static bool
has_parts(uint32_t chunk, unsigned int leaf)
{
	return is_sum(chunk) && !are_zeros(chunk, leaf * EACH, EACH);
}

static int32_t
value_of(uint32_t chunk, unsigned int worker, unsigned int lane)
{
	if (is_zero(chunk, worker))
		return 0;
	return (int32_t)((chunk + 1) * 1000 + ((worker + chunk) % 3 + 1) * 37 + lane * 7) - 2500;
}

static int32_t
reduced(uint32_t chunk, unsigned int first, unsigned int workers, unsigned int lane)
{
	int32_t result = value_of(chunk, first, lane);

	for (unsigned int w = first + 1; w < first + workers; w++) {
		int32_t value = value_of(chunk, w, lane);

		if (is_sum(chunk))
			result += value;
		else if (value < result)
			result = value;
	}
	return result;
}

static void
write_reduced(uint8_t *packet, uint32_t chunk, unsigned int first, unsigned int workers)
{
	for (unsigned int lane = 0; lane < LANES; lane++)
		data_put(AGGREGATE_INT32, packet, lane,
			(uint32_t)reduced(chunk, first, workers, lane));
}

/* Of zeros alone, `zero`, nobody reads the bytes. */
static void
check_values(
	const struct aggregate_entry *entry, bool zero, unsigned int first, unsigned int workers)
{
	uint8_t expected[BYTES];

	write_reduced(expected, entry->chunk, first, workers);
	if (entry->zero != zero)
		fail("an entry takes zeros for values, or values for zeros");
	if (!zero && memcmp(entry->result, expected, BYTES) != 0)
		fail("an entry has a wrong result");
}

/* A result of zeros is a header alone, whoever sent them. */
static bool
has_zero_result(uint32_t chunk)
{
	uint8_t expected[BYTES];

	write_reduced(expected, chunk, 0, WORKERS);
	return aggregate_is_zero(expected, BYTES);
}

static void
check_result(const struct aggregate_entry *entry)
{
	check_values(entry, has_zero_result(entry->chunk), 0, WORKERS);
}

/* Real entries. */

static enum aggregate_action
step(struct aggregate_entry *entry, bool passes_on, uint32_t number, unsigned int member,
	const uint8_t *values, const struct aggregate_part *part)
{
	const struct aggregate_rules rules = {.slots = slots,
		.workers = EACH,
		.stall = UINT64_MAX,
		.patience = UINT64_MAX,
		.passes_on = passes_on,
		.all_workers = WORKERS,
		.zeros = true};
	const struct aggregate_message chunk = {.id = number,
		.count = LANES,
		.op = is_sum(number) ? AGGREGATE_SUM : AGGREGATE_MIN,
		.format = AGGREGATE_INT32,
		.worker = (uint8_t)member,
		.zeros = values == NULL && part == NULL,
		.values = values,
		.part = part != NULL ? *part : (struct aggregate_part){0}};
	enum aggregate_action action = aggregate_entry_step(entry, &rules, &chunk, 0);

	if (action == AGGREGATE_WINDOW || action == AGGREGATE_MISMATCH ||
		action == AGGREGATE_STALLED || action == AGGREGATE_BAD_PARTS ||
		action == AGGREGATE_NO_DIGITS)
		fail("an honest member was refused");
	return action;
}

static enum aggregate_action
step_leaf(uint32_t chunk, unsigned int worker)
{
	uint8_t packet[BYTES];

	write_reduced(packet, chunk, worker, 1);
	return step(leaf_entry, true, chunk, worker % EACH, is_zero(chunk, worker) ? NULL : packet,
		NULL);
}

/* What a leaf sends: made of its workers' values here, compared with the real thing elsewhere. */
static size_t
make_part(uint8_t *bytes, uint32_t chunk, unsigned int leaf, unsigned int part)
{
	uint8_t values[BYTES];
	struct aggregate_totals totals = aggregate_totals_init(AGGREGATE_INT32, LANES, scratch);

	for (unsigned int w = leaf * EACH; w < (leaf + 1) * EACH; w++) {
		write_reduced(values, chunk, w, 1);
		aggregate_totals_add_values(&totals, values);
	}
	return aggregate_totals_write_part(
		&totals, (uint16_t)part, 1, (uint8_t)part, PARTS, bytes, PART_BYTES);
}

static enum aggregate_action
step_root(uint32_t chunk, unsigned int leaf, unsigned int number)
{
	struct aggregate_part part;
	uint8_t bytes[PART_BYTES];

	if (are_zeros(chunk, leaf * EACH, EACH))
		return step(root_entry, false, chunk, leaf, NULL, NULL);
	if (!is_sum(chunk)) {
		write_reduced(bytes, chunk, leaf * EACH, EACH);
		return step(root_entry, false, chunk, leaf, bytes, NULL);
	}
	if (aggregate_part_read(bytes, make_part(bytes, chunk, leaf, number), &part) != 0)
		fail("a part does not fit");
	return step(root_entry, false, chunk, leaf, NULL, &part);
}

/* An entry whose turn it is to begin a chunk. */
static void
make_ready(struct aggregate_entry *entry, uint32_t chunk)
{
	entry->state = chunk < 2 * slots ? AGGREGATE_EMPTY : AGGREGATE_COMPLETE;
	entry->chunk = chunk - 2 * slots;
}

/* With the root's result. */
static void
complete_leaf(uint32_t chunk)
{
	uint8_t result[BYTES];

	write_reduced(result, chunk, 0, WORKERS);
	if (has_zero_result(chunk))
		aggregate_entry_complete(leaf_entry, AGGREGATE_ZEROS, NULL, 0);
	else
		aggregate_entry_complete(leaf_entry, AGGREGATE_ROUNDED, result, 0);
}

static void
restore_leaf(const struct held *held, unsigned int leaf, unsigned int e)
{
	const uint32_t chunk = chunk_at(e, held->round);

	make_ready(leaf_entry, chunk);
	if (held->state == AGGREGATE_EMPTY)
		leaf_entry->state = AGGREGATE_EMPTY;
	for (unsigned int w = 0; w < EACH; w++)
		if (held->state != AGGREGATE_EMPTY && (held->seen >> w & 1) != 0)
			step_leaf(chunk, leaf * EACH + w);
	if (held->state == AGGREGATE_COMPLETE)
		complete_leaf(chunk);
}

static void
restore_root(const struct held *held, unsigned int e)
{
	const uint32_t chunk = chunk_at(e, held->round);

	make_ready(root_entry, chunk);
	if (held->state == AGGREGATE_EMPTY)
		root_entry->state = AGGREGATE_EMPTY;
	for (unsigned int p = 0; p < LEAVES * PARTS; p++)
		if (held->state != AGGREGATE_EMPTY && (held->seen >> p & 1) != 0)
			step_root(chunk, p % LEAVES, p / LEAVES);
}

static void
keep_leaf(struct held *held)
{
	held->state = leaf_entry->state;
	held->round = (uint8_t)(leaf_entry->chunk / slots);
	held->seen = (uint8_t)leaf_entry->seen;
	if (held->state == AGGREGATE_COMPLETE)
		check_result(leaf_entry);
}

static void
keep_root(struct held *held)
{
	held->state = root_entry->state;
	held->round = (uint8_t)(root_entry->chunk / slots);
	held->seen = 0;
	for (unsigned int leaf = 0; leaf < LEAVES; leaf++) {
		if (!has_parts(root_entry->chunk, leaf))
			held->seen |= (uint8_t)((root_entry->seen >> leaf & 1) << leaf);
		for (unsigned int p = 0; has_parts(root_entry->chunk, leaf) && p < PARTS; p++)
			held->seen |= (uint8_t)((root_entry->digits->members[leaf].seen >> p & 1)
				<< (leaf + LEAVES * p));
	}
	if (held->state == AGGREGATE_COMPLETE)
		check_result(root_entry);
}

/* The networks. */

static flying
make(uint32_t chunk, enum direction direction, unsigned int who)
{
	return (flying)(1 + who + 4 * direction + 16 * chunk);
}

static flying
request(uint32_t chunk, unsigned int worker)
{
	return make(chunk, TO_LEAF, worker);
}

/* The sums that go up are those of the leaf's workers. */
static void
send_up(struct model *m, uint32_t chunk, unsigned int leaf)
{
	struct aggregate_totals totals;
	uint8_t expected[PART_BYTES], bytes[PART_BYTES];
	uint16_t ends[AGGREGATE_MAX_PARTS];

	if (!has_parts(chunk, leaf)) {
		check_values(leaf_entry, are_zeros(chunk, leaf * EACH, EACH), leaf * EACH, EACH);
		flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, TO_ROOT, leaf));
		return;
	}
	for (unsigned int p = 0; p < PARTS; p++) {
		size_t length = make_part(expected, chunk, leaf, p);

		memset(scratch, 0, sizeof(scratch));
		totals = aggregate_totals_init(AGGREGATE_INT32, 0, scratch);
		totals = aggregate_entry_totals(leaf_entry, &totals);
		if (aggregate_totals_divide(&totals, PART_BYTES, ends) != PARTS)
			fail("a chunk is not divided as it should be");
		if (aggregate_totals_write_part(&totals, (uint16_t)p, 1, (uint8_t)p, PARTS, bytes,
			    PART_BYTES) != length ||
			memcmp(bytes, expected, length) != 0)
			fail("a leaf has wrong sums");
		flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, TO_ROOT, leaf + LEAVES * p));
	}
}

static void
arrive_at_leaf(struct model *m, uint32_t chunk, unsigned int worker)
{
	const unsigned int leaf = worker / EACH, e = entry_index(chunk);
	enum aggregate_action action;

	restore_leaf(&m->entry[leaf][e], leaf, e);
	action = step_leaf(chunk, worker);
	keep_leaf(&m->entry[leaf][e]);
	if (action == AGGREGATE_REPEATED)
		flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, TO_WORKER, worker));
	if (action == AGGREGATE_PASSED || action == AGGREGATE_PASSED_AGAIN)
		send_up(m, chunk, leaf);
}

static void
arrive_at_root(struct model *m, uint32_t chunk, unsigned int leaf, unsigned int part)
{
	const unsigned int e = entry_index(chunk);
	enum aggregate_action action;

	restore_root(&m->entry[ROOT][e], e);
	action = step_root(chunk, leaf, part);
	keep_root(&m->entry[ROOT][e]);
	for (unsigned int l = 0; l < LEAVES; l++)
		if (action == AGGREGATE_COMPLETED || (action == AGGREGATE_REPEATED && l == leaf))
			flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, DOWN, l));
}

/* As aggregate_leaf_reply() does: nothing but what waits for it is completed. */
static void
arrive_from_root(struct model *m, uint32_t chunk, unsigned int leaf)
{
	const unsigned int e = entry_index(chunk);
	struct held *held = &m->entry[leaf][e];

	if (held->state != AGGREGATE_ABOVE || chunk_at(e, held->round) != chunk)
		return;
	restore_leaf(held, leaf, e);
	complete_leaf(chunk);
	keep_leaf(held);
	for (unsigned int w = 0; w < EACH; w++)
		flight_add(m->flight, MAX_IN_FLIGHT, make(chunk, TO_WORKER, leaf * EACH + w));
}

static void
deliver(struct model *m, unsigned int at)
{
	const flying packet = m->flight[at] - 1;
	const uint32_t chunk = packet / 16;
	const unsigned int who = packet % 4;

	flight_remove(m->flight, MAX_IN_FLIGHT, at);
	switch ((enum direction)(packet / 4 % 4)) {
	case TO_LEAF:
		arrive_at_leaf(m, chunk, who);
		break;
	case TO_WORKER:
		arrive_at_worker(m, chunk, who);
		break;
	case TO_ROOT:
		arrive_at_root(m, chunk, who % LEAVES, who / LEAVES);
		break;
	case DOWN:
		arrive_from_root(m, chunk, who);
		break;
	}
}

static struct aggregate_entry *
new_entry(void)
{
	const unsigned int formats = 1u << AGGREGATE_INT32;
	void *memory = aligned_alloc(AGGREGATE_ALIGN, aggregate_entry_bytes(formats, BYTES));
	void *digits =
		aligned_alloc(AGGREGATE_ALIGN, aggregate_entry_digit_bytes(formats, BYTES, EACH));
	struct aggregate_entry *entry;

	if (memory == NULL || digits == NULL)
		fail("out of memory");
	entry = aggregate_entry_init(memory, BYTES);
	aggregate_entry_take_digits(entry, digits, formats, BYTES, EACH);
	return entry;
}

int
main(int argc, char **argv)
{
	int status;

	if (argc > 3) {
		slots = (uint32_t)strtoul(argv[1], NULL, 10);
		rounds = (uint32_t)strtoul(argv[2], NULL, 10);
		max_sent = (unsigned int)strtoul(argv[3], NULL, 10);
	}
	if ((slots != 1 && slots != 2) || rounds < 1 || rounds > MAX_ROUNDS ||
		slots * rounds > MAX_CHUNKS || max_sent < 1 || max_sent > 3) {
		fprintf(stderr,
			"usage: %s SLOTS ROUNDS SENT: 1 or 2 slots, SLOTS * ROUNDS up to %d, 1 to 3 "
			"packets\n",
			argv[0], MAX_CHUNKS);
		return 1;
	}
	leaf_entry = new_entry();
	root_entry = new_entry();
	status = explore();
	free(leaf_entry->digits);
	free(leaf_entry);
	free(root_entry->digits);
	free(root_entry);
	return status;
}
