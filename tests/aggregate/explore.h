/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPLORE_H
#define EXPLORE_H

/**
 * @file
 * What explorations share: from each state everything that may happen to it, and a check that it
 * can end. Included after struct model, which has `done` and `flight`, and WORKERS, WORDS and
 * MAX_IN_FLIGHT.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate.h>

#include "states.h"

static uint32_t slots, rounds;
static unsigned int max_sent; /* packets in flight beyond which nothing more is sent */
static struct states states = {.words = WORDS};

/* A state as words, of which one is not 0, and back. */
static void pack(const struct model *m, uint64_t *words);
static struct model unpack(const uint64_t *words);
/* A worker's packet in flight. */
static flying request(uint32_t chunk, unsigned int worker);
/* A packet in flight arrives. */
static void deliver(struct model *m, unsigned int at);

static void
fail(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static unsigned int
entry_index(uint32_t chunk)
{
	return 2 * (chunk & (slots - 1)) + aggregate_entry_of(chunk, slots);
}

/* Which chunk an entry holds, its round being known. */
static uint32_t
chunk_at(unsigned int e, unsigned int round)
{
	return round * slots + e / 2;
}

/* A worker's window: the chunk that it waits for in a slot. */
static uint32_t
wanted(const struct model *m, unsigned int worker, unsigned int slot)
{
	return m->done[worker][slot] * slots + slot;
}

static void
arrive_at_worker(struct model *m, uint32_t chunk, unsigned int worker)
{
	unsigned int slot = chunk & (slots - 1);

	if (m->done[worker][slot] < rounds && wanted(m, worker, slot) == chunk)
		m->done[worker][slot]++;
}

static void
reach(const struct model *m)
{
	uint64_t words[WORDS];

	pack(m, words);
	states_reach(&states, words);
}

static bool
is_over(const struct model *m)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		for (unsigned int s = 0; s < slots; s++)
			if (m->done[w][s] < rounds)
				return false;
	return true;
}

/* All in flight is lost, and then everybody sends, and everything gets through. */
static void
check_that_it_ends(struct model m)
{
	for (unsigned int f = 0; f < MAX_IN_FLIGHT; f++)
		m.flight[f] = 0;
	for (unsigned int again = 0; again < 2 * rounds; again++)
		for (unsigned int w = 0; w < WORKERS; w++)
			for (unsigned int s = 0; s < slots; s++) {
				if (m.done[w][s] == rounds)
					continue;
				flight_add(m.flight, MAX_IN_FLIGHT, request(wanted(&m, w, s), w));
				while (m.flight[0] != 0)
					deliver(&m, 0);
			}
	if (!is_over(&m))
		fail("it never ends, though packets get through");
}

/* Packets arrive, are lost or repeated; workers send. */
static void
look_into(const struct model *m)
{
	const unsigned int count = flight_count(m->flight, MAX_IN_FLIGHT);

	for (unsigned int f = 0; f < count; f++) {
		struct model next = *m;

		deliver(&next, f);
		reach(&next);
		next = *m;
		flight_remove(next.flight, MAX_IN_FLIGHT, f);
		reach(&next);
		next = *m;
		flight_add(next.flight, MAX_IN_FLIGHT, m->flight[f]);
		if (count < max_sent)
			reach(&next);
	}
	for (unsigned int w = 0; w < WORKERS && count < max_sent; w++)
		for (unsigned int s = 0; s < slots; s++) {
			struct model next = *m;

			if (m->done[w][s] == rounds)
				continue;
			flight_add(next.flight, MAX_IN_FLIGHT, request(wanted(m, w, s), w));
			reach(&next);
		}
}

/* Gives the exit status. */
static int
explore(void)
{
	const struct model start = {0};
	uint64_t ends = 0, words[WORDS];

	reach(&start);
	while (states_take(&states, words)) {
		struct model m = unpack(words);

		if (is_over(&m))
			ends++;
		check_that_it_ends(m);
		look_into(&m);
	}
	printf("%u slots, %u rounds: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64
	       " states where all is done\n",
		slots, rounds, states.used, states.transitions, ends);
	states_free(&states);
	return ends > 0 ? 0 : 1;
}

#endif /* EXPLORE_H */
