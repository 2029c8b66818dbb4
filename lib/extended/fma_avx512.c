/* SPDX-License-Identifier: BSD-3-Clause */
/* See extended_kernels.h: x * y + z in binary32, 32 lanes at a time. */
#include "lanes/floats.h"

#include "extended_kernels.h"
#include "isa.h"

/* What decides special values, and z. */
struct operands {
	__m512i x, y, z;
};

/*
 * Rounded down and up it is either the same, and exact, or two neighbours, one of which is odd.
 * Infinity is even and its neighbour odd; a sum of zero is +0 if rounded up.
 */
INLINE __m512
multiply_add_to_odd(__m512 x, __m512 y, __m512 z)
{
	const __m512 down =
		_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
	const __m512 up = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);

	return _mm512_mask_mov_ps(
		up, _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1)), down);
}

INLINE struct floats
sums_to_odd(struct floats x, struct floats y, struct floats z)
{
	return (struct floats){multiply_add_to_odd(x.low, y.low, z.low),
		multiply_add_to_odd(x.high, y.high, z.high)};
}

/* ---- formats of IEEE 754, and bfloat16 ---- */

INLINE __m512i
at_most_one(__m512 value)
{
	return _mm512_min_epu32(
		_mm512_slli_epi32(_mm512_castps_si512(value), 1), _mm512_set1_epi32(1));
}

/* Words, in the order of from_fp16() or from_bf16(), that are 0 where sums are. */
INLINE __m512i
zero_words(bool bf16, struct floats sums)
{
	const __m512i low = at_most_one(sums.low), high = at_most_one(sums.high);

	return bf16 ? _mm512_or_si512(low, _mm512_slli_epi32(high, 16))
		    : join(_mm512_cvtepi32_epi16(low), _mm512_cvtepi32_epi16(high));
}

INLINE struct flags
set_exception_flags(const struct extended_kernel *kernel, bool bf16, struct operands in,
	struct floats sums, __m512i magnitude)
{
	const __m512i inf = splat(kernel->inf);
	const __m512i greatest = _mm512_max_epu16(
		magnitude_of(in.z), _mm512_max_epu16(magnitude_of(in.x), magnitude_of(in.y)));
	const __m512i zeros = zero_words(bf16, sums);

	return (struct flags){
		.invalid = _mm512_cmpgt_epu16_mask(magnitude, inf) &
			~_mm512_cmpgt_epu16_mask(greatest, inf),
		.overflow = _mm512_cmpeq_epi16_mask(magnitude, inf) &
			~_mm512_cmpeq_epi16_mask(greatest, inf),
		.underflow = _mm512_testn_epi16_mask(magnitude, magnitude) &
			_mm512_test_epi16_mask(zeros, zeros),
	};
}

INLINE __m512i
compute_ieee(const struct extended_kernel *kernel, bool bf16, struct operands in, __mmask32 lanes,
	struct flags *flags)
{
	const __m512i last = splat(kernel->inf - 2);
	const struct floats sums = bf16
		? sums_to_odd(from_bf16(in.x), from_bf16(in.y), from_bf16(in.z))
		: sums_to_odd(from_fp16(in.x), from_fp16(in.y), from_fp16(in.z));
	const __m512i z = bf16 ? to_bf16(sums) : to_fp16(sums), magnitude = magnitude_of(z);

	/* Zero less one is greater than any finite magnitude less one. */
	if (_mm512_mask_cmpgt_epu16_mask(lanes, _mm512_sub_epi16(magnitude, splat(1)), last) == 0)
		return z;
	*flags = set_exception_flags(kernel, bf16, in, sums, magnitude);
	return _mm512_mask_mov_epi16(z, _mm512_cmpgt_epu16_mask(magnitude, splat(kernel->inf)),
		splat(kernel->limits.nan));
}

/* ---- posits ---- */

#define FLOAT_BIAS 127
#define FLOAT_FRACTION 23
/* The same fields, of the upper half of a float alone. */
#define HALF_FRACTION 7
/* The greatest regime, of a posit that is all ones, and less one's negation: the least. */
#define MAX_REGIME 14

/*
 * The magnitude's 15 bits are a run of equal bits, the regime, ended by a bit unlike them, then
 * exponent and fraction, as in a float. Words of 16 bits hold all of it, but for the floats' lower
 * halves. NaR becomes zero.
 */
INLINE struct floats
from_posits(__m512i posits, const unsigned int es)
{
	const __m512i top = _mm512_slli_epi16(_mm512_abs_epi16(posits), 1);
	const __m512i ones = _mm512_srai_epi16(top, 15);
	/* The last bit ends a run of all. */
	const __m512i run =
		leading_zeros(_mm512_or_si512(_mm512_xor_si512(top, ones), _mm512_set1_epi16(1)));
	const __m512i rest = _mm512_sllv_epi16(_mm512_add_epi16(top, top), run);
	const __m512i regime =
		_mm512_xor_si512(_mm512_sub_epi16(_mm512_setzero_si512(), run), ones);
	const __m512i exponent = _mm512_add_epi16(
		_mm512_slli_epi16(regime, HALF_FRACTION + es), splat(FLOAT_BIAS << HALF_FRACTION));
	const __m512i value = _mm512_maskz_add_epi16(_mm512_test_epi16_mask(top, top), exponent,
		_mm512_srli_epi16(rest, 16 - HALF_FRACTION - es));
	const __m512i upper = _mm512_or_si512(value, _mm512_and_si512(posits, splat(INT16_MIN)));
	const __m512i lower = _mm512_slli_epi16(rest, HALF_FRACTION + es);

	return (struct floats){_mm512_castsi512_ps(_mm512_unpacklo_epi16(lower, upper)),
		_mm512_castsi512_ps(_mm512_unpackhi_epi16(lower, upper))};
}

/* The 15 bits of a posit's magnitude that are nearest to a float's. */
INLINE __m512i
round_magnitude(__m512 sum, const unsigned int es)
{
	/* A boundary between posits has 14 bits of them at most; below, any bit is as good. */
	const unsigned int tail = FLOAT_FRACTION + es, lost = tail - 15;
	const __m512i most = _mm512_set1_epi32(MAX_REGIME * (1 << tail));
	const __m512i least = _mm512_set1_epi32(-MAX_REGIME * (1 << tail));
	/* Exponent and fraction, less the bias. */
	const __m512i value = _mm512_sub_epi32(
		_mm512_and_si512(_mm512_castps_si512(sum), _mm512_set1_epi32(INT32_MAX)),
		_mm512_set1_epi32(FLOAT_BIAS << FLOAT_FRACTION));
	const __m512i in_range = _mm512_max_epi32(_mm512_min_epi32(value, most), least);
	const __m512i regime = _mm512_srai_epi32(in_range, tail);
	const __m512i negative = _mm512_srai_epi32(in_range, 31);
	const __m512i low = _mm512_set1_epi32((1 << lost) - 1);
	const __m512i sticky = _mm512_add_epi32(_mm512_and_si512(in_range, low), low);
	const __m512i rest = _mm512_slli_epi32(_mm512_or_si512(in_range, sticky), 30 - tail);
	/* 10 before them repeats its 1 if shifted, 01 its 0. */
	const __m512i start = _mm512_xor_si512(_mm512_set1_epi32(INT32_MIN),
		_mm512_and_si512(negative, _mm512_set1_epi32((int)0xc0000000)));
	const __m512i word = _mm512_srav_epi32(
		_mm512_or_si512(start, _mm512_and_si512(rest, _mm512_set1_epi32(0x3fff8000))),
		_mm512_xor_si512(regime, negative));

	return round_off(word, 17);
}

/* In the order of from_posits(). A sum of zero is +0. */
INLINE __m512i
to_posits(struct floats sums, const unsigned int es)
{
	const __m512i magnitude =
		_mm512_packus_epi32(round_magnitude(sums.low, es), round_magnitude(sums.high, es));
	/* Saturated, they have the sums' signs, and are 0 where sums are. */
	const __m512i signs =
		_mm512_packs_epi32(_mm512_castps_si512(sums.low), _mm512_castps_si512(sums.high));
	const __m512i negative = _mm512_srai_epi16(signs, 15);

	return _mm512_maskz_sub_epi16(_mm512_test_epi16_mask(signs, signs),
		_mm512_xor_si512(magnitude, negative), negative);
}

/* No sum of posits raises a flag. NaR is the least word. */
INLINE __m512i
compute_posits(struct operands in, const unsigned int es)
{
	const struct floats sums =
		sums_to_odd(from_posits(in.x, es), from_posits(in.y, es), from_posits(in.z, es));
	const __m512i least = _mm512_min_epi16(in.z, _mm512_min_epi16(in.x, in.y));
	const __m512i nar = splat(INT16_MIN);

	return _mm512_mask_mov_epi16(to_posits(sums, es), _mm512_cmpeq_epi16_mask(least, nar), nar);
}

/* ---- packets ---- */

/* What is computed of a group. */
struct operation {
	const struct extended_kernel *kernel;
	enum netfc_format_id format;
};

INLINE __m512i
compute(const void *context, const struct lanes *lanes, const struct group *group,
	struct flags *flags)
{
	const struct operation *operation = context;
	const enum netfc_format_id format = operation->format;
	const struct words words = load_words(group, false);
	const struct operands in = {words.x, words.y, swap(load(group->z, group->lanes))};

	(void)lanes;
	if (format == NETFC_POSIT16 || format == NETFC_POSIT16_ES2)
		return compute_posits(in, format == NETFC_POSIT16 ? 1 : 2);
	return compute_ieee(operation->kernel, format == NETFC_BF16, in, group->lanes, flags);
}

#define FMA(name, format)                                                     \
	static void name(const struct vector_kernel *kernel, unsigned int op, \
		struct vector_packet *packets, unsigned int count)            \
	{                                                                     \
		const struct operation operation = {                          \
			(const struct extended_kernel *)kernel, format};      \
                                                                              \
		(void)op;                                                     \
		run_groups(compute, &operation, packets, count, NULL);        \
	}

FMA_USE(FMA)
