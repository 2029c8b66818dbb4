/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"
#include "bytes.h"
#include "checksum.h"
#include "reply.h"

#define SLOT ((size_t)sizeof(uint16_t))
#define VECTOR_LANES 8u

/* Vectors that are ended by the slots at `end`. */
static __rte_always_inline void
copy_back(uint16_t *end, const uint8_t *slots_end, const unsigned int vectors)
{
	for (unsigned int v = 1; v <= vectors; v++)
		copy_bytes16(end - v * VECTOR_LANES, slots_end - v * sizeof(bytes16));
}

/* `vectors` is a constant wherever this is used. */
static __rte_always_inline uint32_t
gather_vectors(struct batch *batches, struct classified *classified, enum packet_class class,
	const unsigned int vectors)
{
	uint32_t lanes = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
		struct batch *batch = &batches[classified->group[packet]];
		const uint32_t count = classified->lanes[packet];
		const uint8_t *end = reply_lanes(classified->payload[packet]) + count * SLOT;
		const uint32_t last = BATCH_MARGIN + batch->first;

		copy_back(&batch->x_slots[last], end, vectors);
		copy_back(&batch->y_slots[last], end + count * SLOT, vectors);
		batch->first -= count;
		classified->at[packet] = (uint16_t)(last - count);
		lanes += count;
	}
	return lanes;
}

static uint32_t
gather_singles(struct batch *batches, struct classified *classified)
{
	const unsigned int count = classified->count[CLASS_SINGLE];

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];
		struct batch *batch = &batches[classified->group[packet]];
		const uint8_t *slots = reply_lanes(classified->payload[packet]);
		const uint32_t at = BATCH_MARGIN + --batch->first;

		batch->x_slots[at] = load_16(slots);
		batch->y_slots[at] = load_16(slots + SLOT);
		classified->at[packet] = (uint16_t)at;
	}
	return count;
}

uint32_t
batch_gather(struct batch *batches, struct classified *classified)
{
	return gather_singles(batches, classified) +
		gather_vectors(batches, classified, CLASS_LANES_8, 1) +
		gather_vectors(batches, classified, CLASS_LANES_16, 2);
}

void
batch_run(struct batch *batch, const struct group *group, struct netfc_lanes *lanes)
{
	const uint32_t most = group->branch->kernel != NULL ? BATCH_LANES : NETFC_BATCH;

	while (batch->first < BATCH_LANES) {
		const uint32_t count = RTE_MIN(most, BATCH_LANES - batch->first);
		const uint32_t at = BATCH_MARGIN + batch->first;

		group_run(group, lanes, batch->x_slots + at, batch->y_slots + at,
			batch->z_slots + at, batch->flag_bytes + at, count);
		batch->first += count;
	}
}

/* All bits of the last so many of a vector's lanes: the mask's elements from `lanes` on. */
static const uint16_t last_slots[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT16_MAX};
static const uint8_t last_flags[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT8_MAX};

/* One's complement addition (RFC 1071). */
static __rte_always_inline uint64_t
add_sums(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum + (sum < a);
}

/* Replace the slots before `end`; returns what that changes in a checksum. */
static __rte_always_inline uint64_t
replace_word(uint8_t *at, const uint16_t *by, const uint16_t *mask)
{
	const uint64_t replaced = load_64(mask), before = load_64(at);
	const uint64_t after = (before & ~replaced) | (load_64(by) & replaced);

	store_64(at, after);
	return add_sums(~before, after);
}

static __rte_always_inline uint64_t
replace_vector(uint8_t *at, const uint16_t *by, uint32_t lanes)
{
	const uint16_t *mask = last_slots + lanes;

	return add_sums(replace_word(at, by, mask),
		replace_word(
			at + sizeof(uint64_t), by + VECTOR_LANES / 2, mask + VECTOR_LANES / 2));
}

static __rte_always_inline uint64_t
flags_of(const uint8_t *end, uint32_t lanes)
{
	return load_64(end - VECTOR_LANES) & load_64(last_flags + lanes);
}

static __rte_always_inline uint8_t
any_flag(uint64_t flags)
{
	flags |= flags >> 32;
	flags |= flags >> 16;
	return (uint8_t)(flags | flags >> 8);
}

/* `vectors` is a constant wherever this is used; there are more lanes than all but one hold. */
static __rte_always_inline uint64_t
scatter_vectors(const struct batch *batches, const struct classified *classified,
	const struct frame *frames, enum packet_class class, const unsigned int vectors)
{
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
		const struct batch *batch = &batches[classified->group[packet]];
		const uint32_t count = classified->lanes[packet];
		const uint32_t last = classified->at[packet] + count;
		const uint32_t rest = count - (vectors - 1) * VECTOR_LANES;
		uint8_t *payload = classified->payload[packet];
		uint8_t *end = reply_lanes(payload) + count * 3 * SLOT;
		uint64_t changes = 0, flags = 0;
		uint8_t any;

		for (unsigned int v = 1; v <= vectors; v++) {
			const uint32_t lanes = v == vectors ? rest : VECTOR_LANES;

			changes = add_sums(changes,
				replace_vector(end - v * sizeof(bytes16),
					&batch->z_slots[last - v * VECTOR_LANES], lanes));
			flags |= flags_of(&batch->flag_bytes[last - (v - 1) * VECTOR_LANES], lanes);
		}
		any = any_flag(flags);
		reply_write(
			payload, &frames[packet], (changes & UINT32_MAX) + (changes >> 32), any);
		exceptions += flags_spread(any);
	}
	return exceptions;
}

static uint64_t
scatter_singles(const struct batch *batches, const struct classified *classified,
	const struct frame *frames)
{
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[CLASS_SINGLE]; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];
		const struct batch *batch = &batches[classified->group[packet]];
		const uint32_t at = classified->at[packet];
		uint8_t *payload = classified->payload[packet];
		uint8_t *slot = reply_lanes(payload) + 2 * SLOT;
		const uint16_t z = batch->z_slots[at];
		const uint8_t flags = batch->flag_bytes[at];
		const uint32_t changes = checksum_change(load_16(slot), z);

		store_16(slot, z);
		reply_write(payload, &frames[packet], changes, flags);
		exceptions += flags_spread(flags);
	}
	return exceptions;
}

uint64_t
batch_scatter(const struct batch *batches, const struct classified *classified,
	const struct frame *frames)
{
	return scatter_singles(batches, classified, frames) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_8, 1) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_16, 2);
}
