/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STATES_H
#define STATES_H

/** @file The states that an exploration has reached, and those that it has not looked into yet. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** Append a number of so many bits, as a whole in one word. */
static inline void
put_bits(uint64_t *words, unsigned int *at, uint64_t value, unsigned int bits)
{
	if (*at % 64 + bits > 64)
		*at += 64 - *at % 64;
	words[*at / 64] |= value << *at % 64;
	*at += bits;
}

/** Read the next one. */
static inline uint8_t
get_bits(const uint64_t *words, unsigned int *at, unsigned int bits)
{
	uint64_t value;

	if (*at % 64 + bits > 64)
		*at += 64 - *at % 64;
	value = words[*at / 64] >> *at % 64 & ((1u << bits) - 1);
	*at += bits;
	return (uint8_t)value;
}

#endif /* STATES_H */
