/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/congestion.h"

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
	*congestion = (struct congestion){.most = most, .threshold = most};
	congestion->window = within(congestion, FIRST);
}

static void
grow(struct congestion *congestion)
{
	const uint32_t window = congestion->window, threshold = congestion->threshold;

	if (window >= threshold)
		congestion->window = within(congestion, window + 1);
	else
		congestion->window = 2 * window < threshold ? 2 * window : threshold;
}

uint64_t
congestion_answered(struct congestion *congestion, const struct congestion_sample *sample)
{
	uint64_t full = 0;

	congestion->trips += sample->trip != 0;
	congestion->trip_time += sample->trip;
	congestion->limited |= sample->limited;
	if (sample->order < congestion->round)
		return 0;
	if (congestion->limited) {
		grow(congestion);
		full = congestion->trips > 0 ? congestion->trip_time / congestion->trips : 0;
	}
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
	congestion->window = congestion->threshold = within(congestion, congestion->window / 2);
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
