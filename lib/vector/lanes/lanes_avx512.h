/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LANES_AVX512_H
#define VECTOR_LANES_AVX512_H

/**
 * @file
 * Slots of packets to registers and back: what AVX-512 kernels share. A group is 32 lanes, a
 * register of 16-bit words.
 */

#include "lanes/vec.h"
#include "vector.h"

#define GROUP 32

struct words {
	__m512i x, y;
};

INLINE __m512i
splat(int word)
{
	return _mm512_set1_epi16((short)word);
}

/* Between the byte order of packets and ours. */
INLINE __m512i
swap(__m512i words)
{
	const __m512i order = _mm512_set_epi64(0x0e0f0c0d0a0b0809, 0x0607040502030001,
		0x0e0f0c0d0a0b0809, 0x0607040502030001, 0x0e0f0c0d0a0b0809, 0x0607040502030001,
		0x0e0f0c0d0a0b0809, 0x0607040502030001);

	return _mm512_shuffle_epi8(words, order);
}

INLINE __m512i
join(__m256i low, __m256i high)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

INLINE __m512i
magnitude_of(__m512i words)
{
	return _mm512_and_si512(words, splat(0x7fff));
}

/* Numbers of 32 bits less their last `places`, to nearest, ties to even; a carry goes on. */
INLINE __m512i
round_off(__m512i bits, const int places)
{
	__m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, places), _mm512_set1_epi32(1));
	__m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32((1 << (places - 1)) - 1));

	return _mm512_srli_epi32(_mm512_add_epi32(bits, half), places);
}

/* Of words of 16 bits, none of which is 0. */
INLINE __m512i
leading_zeros(__m512i words)
{
	const __m512i upper = _mm512_lzcnt_epi32(words);
	const __m512i lower = _mm512_lzcnt_epi32(_mm512_slli_epi32(words, 16));

	return _mm512_or_si512(_mm512_slli_epi32(upper, 16), lower);
}

/* Lanes to compute: of a packet, or gathered from many. */
struct lanes {
	const uint8_t *x, *y;
	uint8_t *z;
	uint8_t *flags;       /* NULL: a packet's */
	const uint8_t *group; /* NULL: they are of one operation */
	uint32_t count;
};

/* Up to 32 of them. */
struct group {
	const uint8_t *x, *y;
	uint8_t *z, *flags;
	__mmask32 lanes;
};

INLINE struct lanes
lanes_of_packet(const struct vector_packet *packet)
{
	const size_t bytes = packet->count * sizeof(uint16_t);

	return (struct lanes){
		.x = packet->slots,
		.y = packet->slots + bytes,
		.z = packet->slots + 2 * bytes,
		.count = packet->count,
	};
}

INLINE struct lanes
gathered_lanes(const struct vector_lanes *gathered)
{
	return (struct lanes){(const uint8_t *)gathered->x, (const uint8_t *)gathered->y,
		(uint8_t *)gathered->z, gathered->flags, gathered->group, gathered->count};
}

INLINE uint32_t
groups_in(uint32_t lanes)
{
	return (lanes + GROUP - 1) / GROUP;
}

/*
 * The group that is not whole comes first: after a store of z, a load under a mask that reaches
 * into z would wait for it, though the lanes there are masked out.
 */
INLINE struct group
group_of(const struct lanes *lanes, uint32_t index)
{
	uint32_t rest = lanes->count % GROUP, first = index * GROUP;
	__mmask32 mask = UINT32_MAX;

	if (rest != 0) {
		first = index == 0 ? lanes->count - rest : first - GROUP;
		mask = index == 0 ? (UINT32_C(1) << rest) - 1 : UINT32_MAX;
	}
	return (struct group){
		.x = lanes->x + 2 * (size_t)first,
		.y = lanes->y + 2 * (size_t)first,
		.z = lanes->z + 2 * (size_t)first,
		.flags = lanes->flags != NULL ? lanes->flags + first : NULL,
		.lanes = mask,
	};
}

/* The numbers of the lanes' groups. */
INLINE __m256i
load_groups(const struct lanes *lanes, const struct group *group)
{
	return _mm256_maskz_loadu_epi8(group->lanes, lanes->group + (group->flags - lanes->flags));
}

/* Which lanes are of the second operation of a pair; `all` are where they are of one operation. */
INLINE __mmask32
second_of_pair(const struct lanes *lanes, const struct group *group, bool all)
{
	if (lanes->group == NULL)
		return all ? UINT32_MAX : 0;
	return _mm256_test_epi8_mask(load_groups(lanes, group), _mm256_set1_epi8(1));
}

INLINE __m512i
load(const uint8_t *slots, __mmask32 lanes)
{
	if (lanes == UINT32_MAX)
		return _mm512_loadu_si512(slots);
	return _mm512_maskz_loadu_epi16(lanes, slots);
}

INLINE struct words
load_words(const struct group *group, bool subtract)
{
	struct words in = {swap(load(group->x, group->lanes)), swap(load(group->y, group->lanes))};

	if (subtract)
		in.y = _mm512_xor_si512(in.y, splat(0x8000));
	return in;
}

/* What z changes in a packet. */
struct out {
	__m512i change; /* of its words */
	struct flags any;
};

INLINE struct out
no_change(void)
{
	return (struct out){.change = _mm512_setzero_si512()};
}

/* Sums of pairs of words less 2^15 each. */
INLINE __m512i
sum_words(__m512i words)
{
	return _mm512_madd_epi16(_mm512_xor_si512(words, splat(0x8000)), splat(1));
}

INLINE void
store_flags(uint8_t *to, __mmask32 lanes, const struct flags *flags)
{
	__m256i bytes = _mm256_maskz_set1_epi8(flags->invalid, NETFC_INVALID);

	bytes = _mm256_mask_mov_epi8(bytes, flags->divbyzero, _mm256_set1_epi8(NETFC_DIVBYZERO));
	bytes = _mm256_mask_mov_epi8(bytes, flags->overflow, _mm256_set1_epi8(NETFC_OVERFLOW));
	bytes = _mm256_mask_mov_epi8(bytes, flags->underflow, _mm256_set1_epi8(NETFC_UNDERFLOW));
	_mm256_mask_storeu_epi8(to, lanes, bytes);
}

INLINE void
store_group(const struct group *group, __m512i z, const struct flags *flags, struct out *out)
{
	const __mmask32 lanes = group->lanes;

	z = swap(z);
	if (group->flags == NULL) {
		__m512i before = load(group->z, lanes), after = _mm512_maskz_mov_epi16(lanes, z);

		out->change = _mm512_add_epi32(
			out->change, _mm512_sub_epi32(sum_words(after), sum_words(before)));
		out->any.invalid |= lanes & flags->invalid;
		out->any.divbyzero |= lanes & flags->divbyzero;
		out->any.overflow |= lanes & flags->overflow;
		out->any.underflow |= lanes & flags->underflow;
	} else {
		store_flags(group->flags, lanes, flags);
	}
	if (lanes == UINT32_MAX)
		_mm512_storeu_si512(group->z, z);
	else
		_mm512_mask_storeu_epi16(group->z, lanes, z);
}

/* A packet's flags, or-ed. */
INLINE uint8_t
collect_flags(const struct flags *any)
{
	return (uint8_t)((any->invalid != 0) * NETFC_INVALID |
		(any->divbyzero != 0) * NETFC_DIVBYZERO | (any->overflow != 0) * NETFC_OVERFLOW |
		(any->underflow != 0) * NETFC_UNDERFLOW);
}

/* A packet's changes: a word that changes adds its complement, too, 2^16 - 1. */
INLINE uint64_t
collect_changes(__m512i change, uint32_t count)
{
	return (uint64_t)((int64_t)_mm512_reduce_add_epi32(change) + (int64_t)count * UINT16_MAX);
}

/* A packet's results, when all of its groups have been stored. */
INLINE void
finish_packet(struct vector_packet *packet, const struct out *out)
{
	packet->flags = collect_flags(&out->any);
	packet->changes = collect_changes(out->change, packet->count);
}

/* The lanes of a packet, or those that have been gathered. */
INLINE struct lanes
lanes_of(const struct vector_packet *packets, unsigned int p, const struct vector_lanes *gathered)
{
	return gathered != NULL ? gathered_lanes(gathered) : lanes_of_packet(&packets[p]);
}

/* What is computed of a group: z; there are no flags so far. `context` is a constant's copy. */
typedef __m512i group_fn(const void *context, const struct lanes *lanes, const struct group *group,
	struct flags *flags);

/* Compute packets, or, if they are not NULL, gathered lanes, one of them: a constant. */
INLINE void
run_groups(group_fn *compute, const void *context, struct vector_packet *packets,
	unsigned int count, const struct vector_lanes *gathered)
{
	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of(packets, p, gathered);
		struct out out = no_change();

		for (uint32_t g = 0; g < groups_in(lanes.count); g++) {
			const struct group group = group_of(&lanes, g);
			struct flags flags = {0};
			const __m512i z = compute(context, &lanes, &group, &flags);

			store_group(&group, z, &flags, &out);
		}
		if (gathered == NULL)
			finish_packet(&packets[p], &out);
	}
}

/* So that compilers know, who would ask again for each group. */
INLINE void
assume_not_null(const struct vector_lanes *gathered)
{
	if (gathered == NULL)
		__builtin_unreachable();
}

/* The functions of a kernel: run(kernel, op, ..., packets, count, gathered). */
#define GROUP_FUNCTIONS(name, run, ...)                                                 \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op, \
		struct vector_packet *packets, unsigned int count)                      \
	{                                                                               \
		run(kernel, op, __VA_ARGS__, packets, count, NULL);                     \
	}                                                                               \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,   \
		const struct vector_lanes *gathered)                                    \
	{                                                                               \
		assume_not_null(gathered);                                              \
		run(kernel, op, __VA_ARGS__, NULL, 1, gathered);                        \
	}                                                                               \
	static const struct vector_functions name = {name##_packets, name##_lanes};

#endif /* VECTOR_LANES_AVX512_H */
