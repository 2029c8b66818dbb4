/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of the IEEE 754 formats in AVX-512; what else there is, the compiler makes of plain C. The
 * last worker's values are added on their way to being rounded.
 */
#include "vectors_avx512.h"

/* Sixteen values, and where they go. */
struct step {
	__m512i significand; /* signed, 32 bits */
	__m512i exponent;    /* of the least bit: 0 is the least there is */
};

/* bf16 as the upper half of fp32. */
INLINE struct step
unpack_step(enum aggregate_format format, __m512i bits)
{
	const struct ieee ieee = format == AGGREGATE_BF16 ? fp32 : ieee_of(format);
	__m512i fields = format == AGGREGATE_BF16 ? _mm512_slli_epi32(bits, 16) : bits;
	__m512i magnitude = _mm512_and_si512(fields, all32(ieee.sign - 1));
	__m512i biased = _mm512_srli_epi32(magnitude, (unsigned int)ieee.fraction_bits);
	__mmask16 negative = _mm512_test_epi32_mask(fields, all32(ieee.sign));
	__mmask16 normal = _mm512_test_epi32_mask(biased, biased);
	__m512i hidden = all32(1u << ieee.fraction_bits);
	__m512i significand = _mm512_and_si512(fields, all32((1u << ieee.fraction_bits) - 1));

	significand = _mm512_mask_or_epi32(significand, normal, significand, hidden);
	significand =
		_mm512_mask_sub_epi32(significand, negative, _mm512_setzero_si512(), significand);
	return (struct step){significand, _mm512_max_epu32(biased, all32(1))};
}

INLINE __m256i
half_of(__m512i step, int half)
{
	return half == 0 ? _mm512_castsi512_si256(step) : _mm512_extracti64x4_epi64(step, 1);
}

/* Half a step, shifted to where it belongs. */
INLINE __m512i
shifted_half(__m512i significand, __m512i places, int half)
{
	return _mm512_sllv_epi64(_mm512_cvtepi32_epi64(half_of(significand, half)),
		_mm512_cvtepu32_epi64(half_of(places, half)));
}

/* fp16: one integer a lane. */

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_fp16(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(AGGREGATE_FP16, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(AGGREGATE_FP16, bits);
		__m512i places = _mm512_sub_epi32(step.exponent, all32(1));

		for (int half = 0; half < 2; half++) {
			int64_t *sums = lanes->sums + i + GROUP * half;
			__m512i sum = shifted_half(step.significand, places, half);

			if (!first)
				sum = _mm512_add_epi64(sum, _mm512_load_si512(sums));
			_mm512_store_si512(sums, sum);
		}
		special |= find_specials(AGGREGATE_FP16, bits);
	}
	return special != 0;
}

INLINE struct sums
fp16_sums(const struct aggregate_lanes *lanes, uint32_t i)
{
	__m512i sum = _mm512_load_si512(lanes->sums + i);

	return sums_of(
		_mm512_abs_epi64(sum), all64((uint64_t)FP16_UNIT), _mm512_movepi64_mask(sum));
}

/*
 * bf16 and fp32: bins. Values of similar size have one bin: as long as that is so in a group, its
 * other bins are neither cleared nor rounded, nor is their memory touched.
 */

INLINE __m512i
only_in_bin(__m256i bin, int b, __m512i sum)
{
	return _mm512_maskz_mov_epi64(_mm256_cmpeq_epi32_mask(bin, _mm256_set1_epi32(b)), sum);
}

/* The bin of the first lane; whether it is that of all. */
INLINE bool
is_one_bin(__m256i bin, int *first)
{
	*first = _mm_cvtsi128_si32(_mm256_castsi256_si128(bin));
	return _mm256_cmpneq_epi32_mask(bin, _mm256_set1_epi32(*first)) == 0;
}

INLINE void
begin_group(int64_t *bins, uint8_t *single, __m256i bin, __m512i sum)
{
	int first;

	if (is_one_bin(bin, &first)) {
		*single = (uint8_t)first;
		_mm512_store_si512(bins + GROUP * first, sum);
		return;
	}
	*single = ALL_BINS;
	for (int b = 0; b < BINS; b++)
		_mm512_store_si512(bins + GROUP * b, only_in_bin(bin, b, sum));
}

INLINE void
use_all_bins(int64_t *bins, uint8_t *single)
{
	for (int b = 0; b < BINS; b++)
		if (b != *single)
			_mm512_store_si512(bins + GROUP * b, _mm512_setzero_si512());
	*single = ALL_BINS;
}

INLINE void
add_to_bins(int64_t *bins, __m256i bin, __m512i sum)
{
	__m256i at = _mm256_add_epi32(
		_mm256_slli_epi32(bin, 3), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));

	_mm512_i32scatter_epi64(
		bins, at, _mm512_add_epi64(sum, _mm512_i32gather_epi64(at, bins, 8)), 8);
}

/* Once all bins are in use, it does not matter any more what the values are: nothing to mispredict.
 */
INLINE void
add_group(int64_t *bins, uint8_t *single, __m256i bin, __m512i sum)
{
	int first;

	if (*single != ALL_BINS) {
		if (is_one_bin(bin, &first) && first == *single) {
			int64_t *sums = bins + GROUP * first;

			_mm512_store_si512(sums, _mm512_add_epi64(sum, _mm512_load_si512(sums)));
			return;
		}
		use_all_bins(bins, single);
	}
	add_to_bins(bins, bin, sum);
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_bins_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(format, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(format, bits);
		__m512i bin = _mm512_srli_epi32(step.exponent, 5);
		__m512i places = _mm512_and_si512(step.exponent, all32(31));

		for (int half = 0; half < 2; half++) {
			uint32_t lane = i + (uint32_t)(GROUP * half);
			int64_t *bins = bin_of(lanes, lane, 0);
			uint8_t *single = &lanes->single_bins[lane / GROUP];
			__m512i sum = shifted_half(step.significand, places, half);

			if (first)
				begin_group(bins, single, half_of(bin, half), sum);
			else
				add_group(bins, single, half_of(bin, half), sum);
		}
		special |= find_specials(format, bits);
	}
	return special != 0;
}

/* As sum_of_bins(): digits, of which the highest two that are not just sign are kept. */
struct digits {
	__m512i upper, lower, rest, place;
};

INLINE struct digits
select_digits(const __m512i *digits, __m512i sign)
{
	struct digits result = {_mm512_setzero_si512(), _mm512_setzero_si512(),
		_mm512_setzero_si512(), _mm512_setzero_si512()};
	__m512i before = _mm512_setzero_si512(), rest = _mm512_setzero_si512();

	for (int b = 0; b < BINS + 1; b++) {
		__mmask8 differs = _mm512_cmpneq_epi64_mask(digits[b], sign);

		if (b == 0) {
			result.upper = digits[b];
		} else {
			result.upper = _mm512_mask_mov_epi64(result.upper, differs, digits[b]);
			result.lower = _mm512_mask_mov_epi64(result.lower, differs, before);
			result.rest = _mm512_mask_mov_epi64(result.rest, differs, rest);
			result.place =
				_mm512_mask_mov_epi64(result.place, differs, all64((uint64_t)b));
			rest = _mm512_or_si512(rest, before);
		}
		before = digits[b];
	}
	return result;
}

INLINE struct sums
all_bins_sums(const int64_t *bins)
{
	__m512i low = all64(UINT32_MAX), digits[BINS + 1], carry = _mm512_setzero_si512();
	__m512i window, sign, unit;
	struct digits kept;
	struct sums sums;
	__mmask8 negative, more;

	for (int b = 0; b < BINS; b++) {
		__m512i sum = _mm512_add_epi64(carry, _mm512_load_si512(bins + GROUP * b));

		digits[b] = _mm512_and_si512(sum, low);
		carry = _mm512_srai_epi64(sum, 32);
	}
	digits[BINS] = _mm512_and_si512(carry, low);
	sign = _mm512_srai_epi64(carry, 63);
	negative = _mm512_movepi64_mask(carry);
	kept = select_digits(digits, _mm512_and_si512(sign, low));
	more = _mm512_test_epi64_mask(
		_mm512_or_si512(_mm512_and_si512(kept.lower, all64(3)), kept.rest), low);
	window = _mm512_or_si512(_mm512_slli_epi64(sign, 62),
		_mm512_or_si512(
			_mm512_slli_epi64(kept.upper, 30), _mm512_srli_epi64(kept.lower, 2)));
	window = _mm512_xor_si512(window, sign);
	window = _mm512_mask_add_epi64(window, negative & (__mmask8)~more, window, all64(1));
	unit = _mm512_add_epi64(
		_mm512_slli_epi64(kept.place, 5), all64((uint64_t)(BINS_UNIT - 30)));
	sums = sums_of(window, unit, negative);
	sums.significand = _mm512_mask_or_epi64(sums.significand, more, sums.significand, all64(1));
	return sums;
}

INLINE struct sums
bins_sums(struct aggregate_lanes *lanes, uint32_t i)
{
	const int64_t *bins = bin_of(lanes, i, 0);
	int single = lanes->single_bins[i / GROUP];
	__m512i sum;

	if (single == ALL_BINS)
		return all_bins_sums(bins);
	sum = _mm512_load_si512(bins + GROUP * single);
	return sums_of(_mm512_abs_epi64(sum), all64((uint64_t)(32 * single + BINS_UNIT)),
		_mm512_movepi64_mask(sum));
}

/* All of it. */

INLINE void
put_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	bool special;

	keep_common(lanes, values, count * (format == AGGREGATE_FP32 ? 4 : 2), first);
	if (first)
		lanes->has_specials = false;
	special = format == AGGREGATE_FP16 ? put_fp16(lanes, values, count, first)
					   : put_bins_fast(format, lanes, values, count, first);
	if (special)
		note_specials_fast(format, lanes, values, count);
}

INLINE uint8_t
round_lanes_fast(enum aggregate_format format, bool mean, struct aggregate_lanes *lanes,
	uint32_t count, unsigned int workers, uint8_t *result)
{
	const struct divisor divisor = divisor_of(workers);
	struct exceptions exceptions = {0, 0, 0};

	for (uint32_t i = 0; i < count; i += GROUP) {
		__mmask8 mask = (__mmask8)lanes_in_step(count - i);
		struct extras extras = load_extras(format, lanes, i, mask);
		struct sums sums =
			format == AGGREGATE_FP16 ? fp16_sums(lanes, i) : bins_sums(lanes, i);

		if (mean)
			sums = divide_fast(sums, divisor);
		store_group(
			format, result, i, mask, encode_group(format, sums, extras, &exceptions));
	}
	return flags_of(&exceptions);
}

INLINE uint8_t
finish_fast(enum aggregate_format format, bool mean, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, unsigned int workers, uint8_t *result)
{
	if (values != NULL)
		put_fast(format, lanes, values, count, false);
	return round_lanes_fast(format, mean, lanes, count, workers, result);
}

#define FAST_FUNCTIONS(format, name)                                                            \
	static void begin_##name(                                                               \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)           \
	{                                                                                       \
		put_fast(format, lanes, values, count, true);                                   \
	}                                                                                       \
	static void add_##name(                                                                 \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)           \
	{                                                                                       \
		put_fast(format, lanes, values, count, false);                                  \
	}                                                                                       \
	static uint8_t finish_sum_##name(struct aggregate_lanes *lanes, const uint8_t *values,  \
		uint32_t count, unsigned int workers, uint8_t *result)                          \
	{                                                                                       \
		return finish_fast(format, false, lanes, values, count, workers, result);       \
	}                                                                                       \
	static uint8_t finish_mean_##name(struct aggregate_lanes *lanes, const uint8_t *values, \
		uint32_t count, unsigned int workers, uint8_t *result)                          \
	{                                                                                       \
		return finish_fast(format, true, lanes, values, count, workers, result);        \
	}

FAST_FUNCTIONS(AGGREGATE_FP16, fp16)
SUM_FUNCTIONS(AGGREGATE_POSIT16, posit16)
FAST_FUNCTIONS(AGGREGATE_BF16, bf16)
SUM_FUNCTIONS(AGGREGATE_POSIT16_ES2, posit16_es2)
FAST_FUNCTIONS(AGGREGATE_FP32, fp32)
SUM_FUNCTIONS(AGGREGATE_INT32, int32)

const kernel_table aggregate_kernels_avx512 = KERNEL_TABLE;
