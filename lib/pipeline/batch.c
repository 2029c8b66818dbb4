/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "batch.h"
#include "bytes.h"
#include "isa.h"
#include "reply.h"

#define SLOT ((size_t)sizeof(uint16_t))
#define VECTOR_LANES 8u

/* Copy vectors backwards: the last one ends at `slots_end`, and goes just before `end`. */
static __rte_always_inline void
copy_backwards(uint16_t *end, const uint8_t *slots_end, const unsigned int vectors)
{
	for (unsigned int v = 1; v <= vectors; v++)
		copy_bytes16(end - v * VECTOR_LANES, slots_end - v * sizeof(bytes16));
}

/* Whether a part's kernel is told each lane's group. */
static __rte_always_inline bool
is_told(uint8_t part_bits)
{
	return part_bits != BATCH_ALONE;
}

/* `vectors` and `with_group` are constants wherever this is used. */
static __rte_always_inline uint32_t
gather_vectors(struct batches *batches, struct classified *classified, enum packet_class class,
	const unsigned int vectors, uint8_t part_bits, const bool with_group)
{
	uint32_t lanes = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
		const unsigned int group = classified->group[packet], part = group & part_bits;
		const uint32_t count = classified->lanes[packet], last = batches->first[part];
		const uint8_t *end = reply_lanes(classified->payload[packet]) + count * SLOT;

		copy_backwards(&batches->x[last], end, vectors);
		copy_backwards(&batches->y[last], end + count * SLOT, vectors);
		if (with_group) {
			memset(&batches->group[last - vectors * VECTOR_LANES], (int)group,
				(size_t)vectors * VECTOR_LANES);
		}
		batches->first[part] = classified->at[packet] = (uint16_t)(last - count);
		lanes += count;
	}
	return lanes;
}

/* A request of one lane, whose lane is number `at`. */
static __rte_always_inline void
gather_single(struct batches *batches, uint8_t *payload, unsigned int index, unsigned int at)
{
	const uint8_t *slots = reply_lanes(payload);

	batches->x[at] = load_16(slots);
	batches->y[at] = load_16(slots + SLOT);
	batches->replies.before[index] = load_16(slots + 2 * SLOT);
	replies_add(&batches->replies, index, payload);
}

static __rte_always_inline void
gather_singles(struct batches *batches, const struct classified *classified, uint8_t part_bits,
	const bool with_group)
{
	const unsigned int count = classified->count[CLASS_SINGLE];

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];
		const unsigned int group = classified->group[packet];
		const uint16_t at = --batches->first[group & part_bits];

		gather_single(batches, classified->payload[packet], p, at);
		batches->replies.at[p] = at;
		if (with_group)
			batches->group[at] = (uint8_t)group;
	}
}

/* Lanes of one part need no list of where they are. Returns the first. */
static uint16_t
take_lanes(struct batches *batches, unsigned int part, unsigned int count)
{
	batches->first[part] = (uint16_t)(batches->first[part] - count);
	batches->replies.at[0] = batches->first[part];
	return batches->first[part];
}

/* A burst of one group. */
static void
gather_uniform(struct batches *batches, const struct classified *classified)
{
	const unsigned int count = classified->count[CLASS_SINGLE];
	const uint16_t first = take_lanes(batches, classified->group[0], count);

	for (unsigned int p = 0; p < count; p++)
		gather_single(batches, classified->payload[p], p, first + p);
}

/* Requests of one lane to one part. */
static __rte_always_inline void
gather_together(struct batches *batches, const struct classified *classified, uint8_t part_bits,
	const bool with_group)
{
	const unsigned int count = classified->count[CLASS_SINGLE];
	const unsigned int part = classified->gathered.any & part_bits;
	const uint16_t first = take_lanes(batches, part, count);

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];

		gather_single(batches, classified->payload[packet], p, first + p);
		if (with_group)
			batches->group[first + p] = (uint8_t)classified->group[packet];
	}
}

/* Whether requests of one lane are alike, and no kernel is told their groups. */
static inline bool
are_uniform(const struct classified *classified, uint8_t part_bits)
{
	return !is_told(part_bits) && classified_is_uniform(classified, CLASS_SINGLE);
}

/* Whether the lanes of all requests are in one part. */
static inline bool
are_one_part(const struct classified *classified, uint8_t part_bits)
{
	return (gathered_differ(&classified->gathered) & part_bits) == 0;
}

static __rte_always_inline uint32_t
gather_all(struct batches *batches, struct classified *classified, uint8_t part_bits,
	const bool with_group)
{
	if (are_uniform(classified, part_bits))
		gather_uniform(batches, classified);
	else if (are_one_part(classified, part_bits))
		gather_together(batches, classified, part_bits, with_group);
	else
		gather_singles(batches, classified, part_bits, with_group);
	return classified->count[CLASS_SINGLE] +
		gather_vectors(batches, classified, CLASS_LANES_8, 1, part_bits, with_group) +
		gather_vectors(batches, classified, CLASS_LANES_16, 2, part_bits, with_group);
}

static uint32_t
gather(struct batches *batches, struct classified *classified, uint8_t part_bits)
{
	if (is_told(part_bits))
		return gather_all(batches, classified, part_bits, true);
	return gather_all(batches, classified, part_bits, false);
}

static void
run_part(struct batches *batches, const struct groups *groups, struct batch_plan plan,
	unsigned int part)
{
	const struct group *group = &groups->group[part];
	const uint32_t at = batches->first[part], end = batch_end(part);
	const struct vector_lanes lanes = {
		.x = batches->x + at,
		.y = batches->y + at,
		.z = batches->z + at,
		.flags = batches->flags + at,
		.group = is_told(plan.part_bits) ? batches->group + at : NULL,
		.count = end - at,
	};

	vector_run_lanes(plan.mixed != NULL ? plan.mixed : group->kernel, group->op, &lanes);
	batches->first[part] = (uint16_t)end;
}

static void
run(struct batches *batches, const struct groups *groups, struct batch_plan plan)
{
	for (unsigned int part = 0; part < GATHERED_GROUPS; part++) {
		if (batches->first[part] < batch_end(part))
			run_part(batches, groups, plan, part);
	}
}

/* Sliding masks: what is loaded from element n on selects the last n lanes of a vector. */
static const uint16_t last_slots[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT16_MAX};
static const uint8_t last_flags[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT8_MAX};

/* Sums of 32 bits, in two parts; what a packet's lanes change cannot make them overflow. */
typedef uint64_t sums __attribute__((vector_size(sizeof(bytes16))));

static __rte_always_inline sums
sum_words(bytes16 words)
{
	return ((sums)words & UINT32_MAX) + ((sums)words >> 32);
}

/* Replace the slots of a vector's last lanes; returns what that changes in a checksum. */
static __rte_always_inline sums
replace_vector(uint8_t *at, const uint16_t *by, uint32_t lanes)
{
	const bytes16 replaced = load_bytes16(last_slots + lanes), before = load_bytes16(at);
	const bytes16 after = before ^ ((before ^ load_bytes16(by)) & replaced);

	copy_bytes16(at, &after);
	return sum_words(~before) + sum_words(after);
}

static __rte_always_inline uint64_t
flags_of(const uint8_t *end, uint32_t lanes)
{
	return load_64(end - VECTOR_LANES) & load_64(last_flags + lanes);
}

/*
 * `vectors` is a constant wherever this is used; there are more lanes than all but one hold. The
 * first reply is number `index`.
 */
static __rte_always_inline void
scatter_vectors(struct batches *batches, const struct classified *classified,
	enum packet_class class, const unsigned int vectors, unsigned int index)
{
	struct replies *replies = &batches->replies;

	for (unsigned int p = 0; p < classified->count[class]; p++, index++) {
		const unsigned int packet = classified->packet[class][p];
		const uint32_t count = classified->lanes[packet];
		const uint32_t last = classified->at[packet] + count;
		const uint32_t rest = count - (vectors - 1) * VECTOR_LANES;
		uint8_t *payload = classified->payload[packet];
		uint8_t *end = reply_lanes(payload) + count * 3 * SLOT;
		sums changes = {0};
		uint64_t flags = 0;

		for (unsigned int v = 1; v <= vectors; v++) {
			const uint32_t lanes = v == vectors ? rest : VECTOR_LANES;

			changes += replace_vector(end - v * sizeof(bytes16),
				&batches->z[last - v * VECTOR_LANES], lanes);
			flags |= flags_of(&batches->flags[last - (v - 1) * VECTOR_LANES], lanes);
		}
		replies_add(replies, index, payload);
		replies->changes[index] = changes[0] + changes[1];
		replies->any_of[index] = flags;
	}
}

static void
read_results(struct batches *batches, unsigned int count)
{
	struct replies *replies = &batches->replies;

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int at = replies->at[p];

		replies->z[p] = batches->z[at];
		replies->flags[p] = batches->flags[at];
	}
}

static void
read_one_part(struct batches *batches, unsigned int count)
{
	const unsigned int first = batches->replies.at[0];

	for (unsigned int p = 0; p < replies_vectors(count); p++) {
		batches->replies.z[p] = batches->z[first + p];
		batches->replies.flags[p] = batches->flags[first + p];
	}
}

static uint64_t
scatter(struct batches *batches, const struct classified *classified, uint8_t part_bits)
{
	const unsigned int singles = classified->count[CLASS_SINGLE];
	const unsigned int up_to_8 = singles + classified->count[CLASS_LANES_8];
	const unsigned int count = up_to_8 + classified->count[CLASS_LANES_16];

	if (are_uniform(classified, part_bits) || are_one_part(classified, part_bits))
		read_one_part(batches, singles);
	else
		read_results(batches, singles);
	if (count > singles) {
		scatter_vectors(batches, classified, CLASS_LANES_8, 1, singles);
		scatter_vectors(batches, classified, CLASS_LANES_16, 2, up_to_8);
		replies_fold_lanes(&batches->replies, singles, count - singles);
	}
	return replies_finish(&batches->replies, singles, count);
}

uint64_t
VECTOR_NAME(batch_compute)(struct batches *batches, struct classified *classified,
	const struct groups *groups, struct batch_plan plan, uint64_t *lanes)
{
	*lanes += gather(batches, classified, plan.part_bits);
	run(batches, groups, plan);
	return scatter(batches, classified, plan.part_bits);
}
