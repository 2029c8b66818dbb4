/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "forward/station_lines.h"

int
station_lines_create(struct station_lines *lines, uint32_t stations)
{
	uint32_t count = rte_align32pow2((2 * stations + STATION_WAYS - 1) / STATION_WAYS);

	lines->mask = count - 1;
	lines->line = rte_calloc("stations", count, sizeof(*lines->line), RTE_CACHE_LINE_SIZE);
	if (lines->line == NULL)
		return -ENOMEM;
	for (uint32_t l = 0; l < count; l++) {
		for (unsigned int way = 0; way < STATION_WAYS; way++)
			lines->line[l].key[way] = STATION_NO_KEY;
	}
	return 0;
}

void
station_lines_free(struct station_lines *lines)
{
	rte_free(lines->line);
}

/* The way of a line that has the station, or STATION_WAYS; of station -1, a free way. */
static unsigned int
way_of(const struct station_line *line, uint32_t station)
{
	unsigned int way = 0;

	while (way < STATION_WAYS && line->station[way] != station + 1)
		way++;
	return way;
}

void
station_lines_add(struct station_lines *lines, uint64_t key, uint32_t station)
{
	struct station_line *line = station_line_of(lines, key);
	unsigned int way = way_of(line, UINT32_MAX);

	if (way == STATION_WAYS) {
		__atomic_store_n(&line->elsewhere, line->elsewhere + 1, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&line->station[way], station + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&line->key[way], key, __ATOMIC_RELEASE);
}

void
station_lines_remove(struct station_lines *lines, uint64_t key, uint32_t station)
{
	struct station_line *line = station_line_of(lines, key);
	unsigned int way = way_of(line, station);

	if (way == STATION_WAYS)
		__atomic_store_n(&line->elsewhere, line->elsewhere - 1, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&line->key[way], STATION_NO_KEY, __ATOMIC_RELAXED);
}

void
station_lines_release(struct station_lines *lines, uint64_t key, uint32_t station)
{
	struct station_line *line = station_line_of(lines, key);
	unsigned int way = way_of(line, station);

	if (way < STATION_WAYS)
		__atomic_store_n(&line->station[way], 0, __ATOMIC_RELAXED);
}
