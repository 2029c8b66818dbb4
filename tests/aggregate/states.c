/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "states.h"

static uint64_t
hash(const struct states *states, const uint64_t *state)
{
	uint64_t sum = 0;

	for (size_t w = 0; w < states->words; w++) {
		uint64_t seed = sum ^ state[w];

		sum = next_random(&seed);
	}
	return sum;
}

static bool
is_empty(const struct states *states, const uint64_t *place)
{
	for (size_t w = 0; w < states->words; w++)
		if (place[w] != 0)
			return false;
	return true;
}

/* Where a state is, or belongs. */
static uint64_t *
place_of(const struct states *states, const uint64_t *state)
{
	uint64_t at = hash(states, state) & (states->size - 1);

	for (;; at = (at + 1) & (states->size - 1)) {
		uint64_t *place = states->set + at * states->words;

		if (is_empty(states, place) ||
			memcmp(place, state, states->words * sizeof(*state)) == 0)
			return place;
	}
}

static void *
checked(void *memory)
{
	if (memory == NULL) {
		printf("out of memory\n");
		exit(1);
	}
	return memory;
}

static void
grow_set(struct states *states)
{
	uint64_t *old = states->set, old_size = states->size;

	states->size = old_size == 0 ? 1 << 16 : 2 * old_size;
	states->set = checked(calloc(states->size, states->words * sizeof(*states->set)));
	for (uint64_t i = 0; i < old_size; i++) {
		const uint64_t *state = old + i * states->words;

		if (!is_empty(states, state))
			memcpy(place_of(states, state), state, states->words * sizeof(*state));
	}
	free(old);
}

static void
push(struct states *states, const uint64_t *state)
{
	size_t bytes = states->words * sizeof(*state);

	if (states->stacked == states->stack_size) {
		states->stack_size = states->stack_size == 0 ? 1 << 16 : 2 * states->stack_size;
		states->stack = checked(realloc(states->stack, states->stack_size * bytes));
	}
	memcpy(states->stack + states->stacked++ * states->words, state, bytes);
}

void
states_reach(struct states *states, const uint64_t *state)
{
	uint64_t *place;

	states->transitions++;
	if (states->used + 1 > states->size / 4 * 3)
		grow_set(states);
	place = place_of(states, state);
	if (!is_empty(states, place))
		return;
	memcpy(place, state, states->words * sizeof(*state));
	states->used++;
	push(states, state);
}

bool
states_take(struct states *states, uint64_t *state)
{
	if (states->stacked == 0)
		return false;
	memcpy(state, states->stack + --states->stacked * states->words,
		states->words * sizeof(*state));
	return true;
}

void
states_free(struct states *states)
{
	free(states->set);
	free(states->stack);
}
