/* SPDX-License-Identifier: BSD-3-Clause */
/* See classify.h; compiled for each instruction set. */
#include "parse_burst.h"
#include "classify_requests.h"
#include "isa.h"

static __rte_always_inline void
list_class(const struct burst *burst, struct classified *classified, unsigned int class,
	unsigned int first, unsigned int count)
{
	const uint64_t all = UINT64_MAX >> (CLASSIFY_BURST - count);
	uint64_t left = burst->in_class[class] & all;
	uint8_t *listed = classified->packet[class] + classified->count[class];

	classified->count[class] += (unsigned int)__builtin_popcountll(left);
	if (left == all) {
		for (unsigned int p = 0; p < count; p++)
			listed[p] = (uint8_t)(first + p);
		return;
	}
	for (; left != 0; left &= left - 1)
		*listed++ = (uint8_t)(first + (unsigned int)__builtin_ctzll(left));
}

/* Put packets on the lists of their classes; the first packet's index is `first`. */
static __rte_always_inline void
list_packets(const struct burst *burst, struct classified *classified, unsigned int first,
	unsigned int count)
{
	for (unsigned int class = CLASS_SLOW; class < CLASSES; class ++)
		list_class(burst, classified, class, first, count);
}

/* Over the packets of a vector. */
static __rte_always_inline struct gathered
sum_up(const struct burst *burst)
{
	uint16_t any[COLUMN], all[COLUMN], lanes[COLUMN];
	struct gathered gathered = {.all = UINT16_MAX};

	column_store(any, burst->any);
	column_store(all, burst->all);
	column_store(lanes, burst->gathered_lanes);
	for (unsigned int w = 0; w < COLUMN; w++) {
		gathered.any |= any[w];
		gathered.all &= all[w];
		gathered.lanes = (uint16_t)(gathered.lanes + lanes[w]);
	}
	return gathered;
}

/* Vectors may go on after the last packet of all, where they are not used. */
static __rte_always_inline void
describe_packets(const struct burst *burst, struct classified *classified, unsigned int first,
	unsigned int count)
{
	uint8_t **payload = classified->payload + first;

	for (unsigned int p = 0; p < count; p += COLUMN) {
		column_store(classified->group + first + p, column_load(burst->group + p));
		column_store(classified->lanes + first + p, column_load(burst->lanes + p));
	}
	for (size_t p = 0; p < count; p++) {
		payload[p] = payload_of(burst, p);
	}
}

static __rte_always_inline void
write_frames(const struct burst *burst, struct frame *frames, unsigned int count)
{
	struct frame last[COLUMN];
	unsigned int p;

	for (p = 0; p + COLUMN <= count; p += COLUMN)
		columns_write(&burst->frame, (uint8_t *)&frames[p], p);
	if (p == count)
		return;
	columns_write(&burst->frame, (uint8_t *)last, p);
	memcpy(&frames[p], last, (count - p) * sizeof(last[0]));
}

void
VECTOR_NAME(classify)(const struct classifier *classifier, struct rte_mbuf **mbufs,
	struct frame *frames, unsigned int first, unsigned int end, struct classified *classified)
{
	const unsigned int count = end - first;
	struct burst burst;

	if (count == 0) /* a burst has packets */
		__builtin_unreachable();
	find_frames(&burst, mbufs + first, count);
	find_requests(classifier, &burst, count);
	write_frames(&burst, frames + first, count);
	describe_packets(&burst, classified, first, count);
	list_packets(&burst, classified, first, count);
	classified_add(classified, sum_up(&burst));
}
