/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"
#include "reply.h"

/* So many packets are answered while they are in the cache. */
#define AT_ONCE 8u

/* Groups whose numbers differ by a multiple of it may alternate. */
#define BUCKETS 32

/* NULL: the first packets of the burst. */
static __rte_always_inline unsigned int
index_of(const uint8_t *packets, unsigned int p)
{
	return packets != NULL ? packets[p] : p;
}

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

/* Packets of one group, by their indices in the burst. */
static __rte_always_inline uint64_t
run_group(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, const uint8_t *packets, unsigned int first, unsigned int count,
	struct pipeline_counters *counters)
{
	const struct group *group = &groups->group[classified->group[index_of(packets, first)]];
	struct vector_packet vector[AT_ONCE];
	uint64_t exceptions = 0, lanes = 0;

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = index_of(packets, first + p);

		vector[p].slots = reply_lanes(classified->payload[packet]);
		vector[p].count = classified->lanes[packet];
		lanes += vector[p].count;
	}
	vector_run_packets(group->kernel, group->op, vector, count);
	for (unsigned int p = 0; p < count; p++) {
		reply_write(reply_payload(vector[p].slots), &frames[index_of(packets, first + p)],
			vector[p].changes, vector[p].flags);
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

static uint64_t
run_uniform(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, unsigned int count, struct pipeline_counters *counters)
{
	uint64_t exceptions = 0;

	for (unsigned int first = 0; first < count; first += AT_ONCE)
		exceptions += run_group(groups, classified, frames, NULL, first,
			RTE_MIN(count - first, AT_ONCE), counters);
	return exceptions;
}

uint64_t
in_place_run(const struct groups *groups, const struct classified *classified,
	const struct frame *frames, struct pipeline_counters *counters)
{
	const unsigned int count = classified->count[CLASS_IN_PLACE];
	uint8_t sorted[CLASSIFY_BURST];
	uint64_t exceptions = 0;
	unsigned int some;

	if (classified_is_uniform(classified, CLASS_IN_PLACE))
		return run_uniform(groups, classified, frames, count, counters);
	sort_by_group(classified, sorted);
	for (unsigned int first = 0; first < count; first += some) {
		some = count_same(classified, sorted + first, RTE_MIN(count - first, AT_ONCE));
		exceptions += run_group(groups, classified, frames, sorted, first, some, counters);
	}
	return exceptions;
}
