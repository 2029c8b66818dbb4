/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATES_H
#define STATES_H

/**
 * @file
 * The states that an exploration has reached, and those that it has not looked into yet; and what
 * they are made of.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** A state is a few words, of which one is not 0. */
struct states {
	size_t words;                 /**< of a state: set before anything else, the rest is 0 */
	uint64_t *set;                /**< by open addressing; all 0: an empty place */
	uint64_t size, used;          /**< of the set, in states; used: how many were reached */
	uint64_t *stack;              /**< not yet looked into */
	uint64_t stack_size, stacked; /**< in states */
	uint64_t transitions;         /**< how often states were reached */
};

/** Reach a state: it is looked into once. */
void states_reach(struct states *states, const uint64_t *state);

/** Take one to look into; false: there is none left. */
bool states_take(struct states *states, uint64_t *state);

void states_free(struct states *states);

/** Bits of a state's words, written or read: so its layout is told but once. */
struct coder {
	uint64_t *words;
	unsigned int at;
	bool reads;
};

/** The next field, which lies in one word as a whole. */
static inline void
code(struct coder *coder, uint8_t *field, unsigned int bits)
{
	if (coder->at % 64 + bits > 64)
		coder->at += 64 - coder->at % 64;
	if (coder->reads) {
		*field = (uint8_t)(coder->words[coder->at / 64] >> coder->at % 64 &
			((1u << bits) - 1));
	} else if (*field >> bits != 0) {
		printf("the model's fields are too small\n");
		exit(1);
	} else {
		coder->words[coder->at / 64] |= (uint64_t)*field << coder->at % 64;
	}
	coder->at += bits;
}

/*
 * Packets in flight, as a model has them: numbers other than 0 in descending order, then 0, in an
 * array of `most`. So the same packets are the same state, in whatever order they were sent.
 */

static inline unsigned int
flight_count(const uint16_t *flight, unsigned int most)
{
	unsigned int count = 0;

	while (count < most && flight[count] != 0)
		count++;
	return count;
}

/** Let a packet fly; it is lost where there are too many. */
static inline void
flight_add(uint16_t *flight, unsigned int most, uint16_t packet)
{
	unsigned int at = flight_count(flight, most);

	if (at == most)
		return;
	for (; at > 0 && flight[at - 1] < packet; at--)
		flight[at] = flight[at - 1];
	flight[at] = packet;
}

/** The packet at a place has come, or is lost. */
static inline void
flight_remove(uint16_t *flight, unsigned int most, unsigned int at)
{
	for (; at + 1 < most; at++)
		flight[at] = flight[at + 1];
	flight[most - 1] = 0;
}

#endif /* STATES_H */
