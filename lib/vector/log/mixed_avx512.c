/* SPDX-License-Identifier: BSD-3-Clause */
/* See mixed.h. The decisions are those of log_stages.c. */
#include "lanes/lanes_avx512.h"
#include "log/mixed.h"

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

/* As a two's complement where the lane's format is a posit. */
INLINE __m512i
magnitude_by_kind(__m512i words, __mmask32 posit)
{
	return magnitude_of(_mm512_mask_abs_epi16(words, posit, words));
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
	lanes.magnitude_x = magnitude_by_kind(lanes.x, lanes.posit);
	lanes.magnitude_y = magnitude_by_kind(lanes.y, lanes.posit);
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
give_sign(__m512i magnitude, __mmask32 negative, __mmask32 posit)
{
	magnitude = _mm512_mask_sub_epi16(
		magnitude, negative & posit, _mm512_setzero_si512(), magnitude);
	return _mm512_mask_mov_epi16(
		magnitude, negative & ~posit, _mm512_or_si512(magnitude, splat(0x8000)));
}

/* The decision (paper, table I, and special values), by precedence. */
INLINE __m512i
decide(const struct group_of_lanes *lanes, const struct sums *sums, __m512i e, __mmask32 differ,
	struct flags *flags)
{
	const __m512i none = _mm512_setzero_si512();
	const __m512i x = lanes->x, y = lanes->y, mx = lanes->magnitude_x, my = lanes->magnitude_y;
	const __mmask32 product = lanes->product, sum = ~product, division = lanes->division;
	const __mmask32 posit = lanes->posit;
	__mmask32 greater = _mm512_cmpgt_epu16_mask(mx, my);
	__mmask32 negative_x = _mm512_movepi16_mask(x), negative_y = _mm512_movepi16_mask(y);
	__mmask32 negative =
		(sum & ((greater & negative_x) | (~greater & negative_y))) | (product & differ);
	__mmask32 zero_x = _mm512_testn_epi16_mask(mx, mx);
	__mmask32 zero_y = _mm512_testn_epi16_mask(my, my);
	__mmask32 inf_x = _mm512_cmpeq_epi16_mask(mx, lanes->inf);
	__mmask32 inf_y = _mm512_cmpeq_epi16_mask(my, lanes->inf);
	/* A posit's NaR has the magnitude of zero, and no posit one above its infinity. */
	__mmask32 nan = _mm512_cmpgt_epu16_mask(_mm512_max_epu16(mx, my), lanes->inf) |
		(posit & (zero_x | zero_y) &
			(_mm512_cmpeq_epi16_mask(x, lanes->nan) |
				_mm512_cmpeq_epi16_mask(y, lanes->nan)));
	__mmask32 no_result = sum & _mm512_cmpeq_epi16_mask(sums->m, splat(0x8000));
	__mmask32 is_x = sum & (sums->is_x | zero_y), is_y = sum & (sums->is_y | zero_x) & ~zero_y;
	__mmask32 opposite = sum & differ & _mm512_cmpeq_epi16_mask(mx, my);
	__mmask32 infinite = product & (inf_x | (division & zero_y) | (~division & inf_y));
	__mmask32 zero = product & (zero_x | (division & inf_y) | (~division & zero_y));
	__mmask32 invalid = ~nan & ((sum & inf_x & inf_y & differ) | (infinite & zero));
	__mmask32 by_zero = division & zero_y & ~(zero_x | inf_x | nan);
	__mmask32 decided = nan | is_x | is_y | opposite | infinite | zero | inf_x | inf_y;
	__m512i z;

	e = _mm512_maskz_mov_epi16(~(no_result | zero), e);
	e = _mm512_mask_mov_epi16(e, infinite, lanes->inf);
	flags->invalid = invalid;
	flags->divbyzero = by_zero;
	flags->underflow = ~decided & _mm512_cmpeq_epi16_mask(e, none);
	flags->overflow = ~decided & _mm512_cmpeq_epi16_mask(e, lanes->inf);
	z = give_sign(e, negative & ~no_result, posit);
	z = _mm512_mask_mov_epi16(z, is_x, x);
	z = _mm512_mask_mov_epi16(z, is_y, y);
	z = _mm512_maskz_mov_epi16(~opposite, z);
	z = _mm512_mask_mov_epi16(z, sum & inf_y, y);
	z = _mm512_mask_mov_epi16(z, sum & inf_x, x);
	return _mm512_mask_mov_epi16(z, nan | invalid | (posit & by_zero), lanes->nan);
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
	return decide(lanes, &sums, e, differ, flags);
}

INLINE void
run(const struct vector_kernel *kernel, const struct vector_lanes *gathered, const int size)
{
	const struct mixed_kernel *mixed = (const struct mixed_kernel *)kernel;
	const struct lanes lanes = gathered_lanes(gathered);
	struct out out = no_change();

	for (uint32_t g = 0; g < groups_in(lanes.count); g++) {
		struct group group = group_of(&lanes, g);
		struct group_of_lanes read = read_group(mixed, &lanes, &group);
		struct flags flags;
		__m512i z = compute_group(mixed, &read, &flags, size);

		store_group(&group, z, &flags, &out);
	}
}

void
mixed_run_narrow_avx512(
	const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *lanes)
{
	(void)op;
	run(kernel, lanes, 2);
}

void
mixed_run_wide_avx512(
	const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *lanes)
{
	(void)op;
	run(kernel, lanes, 4);
}
