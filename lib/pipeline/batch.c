/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"
#include "bytes.h"
#include "checksum.h"
#include "clones.h"
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

void
batch_clear(struct batches *batches)
{
	for (unsigned int g = 0; g < GROUPS; g++)
		batches->first[g] = batch_end(g);
}

/* `vectors` is a constant wherever this is used. */
static __rte_always_inline uint32_t
gather_vectors(struct batches *batches, struct classified *classified, enum packet_class class,
	const unsigned int vectors)
{
	uint32_t lanes = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
		const unsigned int group = classified->group[packet];
		const uint32_t count = classified->lanes[packet], last = batches->first[group];
		const uint8_t *end = reply_lanes(classified->payload[packet]) + count * SLOT;

		copy_back(&batches->x[last], end, vectors);
		copy_back(&batches->y[last], end + count * SLOT, vectors);
		batches->first[group] = classified->at[packet] = (uint16_t)(last - count);
		lanes += count;
	}
	return lanes;
}

static uint32_t
gather_singles(struct batches *batches, struct classified *classified)
{
	const unsigned int count = classified->count[CLASS_SINGLE];

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];
		const uint8_t *slots = reply_lanes(classified->payload[packet]);
		const uint16_t at = --batches->first[classified->group[packet]];

		batches->x[at] = load_16(slots);
		batches->y[at] = load_16(slots + SLOT);
		classified->at[packet] = at;
	}
	return count;
}

uint32_t
batch_gather(struct batches *batches, struct classified *classified)
{
	return gather_singles(batches, classified) +
		gather_vectors(batches, classified, CLASS_LANES_8, 1) +
		gather_vectors(batches, classified, CLASS_LANES_16, 2);
}

static void
run_part(struct batches *batches, unsigned int part, const struct group *group,
	struct netfc_lanes *lanes)
{
	const uint32_t end = batch_end(part);
	const uint32_t most = group->branch->kernel != NULL ? BATCH_LANES : NETFC_BATCH;
	uint32_t at = batches->first[part];

	for (; at < end; at += most)
		group_run(group, lanes, batches->x + at, batches->y + at, batches->z + at,
			batches->flags + at, RTE_MIN(most, end - at));
	batches->first[part] = (uint16_t)end;
}

void
batch_run(struct batches *batches, const struct group *groups, struct netfc_lanes *lanes)
{
	for (unsigned int g = 0; g < GROUPS; g++) {
		if (batches->first[g] < batch_end(g))
			run_part(batches, g, &groups[g], lanes);
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
		replace_word(at + sizeof(uint64_t), by + VECTOR_LANES / 2,
			mask + VECTOR_LANES / 2));
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
scatter_vectors(const struct batches *batches, const struct classified *classified,
	const struct frame *frames, enum packet_class class, const unsigned int vectors)
{
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
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
					&batches->z[last - v * VECTOR_LANES], lanes));
			flags |= flags_of(&batches->flags[last - (v - 1) * VECTOR_LANES], lanes);
		}
		any = any_flag(flags);
		reply_write(payload, &frames[packet],
			(changes & UINT32_MAX) + (changes >> 32), any);
		exceptions += flags_spread(any);
	}
	return exceptions;
}

/* What the checksums of requests of one lane are computed from, all of them at once. */
struct singles {
	uint16_t before[CLASSIFY_BURST], z[CLASSIFY_BURST];
	uint16_t status[CLASSIFY_BURST], flags[CLASSIFY_BURST];
	uint16_t checksum[CLASSIFY_BURST];
};

/* The status in the word that it shares with the format, as this processor reads it. */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define STATUS_SHIFT 8
#else
#define STATUS_SHIFT 0
#endif

static inline uint16_t
add_words(uint16_t a, uint16_t b)
{
	uint16_t sum = (uint16_t)(a + b);

	return (uint16_t)(sum + (sum < a));
}

/* As checksum_update(). */
static VECTOR_CLONES void
update_checksums(struct singles *singles, unsigned int count)
{
	uint16_t *restrict checksum = singles->checksum;
	const uint16_t *restrict before = singles->before, *restrict z = singles->z;
	const uint16_t *restrict status = singles->status, *restrict flags = singles->flags;

	for (unsigned int l = 0; l < count; l++) {
		uint16_t old = (uint16_t)(status[l] << STATUS_SHIFT);
		uint16_t new = (uint16_t)((NETFC_STATUS_REPLY | flags[l]) << STATUS_SHIFT);
		uint16_t change = add_words(add_words(z[l], (uint16_t)~before[l]),
			add_words(new, (uint16_t)~old));
		uint16_t after = (uint16_t)~add_words((uint16_t)~checksum[l], change);

		after = after != 0 ? after : UINT16_MAX;
		checksum[l] = checksum[l] != 0 ? after : 0;
	}
}

/* A checksum of zero stays, but for IPv6, where it is as good as its complement. */
static __rte_always_inline uint16_t
checksum_of(const struct frame *frame)
{
	const bool counts = (frame->checksum == 0) & (frame->network == FRAME_IPV6);

	return frame->checksum | (uint16_t)-counts;
}

static uint64_t
scatter_singles(const struct batches *batches, const struct classified *classified,
	const struct frame *frames)
{
	const unsigned int count = classified->count[CLASS_SINGLE];
	const uint8_t *packets = classified->packet[CLASS_SINGLE];
	struct singles singles;
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = packets[p], at = classified->at[packet];
		uint8_t *payload = classified->payload[packet];
		uint8_t *slot = reply_lanes(payload) + 2 * SLOT;

		singles.status[p] = payload[REPLY_STATUS];
		singles.before[p] = load_16(slot);
		singles.z[p] = batches->z[at];
		singles.flags[p] = batches->flags[at];
		singles.checksum[p] = checksum_of(&frames[packet]);
		store_16(slot, singles.z[p]);
		exceptions += flags_spread((uint8_t)singles.flags[p]);
	}
	update_checksums(&singles, count);
	for (unsigned int p = 0; p < count; p++) {
		uint8_t *payload = classified->payload[packets[p]];

		payload[REPLY_STATUS] = reply_status((uint8_t)singles.flags[p]);
		store_16(payload - REPLY_CHECKSUM_BEFORE, singles.checksum[p]);
	}
	return exceptions;
}

uint64_t
batch_scatter(const struct batches *batches, const struct classified *classified,
	const struct frame *frames)
{
	return scatter_singles(batches, classified, frames) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_8, 1) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_16, 2);
}
