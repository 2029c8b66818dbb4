/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_SUMS_AVX512_H
#define VECTOR_LOG_SUMS_AVX512_H

/**
 * @file
 * Sums and differences by logarithms, a block of groups at a time: all are compared, then all
 * looked up, as a group's look-ups would wait for its comparison.
 */

#include "log/log_words_avx512.h"
#include "log/special.h"

#define BLOCK 256
#define GROUPS (BLOCK / GROUP)

/* What a sum needs after its look-up in mi, of groups whose packet, if any, has results. */
struct sums {
	uint16_t index[BLOCK];
	uint16_t log[BLOCK];     /* of the greater operand */
	uint16_t greater[BLOCK]; /* the operand of the greater magnitude */
	uint16_t lesser[BLOCK];
	__mmask32 is_greater[GROUPS]; /* z is the greater operand */
	__mmask32 is_zero[GROUPS];    /* z is +0 */
	struct group group[GROUPS];
	struct vector_packet *last_of[GROUPS]; /* the packet that ends with the group, or NULL */
	unsigned int groups;
} __attribute__((aligned(64)));

/* Operands to indices into mi. */
INLINE void
compare_group(const struct log_registers *kernel, const struct tables *tables,
	const enum log_form form, struct words in, struct sums *sums, unsigned int group)
{
	const __m512i last = splat(kernel->last), guard = splat(kernel->guard);
	__m512i magnitude_x = magnitude_by_form(form, in.x),
		magnitude_y = magnitude_by_form(form, in.y);
	__mmask32 ordered = _mm512_cmpge_epu16_mask(magnitude_x, magnitude_y);
	__mmask32 differ = _mm512_movepi16_mask(_mm512_xor_si512(in.x, in.y));
	__m512i lesser = _mm512_min_epu16(magnitude_x, magnitude_y);
	__m512i log_greater = log_words(tables, form, _mm512_max_epu16(magnitude_x, magnitude_y));
	__m512i distance = _mm512_sub_epi16(log_greater, log_words(tables, form, lesser));
	__m512i index = _mm512_min_epu16(distance, last);

	index = _mm512_mask_add_epi16(index, differ, index, splat(kernel->last + 1));
	_mm512_store_si512(&sums->index[group * GROUP], index);
	_mm512_store_si512(&sums->log[group * GROUP], log_greater);
	_mm512_store_si512(
		&sums->greater[group * GROUP], _mm512_mask_blend_epi16(ordered, in.y, in.x));
	_mm512_store_si512(
		&sums->lesser[group * GROUP], _mm512_mask_blend_epi16(ordered, in.x, in.y));
	sums->is_greater[group] =
		_mm512_cmpgt_epu16_mask(distance, guard) | _mm512_testn_epi16_mask(lesser, lesser);
	sums->is_zero[group] = _mm512_mask_cmpeq_epi16_mask(differ, magnitude_x, magnitude_y);
}

/* Into registers: a load of what has just been stored in pieces would wait for the last. */
INLINE __m128i
look_up_eight(const int16_t *mi, const uint16_t *index)
{
	__m128i words = _mm_cvtsi32_si128((uint16_t)mi[index[0]]);

	words = _mm_insert_epi16(words, mi[index[1]], 1);
	words = _mm_insert_epi16(words, mi[index[2]], 2);
	words = _mm_insert_epi16(words, mi[index[3]], 3);
	words = _mm_insert_epi16(words, mi[index[4]], 4);
	words = _mm_insert_epi16(words, mi[index[5]], 5);
	words = _mm_insert_epi16(words, mi[index[6]], 6);
	return _mm_insert_epi16(words, mi[index[7]], 7);
}

INLINE __m256i
look_up_sixteen(const int16_t *mi, const uint16_t *index)
{
	return _mm256_set_m128i(look_up_eight(mi, index + 8), look_up_eight(mi, index));
}

INLINE __m512i
look_up_mi(const struct log_registers *kernel, const uint16_t *index)
{
	return join(look_up_sixteen(kernel->mi, index), look_up_sixteen(kernel->mi, index + 16));
}

/* Entries of mi to z. */
INLINE __m512i
finish_group(const struct log_registers *kernel, const struct tables *tables,
	const enum log_form form, const struct sums *sums, unsigned int group, __m512i mi,
	struct flags *flags)
{
	__m512i greater = _mm512_load_si512(&sums->greater[group * GROUP]);
	__m512i n = _mm512_adds_epi16(_mm512_load_si512(&sums->log[group * GROUP]), mi);
	__m512i e = exp_words(tables, form, n), z = with_sign(form, e, greater);
	__mmask32 is_greater = sums->is_greater[group], is_zero = sums->is_zero[group];
	__mmask32 special =
		_mm512_cmpge_epu16_mask(magnitude_by_form(form, greater), splat(kernel->inf));
	__mmask32 decided = is_greater | is_zero | special, no_result = 0;

	if (form != LOG_LINES)
		no_result = _mm512_cmpeq_epi16_mask(mi, splat((int16_t)NETFC_NO_RESULT));
	*flags = (struct flags){
		.overflow = ~(decided | no_result) & _mm512_cmpeq_epi16_mask(e, splat(kernel->inf)),
		.underflow = ~decided & (no_result | _mm512_testn_epi16_mask(e, e)),
	};
	z = _mm512_maskz_mov_epi16(~no_result, z);
	z = _mm512_mask_mov_epi16(z, is_greater, greater);
	z = _mm512_maskz_mov_epi16(~is_zero, z);
	if (special != 0) {
		const struct decision decision = {
			.x = (vec16)greater,
			.y = vec_load(&sums->lesser[group * GROUP]),
			.inf = all_words(kernel->inf),
			.nan = all_words(kernel->nan),
			.posit = mask_if(is_posit(form)),
		};

		z = (__m512i)decide_special(&decision, special, (vec16)z, flags);
	}
	return z;
}

/* The groups compared so far: each look-up, then what follows from it. */
INLINE void
finish_groups(const struct log_registers *kernel, const struct tables *tables,
	const enum log_form form, struct sums *sums, struct out *out)
{
	struct flags flags;

	for (unsigned int g = 0; g < sums->groups; g++) {
		__m512i mi = look_up_mi(kernel, sums->index + g * GROUP);
		__m512i z = finish_group(kernel, tables, form, sums, g, mi, &flags);

		store_group(&sums->group[g], z, &flags, out);
		if (sums->last_of[g] != NULL) {
			finish_packet(sums->last_of[g], out);
			*out = no_change();
		}
	}
	sums->groups = 0;
}

/* Packets, or gathered lanes; what has changed goes on where groups have not been finished. */
INLINE void
sum(const struct log_registers *kernel, const enum log_form form, bool subtract,
	struct vector_packet *packets, unsigned int count, const struct vector_lanes *gathered)
{
	const struct tables tables = load_tables(kernel);
	struct out out = no_change();
	struct sums sums;

	sums.groups = 0;
	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of(packets, p, gathered);
		const uint32_t groups = groups_in(lanes.count);

		for (uint32_t g = 0; g < groups; g++) {
			const struct group group = group_of(&lanes, g);

			sums.group[sums.groups] = group;
			sums.last_of[sums.groups] =
				gathered == NULL && g + 1 == groups ? &packets[p] : NULL;
			compare_group(kernel, &tables, form,
				load_operands(
					form, &group, second_of_pair(&lanes, &group, subtract)),
				&sums, sums.groups++);
			if (sums.groups == GROUPS)
				finish_groups(kernel, &tables, form, &sums, &out);
		}
	}
	finish_groups(kernel, &tables, form, &sums, &out);
}

#endif /* VECTOR_LOG_SUMS_AVX512_H */
