/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/congestion.h"

#include "clock.h"

#define FIRST 32
#define LEAST 4

static uint32_t
within(const struct congestion *congestion, uint32_t window)
{
	if (window < LEAST)
		window = LEAST;
	return window > congestion->most ? congestion->most : window;
}

void
congestion_init(struct congestion *congestion, uint32_t most)
{
	*congestion = (struct congestion){.most = most, .threshold = UINT32_MAX};
	congestion->window = within(congestion, FIRST);
}

void
congestion_limit(struct congestion *congestion, uint32_t most)
{
	congestion->most = most;
}

/* RFC 9406, section 4.2: as many samples, and as much longer than in the round before. */
#define SAMPLES 8
#define LONGER_LEAST (4 * NS_PER_MS)
#define LONGER_MOST (16 * NS_PER_MS)
#define LONGER_SHARE 8

static bool
trips_become_longer(const struct congestion *congestion)
{
	uint64_t longer = congestion->shortest_before / LONGER_SHARE;

	if (longer < LONGER_LEAST)
		longer = LONGER_LEAST;
	if (longer > LONGER_MOST)
		longer = LONGER_MOST;
	return congestion->trips >= SAMPLES && congestion->shortest_before != 0 &&
		congestion->shortest >= congestion->shortest_before + longer;
}

static void
grow(struct congestion *congestion)
{
	const uint32_t window = congestion->window, threshold = congestion->threshold;

	if (window >= congestion->most)
		return;
	if (window < threshold && trips_become_longer(congestion))
		congestion->threshold = window;
	else if (window >= threshold)
		congestion->window = within(congestion, window + 1);
	else
		congestion->window =
			within(congestion, 2 * window < threshold ? 2 * window : threshold);
}

uint64_t
congestion_answered(struct congestion *congestion, const struct congestion_sample *sample)
{
	uint64_t full = 0;

	if (sample->trip != 0 && (congestion->trips == 0 || sample->trip < congestion->shortest))
		congestion->shortest = sample->trip;
	congestion->trips += sample->trip != 0;
	congestion->trip_time += sample->trip;
	congestion->limited |= sample->limited;
	if (congestion->round == 0) /* what was sent before the first result is the first round */
		congestion->round = sample->next;
	if (sample->order < congestion->round)
		return 0;
	if (congestion->limited) {
		grow(congestion);
		full = congestion->trips > 0 ? congestion->trip_time / congestion->trips : 0;
	}
	if (congestion->trips > 0)
		congestion->shortest_before = congestion->shortest;
	congestion->round = sample->next;
	congestion->trips = congestion->trip_time = 0;
	congestion->limited = false;
	return full;
}

/* Whether it is another congestion than the last one. */
static bool
halve(struct congestion *congestion, uint64_t order, uint64_t next)
{
	if (order < congestion->recovery)
		return false;
	congestion->recovery = next;
	congestion->window = congestion->threshold =
		within(congestion, within(congestion, congestion->window) / 2);
	return true;
}

void
congestion_lost(struct congestion *congestion, uint64_t order, uint64_t next)
{
	const uint32_t window = congestion->window;

	if (halve(congestion, order, next)) {
		congestion->before = window;
		congestion->lost = 0;
	}
	congestion->lost++;
}

void
congestion_found(struct congestion *congestion)
{
	if (congestion->lost == 0 || --congestion->lost > 0)
		return;
	if (congestion->window < congestion->before)
		congestion->window = congestion->threshold = congestion->before;
}

void
congestion_marked(struct congestion *congestion, uint64_t order, uint64_t next)
{
	halve(congestion, order, next);
	congestion->before = 0;
}
