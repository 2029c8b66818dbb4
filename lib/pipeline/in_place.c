/* SPDX-License-Identifier: BSD-3-Clause */
#include "in_place.h"
#include "reply.h"

/* So many packets are answered while they are in the cache. */
#define AT_ONCE 8u

/* Groups whose numbers differ by a multiple of it may take turns. */
#define BUCKETS 32

/* A counting sort: the packets by group. */
static void
sort_by_group(const struct classified *classified, uint8_t *sorted)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	const uint8_t *packets = classified->packet[CLASS_IN_PLACE];
	uint8_t next[BUCKETS + 1] = {0};

	for (unsigned int p = 0; p < count; p++)
		next[classified->group[packets[p]] % BUCKETS + 1]++;
	for (unsigned int b = 0; b < BUCKETS; b++)
		next[b + 1] = (uint8_t)(next[b + 1] + next[b]);
	for (unsigned int p = 0; p < count; p++)
		sorted[next[classified->group[packets[p]] % BUCKETS]++] = packets[p];
}

/* Packets of one group. */
static uint64_t
run_group(const struct group *group, const struct classified *classified,
	const struct frame *frames, const uint8_t *packets, unsigned int count,
	struct pipeline_counters *counters)
{
	struct vector_packet vector[AT_ONCE];
	uint64_t exceptions = 0, lanes = 0;

	for (unsigned int p = 0; p < count; p++) {
		vector[p].slots = reply_lanes(classified->payload[packets[p]]);
		vector[p].count = classified->lanes[packets[p]];
		lanes += vector[p].count;
	}
	vector_run_packets(group->kernel, group->op, vector, count);
	for (unsigned int p = 0; p < count; p++) {
		reply_write(reply_payload(vector[p].slots), &frames[packets[p]], vector[p].changes,
			vector[p].flags);
		exceptions += flags_spread(vector[p].flags);
	}
	counters->lanes += lanes;
	if (group->op > NETFC_DIV)
		counters->extended[group->op] += count;
	return exceptions;
}

/* How many of the first packets are of one group. */
static unsigned int
count_same(const struct classified *classified, const uint8_t *packets, unsigned int count)
{
	const unsigned int group = classified->group[packets[0]];
	unsigned int same = 1;

	while (same < count && classified->group[packets[same]] == group)
		same++;
	return same;
}

uint64_t
in_place_run(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, struct pipeline_counters *counters)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	const bool uniform = classified_is_uniform(classified, CLASS_IN_PLACE);
	const uint8_t *packets = classified->packet[CLASS_IN_PLACE];
	uint8_t sorted[CLASSIFY_BURST];
	uint64_t exceptions = 0;
	unsigned int some;

	if (!uniform) {
		sort_by_group(classified, sorted);
		packets = sorted;
	}
	for (unsigned int first = 0; first < count; first += some) {
		const unsigned int group = classified->group[packets[first]];

		some = RTE_MIN(count - first, AT_ONCE);
		if (!uniform)
			some = count_same(classified, packets + first, some);
		exceptions += run_group(
			&groups->group[group], classified, frames, packets + first, some, counters);
	}
	return exceptions;
}
