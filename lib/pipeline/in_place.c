/* SPDX-License-Identifier: BSD-3-Clause */
#include "in_place.h"
#include "reply.h"

/* So many packets are answered while they are in the cache. */
#define AT_ONCE 8

void
in_place_defer(const struct group *groups, struct classified *classified)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	unsigned int kept = 0;

	for (unsigned int p = 0; p < count; p++) {
		const uint8_t packet = classified->packet[CLASS_IN_PLACE][p];
		const struct group *group = &groups[classified->group[packet]];

		if (likely(group->branch->kernel != NULL))
			classified->packet[CLASS_IN_PLACE][kept++] = packet;
		else
			classified->packet[CLASS_WALK][classified->count[CLASS_WALK]++] = packet;
	}
	classified->count[CLASS_IN_PLACE] = kept;
}

/* A counting sort: the packets by group. Returns how many groups there are. */
static void
sort_by_group(const struct classified *classified, uint8_t *sorted)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	const uint8_t *packets = classified->packet[CLASS_IN_PLACE];
	uint8_t next[GROUPS + 1] = {0};

	for (unsigned int p = 0; p < count; p++)
		next[classified->group[packets[p]] + 1]++;
	for (unsigned int g = 0; g < GROUPS; g++)
		next[g + 1] = (uint8_t)(next[g + 1] + next[g]);
	for (unsigned int p = 0; p < count; p++)
		sorted[next[classified->group[packets[p]]]++] = packets[p];
}

/* Packets of one group. */
static uint64_t
run_group(const struct group *group, const struct classified *classified,
	const struct frame *frames, const uint8_t *packets, unsigned int count)
{
	struct vector_packet vector[AT_ONCE];
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < count; p++) {
		vector[p].slots = reply_lanes(classified->payload[packets[p]]);
		vector[p].count = classified->lanes[packets[p]];
	}
	vector_run_packets(group->branch->kernel, group->op, vector, count);
	for (unsigned int p = 0; p < count; p++) {
		reply_write(classified->payload[packets[p]], &frames[packets[p]], vector[p].changes,
			vector[p].flags);
		exceptions += flags_spread(vector[p].flags);
	}
	return exceptions;
}

uint64_t
in_place_run(const struct group *groups, const struct classified *classified,
	const struct frame *frames, uint64_t *lanes)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	uint8_t sorted[CLASSIFY_BURST];
	uint64_t exceptions = 0;

	if (count == 0)
		return 0;
	sort_by_group(classified, sorted);
	for (unsigned int first = 0, end; first < count; first = end) {
		const unsigned int group = classified->group[sorted[first]];

		for (end = first; end < count && end < first + AT_ONCE; end++) {
			if (classified->group[sorted[end]] != group)
				break;
			*lanes += classified->lanes[sorted[end]];
		}
		exceptions +=
			run_group(&groups[group], classified, frames, sorted + first, end - first);
	}
	return exceptions;
}
