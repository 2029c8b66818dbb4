/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of the IEEE 754 formats in AVX-512; what else there is, the compiler makes of plain C. The
 * last worker's values are added on their way to being rounded.
 */
#include "kernels/avx512/round_totals_avx512.h"
#include "kernels/avx512/narrow_avx512.h"

/* fp16: one integer a lane. */

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_wide(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(AGGREGATE_FP16, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(AGGREGATE_FP16, bits);
		__m512i places = _mm512_sub_epi32(step.exponent, all32(1));

		for (int half = 0; half < 2; half++) {
			int64_t *sums = lanes->sums + i + GROUP * half;
			__m512i sum = shifted_half(step.significand, places, half);

			fetch_ahead(sums);
			if (!first)
				sum = _mm512_add_epi64(sum, _mm512_load_si512(sums));
			_mm512_store_si512(sums, sum);
		}
		keep_signs(lanes, i, negative_of(AGGREGATE_FP16, bits), first);
		special |= find_specials(AGGREGATE_FP16, bits);
	}
	return special != 0;
}

/* Whatever size the values have; returns as put_wide(). */
INLINE bool
put_fp16(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	if (!stays_narrow(lanes, values, count, first))
		return put_wide(lanes, values, count, first);
	put_narrow(lanes, values, count, first);
	return false;
}

INLINE struct sums
fp16_sums(const struct aggregate_lanes *lanes, uint32_t i)
{
	__m512i sum =
		lanes->narrow ? fp16_sums_group(lanes, i) : _mm512_load_si512(lanes->sums + i);

	return sums_of(
		_mm512_abs_epi64(sum), all64((uint64_t)FP16_UNIT), _mm512_movepi64_mask(sum));
}

/* bf16 and fp32: bins, once doubles do not suffice. */

/* Each bin is added to, most lanes nothing: less work than a gather and a scatter. */
INLINE void
add_to_bins(int64_t *bins, size_t stride, __m256i bin, __m512i sum)
{
	for (int b = 0; b < BINS; b++) {
		int64_t *sums = bins + (size_t)b * stride;
		__m512i before = _mm512_load_si512(sums);

		_mm512_store_si512(sums,
			_mm512_mask_add_epi64(before,
				_mm256_cmpeq_epi32_mask(bin, _mm256_set1_epi32(b)), before, sum));
	}
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_bins_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count)
{
	const size_t stride = bin_stride(format, lanes);
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(format, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(format, bits);
		__m512i bin = _mm512_srli_epi32(step.exponent, 5);
		__m512i places = _mm512_and_si512(step.exponent, all32(31));

		for (int half = 0; half < 2; half++)
			add_to_bins(lanes->sums + i + GROUP * half, stride, half_of(bin, half),
				shifted_half(step.significand, places, half));
		keep_signs(lanes, i, negative_of(format, bits), false);
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
bins_sums(const int64_t *bins, size_t stride)
{
	__m512i low = all64(UINT32_MAX), digits[BINS + 1], carry = _mm512_setzero_si512();
	__m512i window, sign, unit;
	struct digits kept;
	struct sums sums;
	__mmask8 negative, more;

	for (int b = 0; b < BINS; b++) {
		__m512i sum = _mm512_add_epi64(carry, _mm512_load_si512(bins + (size_t)b * stride));

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

/* All of it. */

INLINE void
put_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	bool special;

	if (format != AGGREGATE_FP16 && (first || lanes->doubles != 0)) {
		put_doubles(format, SIGNS_AS_BITS, lanes, values, count, first);
		return;
	}
	if (first)
		lanes->has_specials = false;
	special = format == AGGREGATE_FP16 ? put_fp16(lanes, values, count, first)
					   : put_bins_fast(format, lanes, values, count);
	if (special)
		note_specials_fast(format, lanes, values, count);
}

/* specials: whether there are any, known when compiled. */
INLINE uint8_t
round_groups(enum aggregate_format format, enum aggregate_format to, bool mean, bool specials,
	const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	const size_t stride = bin_stride(format, lanes);
	const struct divisor divisor = divisor_of(workers);
	struct exceptions exceptions = {0, 0, 0};

	for (uint32_t i = 0; i < count; i += GROUP) {
		struct extras extras = load_extras(lanes, i, specials);
		struct sums sums = format == AGGREGATE_FP16 ? fp16_sums(lanes, i)
							    : bins_sums(lanes->sums + i, stride);
		__m512i bits;

		if (mean)
			sums = divide_fast(sums, divisor);
		bits = encode_group(to, sums, extras, &exceptions);
		if (specials)
			bits = put_specials(to, bits, extras, &exceptions);
		store_group(to, result, i, (__mmask8)lanes_in_step(count - i), bits);
	}
	return flags_of(&exceptions);
}

INLINE uint8_t
round_lanes_fast(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	if (format != AGGREGATE_FP16 && lanes->doubles != 0)
		return round_doubles(format, to, mean, lanes, count, workers, result);
	if (!mean && to == AGGREGATE_FP16 && lanes->narrow) {
		round_narrow(lanes, count, result);
		return 0;
	}
	if (lanes->has_specials)
		return round_groups(format, to, mean, true, lanes, count, workers, result);
	return round_groups(format, to, mean, false, lanes, count, workers, result);
}

INLINE uint8_t
finish_fast(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	uint8_t flags;

	if (values != NULL && format != AGGREGATE_FP16 &&
		reduce_two(format, to, mean, lanes, values, count, result, &flags))
		return flags;
	if (values != NULL)
		put_fast(format, lanes, values, count, false);
	return round_lanes_fast(format, to, mean, lanes, count, workers, result);
}

SUM_FUNCTIONS_BY(put_fast, finish_fast, NARROW_SUMS | SIGNS_AS_BITS, AGGREGATE_FP16, fp16)
SUM_FUNCTIONS(AGGREGATE_POSIT16, posit16)
SUM_FUNCTIONS_BY(put_fast, finish_fast, SIGNS_AS_BITS, AGGREGATE_BF16, bf16)
SUM_FUNCTIONS(AGGREGATE_POSIT16_ES2, posit16_es2)
SUM_FUNCTIONS_BY(put_fast, finish_fast, SIGNS_AS_BITS, AGGREGATE_FP32, fp32)
SUM_FUNCTIONS(AGGREGATE_INT32, int32)
SUM_FUNCTIONS_BY(put_fp64, finish_fp64_fast, PLAIN_LAY_OUT, AGGREGATE_FP64, fp64)
SUM_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3)
SUM_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2)
SUM_FUNCTIONS_BY(put_int64, finish_int64, PLAIN_LAY_OUT, AGGREGATE_INT64, int64)
PAIR_FUNCTIONS_BY(finish_fast, AGGREGATE_FP16, fp16, AGGREGATE_FP32, fp32)
PAIR_FUNCTIONS_BY(finish_fast, AGGREGATE_BF16, bf16, AGGREGATE_FP32, fp32)

const kernel_table aggregate_kernels_avx512 = KERNEL_TABLE;

const struct totals_kernel aggregate_totals_avx512 = TOTALS_KERNEL(round_totals_fast);
