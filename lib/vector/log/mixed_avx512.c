/* SPDX-License-Identifier: BSD-3-Clause */
/* See mixed.h. */
#include "lanes/lanes_avx512.h"
#include "log/mixed.h"
#include "log/special.h"

/* Lanes with an even and with an odd number, of a register of words. */
#define EVEN 0x55555555u
#define ODD 0xaaaaaaaau

/* What is known of a group's lanes. */
struct group_of_lanes {
	__m512i x, y;                     /* y negated for a subtraction */
	__m512i magnitude_x, magnitude_y; /* magnitudes */
	__m512i format, inf, nan;
	__mmask32 used, posit, product, division;
};

/* Two registers of 32 bits for one of words: those of even lanes, and of odd ones. */
struct halves {
	__m512i even, odd;
};

INLINE struct halves
halves_of(__m512i words)
{
	return (struct halves){_mm512_maskz_mov_epi16(EVEN, words), _mm512_srli_epi32(words, 16)};
}

INLINE __m512i
join_halves(struct halves halves)
{
	return _mm512_mask_blend_epi16(ODD, halves.even, _mm512_slli_epi32(halves.odd, 16));
}

INLINE __m512i
word_of(const struct mixed_words *words, __m512i format)
{
	return _mm512_permutexvar_epi16(format, _mm512_load_si512(words->of));
}

/* Where a table of each lane's format starts. */
INLINE struct halves
bases_of(const struct mixed_bases *bases, __m512i format)
{
	const __m512i all_bases = _mm512_load_si512(bases->of);
	struct halves halves = halves_of(format);

	return (struct halves){_mm512_permutexvar_epi32(halves.even, all_bases),
		_mm512_permutexvar_epi32(halves.odd, all_bases)};
}

/* Only what `lanes` need is read: tables are larger than a first-level cache. */
INLINE __m512i
gather_half(const void *entries, __m512i index, __mmask16 lanes, const int size)
{
	const __m512i none = _mm512_setzero_si512();

	if (size == 2)
		return _mm512_mask_i32gather_epi32(none, lanes, index, entries, 2);
	return _mm512_mask_i32gather_epi32(none, lanes, index, entries, 4);
}

/* `size` of an entry is a constant wherever this is used. Only words of the result count. */
INLINE __m512i
gather(const void *entries, struct halves base, struct halves key, __mmask32 lanes, const int size)
{
	const __m512i even = _mm512_add_epi32(base.even, key.even);
	const __m512i odd = _mm512_add_epi32(base.odd, key.odd);

	return join_halves((struct halves){
		gather_half(entries, even, (__mmask16)_pext_u32(lanes, EVEN), size),
		gather_half(entries, odd, (__mmask16)_pext_u32(lanes, ODD), size),
	});
}

INLINE __m512i
negate(__m512i words, __mmask32 lanes, __mmask32 posit)
{
	const __m512i flipped = _mm512_xor_si512(words, splat(0x8000));

	words = _mm512_mask_mov_epi16(words, lanes & ~posit, flipped);
	return _mm512_mask_sub_epi16(words, lanes & posit, _mm512_setzero_si512(), words);
}

INLINE struct group_of_lanes
read_group(
	const struct mixed_kernel *mixed, const struct lanes *gathered, const struct group *group)
{
	struct words in = load_words(group, false);
	__m512i kind = _mm512_cvtepu8_epi16(load_groups(gathered, group));
	__m512i op = _mm512_and_si512(kind, splat(3)), format = _mm512_srli_epi16(kind, 2);
	struct group_of_lanes lanes = {
		.used = group->lanes,
		.x = in.x,
		.format = format,
		.inf = word_of(&mixed->inf, format),
		.nan = word_of(&mixed->nan, format),
		.posit = _mm512_movepi16_mask(word_of(&mixed->posit, format)),
		.product = _mm512_test_epi16_mask(op, splat(2)),
		.division = _mm512_cmpeq_epi16_mask(op, splat(NETFC_DIV - NETFC_ADD)),
	};

	lanes.y = negate(
		in.y, _mm512_cmpeq_epi16_mask(op, splat(NETFC_SUB - NETFC_ADD)), lanes.posit);
	lanes.magnitude_x = (__m512i)magnitudes_of((vec16)lanes.x, lanes.posit);
	lanes.magnitude_y = (__m512i)magnitudes_of((vec16)lanes.y, lanes.posit);
	return lanes;
}

/* An miTable's key: the decided page above theta. */
INLINE struct halves
mi_keys(const struct group_of_lanes *lanes, __m512i theta, __mmask32 differ)
{
	__mmask32 greater = _mm512_cmpgt_epu16_mask(lanes->magnitude_x, lanes->magnitude_y);
	__m512i page = _mm512_mask_blend_epi16(greater, splat(2), splat(1));

	page = _mm512_maskz_mov_epi16(differ, page);
	return (struct halves){_mm512_mask_blend_epi16(ODD, theta, _mm512_slli_epi32(page, 16)),
		_mm512_mask_blend_epi16(ODD, _mm512_srli_epi32(theta, 16), page)};
}

/* What a sum's look-up in mi says. */
struct sums {
	__m512i m;
	__mmask32 is_x, is_y; /* the other operand is too small */
};

INLINE struct sums
look_up_mi(const struct mixed_kernel *mixed, const struct group_of_lanes *lanes, __m512i i,
	__m512i j, __mmask32 differ, const int size)
{
	const __m512i theta = _mm512_subs_epi16(j, i);
	struct sums sums = {
		.is_x = _mm512_cmplt_epi16_mask(theta, word_of(&mixed->least, lanes->format)),
		.is_y = _mm512_cmpgt_epi16_mask(theta, word_of(&mixed->greatest, lanes->format)),
	};

	sums.m = gather(mixed->entries, bases_of(&mixed->mi, lanes->format),
		mi_keys(lanes, theta, differ),
		lanes->used & ~(lanes->product | sums.is_x | sums.is_y), size);
	return sums;
}

INLINE __m512i
decide_group(
	const struct group_of_lanes *lanes, const struct sums *sums, __m512i e, struct flags *flags)
{
	const struct decision decision = {
		.x = (vec16)lanes->x,
		.y = (vec16)lanes->y,
		.inf = (vec16)lanes->inf,
		.nan = (vec16)lanes->nan,
		.posit = lanes->posit,
		.product = lanes->product,
		.division = lanes->division,
		.is_x = sums->is_x,
		.is_y = sums->is_y,
		.no_result = _mm512_cmpeq_epi16_mask(sums->m, splat((int16_t)NETFC_NO_RESULT)),
	};

	return (__m512i)decide(&decision, (vec16)e, flags);
}

INLINE __m512i
compute_group(const struct mixed_kernel *mixed, const struct group_of_lanes *lanes,
	struct flags *flags, const int size)
{
	const struct halves log = bases_of(&mixed->log, lanes->format);
	const __mmask32 differ = _mm512_movepi16_mask(_mm512_xor_si512(lanes->x, lanes->y));
	__m512i i = gather(mixed->entries, log, halves_of(lanes->magnitude_x), lanes->used, size);
	__m512i j = gather(mixed->entries, log, halves_of(lanes->magnitude_y), lanes->used, size);
	struct sums sums = look_up_mi(mixed, lanes, i, j, differ, size);
	__m512i n = _mm512_adds_epi16(i, _mm512_mask_mov_epi16(sums.m, lanes->product, j));
	__m512i e;

	n = _mm512_mask_subs_epi16(n, lanes->division, i, j);
	e = gather(mixed->entries, bases_of(&mixed->exp, lanes->format), halves_of(n),
		lanes->used & (lanes->product | ~(sums.is_x | sums.is_y)), size);
	return decide_group(lanes, &sums, e, flags);
}

/* A kernel, whose arrays have entries of so many bytes. */
struct context {
	const struct mixed_kernel *mixed;
	int size;
};

INLINE __m512i
compute(const void *base, const struct lanes *lanes, const struct group *group, struct flags *flags)
{
	const struct context *context = base;
	const struct group_of_lanes read = read_group(context->mixed, lanes, group);

	return compute_group(context->mixed, &read, flags, context->size);
}

#define RUN(name, size)                                                                     \
	void name(const struct vector_kernel *kernel, unsigned int op,                      \
		const struct vector_lanes *gathered)                                        \
	{                                                                                   \
		const struct context context = {(const struct mixed_kernel *)kernel, size}; \
                                                                                            \
		(void)op;                                                                   \
		assume_not_null(gathered);                                                  \
		run_groups(compute, &context, NULL, 1, gathered);                           \
	}

RUN(mixed_run_narrow_avx512, 2)
RUN(mixed_run_wide_avx512, 4)
