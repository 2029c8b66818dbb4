/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLIGHT_H
#define FLIGHT_H

/**
 * @file
 * Packets in flight, as a model has them: numbers other than 0 in descending order, then 0, in an
 * array of `most`. So the same packets are the same state, in whatever order they were sent.
 */

#include <stdint.h>

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

#endif /* FLIGHT_H */
