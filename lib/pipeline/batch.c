/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "batch.h"
#include "bytes.h"
#include "checksum.h"
#include "isa.h"
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

/* `vectors` and `mixed` are constants wherever this is used. */
static __rte_always_inline uint32_t
gather_vectors(struct batches *batches, struct classified *classified, enum packet_class class,
	const unsigned int vectors, const bool mixed)
{
	uint32_t lanes = 0;

	for (unsigned int p = 0; p < classified->count[class]; p++) {
		const unsigned int packet = classified->packet[class][p];
		const unsigned int group = classified->group[packet], part = mixed ? 0 : group;
		const uint32_t count = classified->lanes[packet], last = batches->first[part];
		const uint8_t *end = reply_lanes(classified->payload[packet]) + count * SLOT;

		copy_back(&batches->x[last], end, vectors);
		copy_back(&batches->y[last], end + count * SLOT, vectors);
		if (mixed) {
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
	struct singles *singles = &batches->singles;

	batches->x[at] = load_16(slots);
	batches->y[at] = load_16(slots + SLOT);
	singles->payload[index] = payload;
	singles->before[index] = load_16(slots + 2 * SLOT);
	singles->status[index] = payload[REPLY_STATUS];
	singles->checksum[index] = load_16(payload - REPLY_CHECKSUM_BEFORE);
}

static void
gather_singles(struct batches *batches, const struct classified *classified)
{
	const unsigned int count = classified->count[CLASS_SINGLE];

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];
		const uint16_t at = --batches->first[classified->group[packet]];

		gather_single(batches, classified->payload[packet], p, at);
		batches->singles.at[p] = at;
	}
}

/* Lanes of one part need no list of where they are. Returns the first. */
static uint16_t
take_lanes(struct batches *batches, unsigned int part, unsigned int count)
{
	batches->first[part] = (uint16_t)(batches->first[part] - count);
	batches->singles.at[0] = batches->first[part];
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

/* Requests of one lane to a part of their own, or to that of all groups. */
static __rte_always_inline void
gather_together(struct batches *batches, const struct classified *classified, const bool mixed)
{
	const unsigned int count = classified->count[CLASS_SINGLE];
	const unsigned int part = mixed ? 0 : classified->gathered.any;
	const uint16_t first = take_lanes(batches, part, count);

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int packet = classified->packet[CLASS_SINGLE][p];

		gather_single(batches, classified->payload[packet], p, first + p);
		if (mixed)
			batches->group[first + p] = (uint8_t)classified->group[packet];
	}
}

/* Whether the lanes of all requests of one lane follow each other. */
static inline bool
are_together(const struct classified *classified, bool mixed)
{
	return mixed || gathered_differ(&classified->gathered) == 0 ||
		classified_is_uniform(classified, CLASS_SINGLE);
}

static uint32_t
gather(struct batches *batches, struct classified *classified, bool mixed)
{
	if (mixed)
		gather_together(batches, classified, true);
	else if (classified_is_uniform(classified, CLASS_SINGLE))
		gather_uniform(batches, classified);
	else if (are_together(classified, false))
		gather_together(batches, classified, false);
	else
		gather_singles(batches, classified);
	if (mixed)
		return classified->count[CLASS_SINGLE] +
			gather_vectors(batches, classified, CLASS_LANES_8, 1, true) +
			gather_vectors(batches, classified, CLASS_LANES_16, 2, true);
	return classified->count[CLASS_SINGLE] +
		gather_vectors(batches, classified, CLASS_LANES_8, 1, false) +
		gather_vectors(batches, classified, CLASS_LANES_16, 2, false);
}

/* `group` is that of the first lane in use; NULL: all are of one group. */
static void
run_part(struct batches *batches, unsigned int part, const struct vector_kernel *kernel,
	unsigned int op, const uint8_t *group)
{
	const uint32_t at = batches->first[part], end = batch_end(part);
	const struct vector_lanes lanes = {
		.x = batches->x + at,
		.y = batches->y + at,
		.z = batches->z + at,
		.flags = batches->flags + at,
		.group = group,
		.count = end - at,
	};

	vector_run_lanes(kernel, op, &lanes);
	batches->first[part] = (uint16_t)end;
}

static void
run(struct batches *batches, const struct groups *groups, const struct vector_kernel *mixed)
{
	if (mixed != NULL) {
		run_part(batches, 0, mixed, 0, batches->group + batches->first[0]);
		return;
	}
	for (unsigned int g = 0; g < GATHERED_GROUPS; g++) {
		if (batches->first[g] < batch_end(g))
			run_part(batches, g, groups->group[g].kernel, groups->group[g].op, NULL);
	}
}

/* All bits of the last so many of a vector's lanes: the mask's elements from `lanes` on. */
static const uint16_t last_slots[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT16_MAX};
static const uint8_t last_flags[2 * VECTOR_LANES] = {
	[VECTOR_LANES... 2 * VECTOR_LANES - 1] = UINT8_MAX};

/* Sums of words, in four parts; what a packet's lanes change cannot make them overflow. */
typedef uint32_t sums __attribute__((vector_size(sizeof(bytes16))));

static __rte_always_inline sums
sum_words(bytes16 words)
{
	return ((sums)words & UINT16_MAX) + ((sums)words >> 16);
}

static __rte_always_inline uint32_t
sum_up(sums parts)
{
	return parts[0] + parts[1] + parts[2] + parts[3];
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
		sums changes = {0};
		uint64_t flags = 0;
		uint8_t any;

		for (unsigned int v = 1; v <= vectors; v++) {
			const uint32_t lanes = v == vectors ? rest : VECTOR_LANES;

			changes += replace_vector(end - v * sizeof(bytes16),
				&batches->z[last - v * VECTOR_LANES], lanes);
			flags |= flags_of(&batches->flags[last - (v - 1) * VECTOR_LANES], lanes);
		}
		any = any_flag(flags);
		reply_write(payload, &frames[packet], sum_up(changes), any);
		exceptions += flags_spread(any);
	}
	return exceptions;
}

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

/* As checksum_update(), and the status of each reply. Returns the exceptions of all. */
static uint64_t
finish_singles(struct singles *singles, unsigned int count)
{
	uint16_t *restrict checksum = singles->checksum, *restrict status = singles->status;
	const uint16_t *restrict before = singles->before, *restrict z = singles->z;
	const uint16_t *restrict flags = singles->flags;
	uint16_t invalid = 0, divbyzero = 0, overflow = 0, underflow = 0;

	for (unsigned int l = 0; l < count; l++) {
		uint16_t old = (uint16_t)(status[l] << STATUS_SHIFT);
		uint16_t new = (uint16_t)(NETFC_STATUS_REPLY | flags[l]);
		uint16_t change = add_words(add_words(z[l], (uint16_t)~before[l]),
			add_words((uint16_t)(new << STATUS_SHIFT), (uint16_t)~old));
		uint16_t after = (uint16_t)~add_words((uint16_t)~checksum[l], change);

		after = after != 0 ? after : UINT16_MAX;
		checksum[l] = checksum[l] != 0 ? after : 0;
		status[l] = new;
		invalid = (uint16_t)(invalid + (flags[l] & 1));
		divbyzero = (uint16_t)(divbyzero + (flags[l] >> 1 & 1));
		overflow = (uint16_t)(overflow + (flags[l] >> 2 & 1));
		underflow = (uint16_t)(underflow + (flags[l] >> 3 & 1));
	}
	return (uint64_t)underflow << 48 | (uint64_t)overflow << 32 | (uint64_t)divbyzero << 16 |
		invalid;
}

static void
read_results(struct batches *batches, unsigned int count)
{
	struct singles *singles = &batches->singles;

	for (unsigned int p = 0; p < count; p++) {
		const unsigned int at = singles->at[p];

		singles->z[p] = batches->z[at];
		singles->flags[p] = batches->flags[at];
	}
}

static void
read_together(struct batches *batches, unsigned int count)
{
	struct singles *singles = &batches->singles;
	const uint8_t *flags = batches->flags + singles->at[0];

	memcpy(singles->z, batches->z + singles->at[0], count * sizeof(singles->z[0]));
	for (unsigned int p = 0; p < count; p++)
		singles->flags[p] = flags[p];
}

static uint64_t
scatter_singles(struct batches *batches, const struct classified *classified, bool mixed)
{
	const unsigned int count = classified->count[CLASS_SINGLE];
	struct singles *singles = &batches->singles;
	uint64_t exceptions;

	if (are_together(classified, mixed))
		read_together(batches, count);
	else
		read_results(batches, count);
	exceptions = finish_singles(singles, count);
	for (unsigned int p = 0; p < count; p++) {
		uint8_t *payload = singles->payload[p];

		store_16(reply_lanes(payload) + 2 * SLOT, singles->z[p]);
		payload[REPLY_STATUS] = (uint8_t)singles->status[p];
		store_16(payload - REPLY_CHECKSUM_BEFORE, singles->checksum[p]);
	}
	return exceptions;
}

static uint64_t
scatter(struct batches *batches, const struct classified *classified, const struct frame *frames,
	bool mixed)
{
	return scatter_singles(batches, classified, mixed) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_8, 1) +
		scatter_vectors(batches, classified, frames, CLASS_LANES_16, 2);
}

uint64_t
VECTOR_NAME(batch_compute)(struct batches *batches, struct classified *classified,
	const struct frame *frames, const struct groups *groups, const struct vector_kernel *mixed,
	uint64_t *lanes)
{
	*lanes += gather(batches, classified, mixed != NULL);
	run(batches, groups, mixed);
	return scatter(batches, classified, frames, mixed != NULL);
}
